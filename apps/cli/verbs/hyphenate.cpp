// bloomery hyphenate: texts with hyphens in their words, by patterns and a list of exceptions. A
// filter keeps most words from being looked up in the list: Bloom's own example of 1970.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bloomery/core/error.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/text/hyphenator.hpp"
#include "cli/args/options.hpp"
#include "cli/input/text_blocks.hpp"
#include "cli/input/word_lists.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct hyphenate_options {
  std::vector<std::string> paths;
  std::string patterns;
  std::string exceptions;
  std::string fpr = "1%";
  std::uint32_t longest = hyphen_patterns::longest_pattern;
  bool soft = false;
  bool stats = false;
  bool quiet = false;  // there is nothing to silence; scripts give it to every verb
  bool json = false;
};

std::string_view text_in(const mapped_file& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

hyphen_patterns read_patterns(const hyphenate_options& o) {
  const std::string path = o.patterns.empty() ? default_patterns() : o.patterns;
  const mapped_file file(as_file(path, content::anything));
  return {text_in(file), path, o.longest};
}

void report_words(const hyphenate_options& o, const hyphenator_counts& c) {
  if (o.json) {
    print_json({{"words", c.words}, {"lookups", c.lookups}, {"exceptions", c.exceptions}});
  } else if (o.stats) {
    tell("words: {}; looked up in the list: {}, of them in vain: {}\n", with_commas(c.words),
         with_commas(c.lookups), with_commas(c.lookups - c.exceptions));
  }
}

void run_hyphenate(const hyphenate_options& o) {
  const hyphen_patterns patterns = read_patterns(o);
  std::optional<mapped_file> file;
  std::optional<hyphen_list> list;
  if (!o.exceptions.empty()) {
    file.emplace(as_file(o.exceptions, content::anything));
    list.emplace(text_in(*file), o.exceptions);
  }
  hyphenator words(
      list ? std::max<std::uint64_t>(1, list->size()) : 1, parse_rate(o.fpr),
      [&](std::string_view word) { return patterns.hyphenate(word); },
      [&](std::string_view word) { return list ? list->find(word) : std::nullopt; });
  if (list) list->for_each([&](std::string_view word) { words.add_exception(word); });
  progress silent("hyphenating", {.quiet = true});
  text_blocks blocks(o.paths, silent);
  for (text_block block; blocks.next(block);) {
    const std::string text = hyphenate_text(block.text, words, o.soft ? "\u00ad" : "-");
    if (!o.json) write_output(text);
  }
  report_words(o, words.counts());
}

}  // namespace

void add_hyphenate(command& app, int& /*status*/) {
  auto o = std::make_shared<hyphenate_options>();
  command* verb = app.add_subcommand("hyphenate", "Print texts with hyphens in their words");
  verb->add_option("TEXT", o->paths, "Texts in UTF-8; none, or -, is standard input")
      ->type_name("");
  verb->add_option("--patterns", o->patterns,
                   "Liang's patterns, as in hyph_*.dic (default: those for the language of the "
                   "locale, or hyph_en_US.dic)")
      ->type_name("F");
  verb->add_option("--exceptions", o->exceptions,
                   "Words that the patterns get wrong, as they should be: ta-ble, one a line")
      ->type_name("F");
  verb->add_option("--fpr", o->fpr,
                   "How often another word is looked up among the exceptions (default 1%)")
      ->type_name("P");
  verb->add_option("--longest-pattern", o->longest,
                   "Leave out longer patterns; 4 letters are simple rules, right for seven words "
                   "of eight")
      ->between(1, hyphen_patterns::longest_pattern)
      ->type_name("N");
  verb->add_flag(
      "--soft", o->soft,
      "Soft hyphens (U+00AD), which browsers and word processors show only at line ends");
  verb->add_flag("--stats", o->stats, "Say at the end how many words were looked up");
  verb->add_flag("--json", o->json, "Print the numbers as JSON instead of the text");
  add_quiet(*verb, o->quiet);
  verb->footer(
      "Texts are plain: the tags and links of HTML would get hyphens, too. A filter of the "
      "exceptions is asked before the list is, so that the list may be long and on disk.\n\n"
      "Example:\n  echo Hyphenation is approximate | bloomery hyphenate\n"
      "  bloomery hyphenate --exceptions mine.txt --soft letter.txt");
  verb->callback([o] { run_hyphenate(*o); });
}

}  // namespace bloomery::cli
