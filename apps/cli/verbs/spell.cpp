// bloomery spell: the words of a text that no dictionary has, by a filter of its words.
#include <fmt/format.h>

#include <algorithm>

#include "bloomery/core/error.hpp"
#include "bloomery/text/speller.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/input/text_blocks.hpp"
#include "cli/input/word_lists.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct spell_options {
  std::vector<std::string> paths;
  std::string dictionary;
  bool number = false;
  bool count = false;
  bool quiet = false;
  bool json = false;
  bool suggest = false;

  [[nodiscard]] bool silent() const { return quiet && !json; }
};

struct spell_build_options {
  std::vector<std::string> paths;
  std::string path;
  std::string fpr = "0.01%";
  std::uint64_t seed = 0;
  bool quiet = false;
  bool json = false;
};

class spell_report {
 public:
  explicit spell_report(const spell_options& o) : o_(o) {}

  void take(const text_block& block, speller& words) {
    const char* counted = block.text.data();
    std::uint64_t line = block.first_line;
    words_ += words.check(block.text, [&](std::string_view unknown) {
      ++unknown_;
      if (o_.count || o_.silent()) return;
      line += static_cast<std::uint64_t>(std::count(counted, unknown.data(), '\n'));
      counted = unknown.data();
      std::vector<std::string> better;
      if (o_.suggest) better = words.suggest(unknown);
      o_.json ? keep(block.file, line, unknown, better) : print(block.file, line, unknown, better);
    });
    write_output(text_);
    text_.clear();
  }

  [[nodiscard]] bool wants_more() const { return !o_.silent() || unknown_ == 0; }

  int finish() {
    if (o_.json) {
      nlohmann::json object = {{"words", words_}, {"unknown", unknown_}};
      if (!o_.count) object["places"] = std::move(places_);
      print_json(object);
    } else if (o_.count && !o_.silent()) {
      write_output(fmt::format("{}\n", unknown_));
    }
    return unknown_ > 0 ? exit_success : exit_no_match;
  }

 private:
  void print(std::string_view file, std::uint64_t line, std::string_view unknown,
             const std::vector<std::string>& better) {
    if (o_.number) text_ += fmt::format("{}:{}:", file, line);
    text_.append(unknown);
    if (o_.suggest) text_ += fmt::format("\t{}", fmt::join(better, ", "));
    text_.push_back('\n');
  }
  void keep(std::string_view file, std::uint64_t line, std::string_view unknown,
            const std::vector<std::string>& better) {
    places_.push_back({{"word", unknown}, {"file", file}, {"line", line}});
    if (o_.suggest) places_.back()["suggestions"] = better;
  }

  const spell_options& o_;
  std::string text_;
  nlohmann::json places_ = nlohmann::json::array();
  std::uint64_t words_ = 0;
  std::uint64_t unknown_ = 0;
};

int run_spell(const spell_options& o) {
  progress silent("checking", {.quiet = true});
  speller words(open_dictionary(
      o.dictionary.empty() ? default_dictionary() : as_file(o.dictionary, content::anything),
      silent));
  spell_report report(o);
  text_blocks blocks(o.paths, silent);
  for (text_block block; report.wants_more() && blocks.next(block);) report.take(block, words);
  return report.finish();
}

void run_build(const spell_build_options& o) {
  output_file out(o.path, o.paths, o.json);
  const double fpr = parse_rate(o.fpr);
  dictionary_builder builder({.fpr = fpr, .seed = o.seed, .directory = out.folder()});
  progress silent("reading", {.quiet = true});
  for (const std::string& path : o.paths) add_words(builder, path, silent);
  const any_filter f = builder.build();
  f.save(out.path());
  out.finish(o.quiet);
  const std::uint64_t bytes = out.bytes();
  if (!o.quiet) {
    tell("{}: {}, {}, wrong words taken for right at most {}\n", out.name(),
         counted(builder.words(), "word"), as_bytes(static_cast<double>(bytes)), as_rate(fpr));
  }
  if (!o.quiet && builder.words() == 0) warn_without_keys({}, out.name());
  if (o.json) {
    nlohmann::json object = info_json(f, bytes);
    object["words"] = builder.words();
    print_json(object);
  }
}

void add_spell_build(command& spell, bool& built) {
  auto o = std::make_shared<spell_build_options>();
  command* verb = spell.add_subcommand("build", "Make a dictionary filter");
  verb->add_option("-o,--output", o->path, "The filter file to write; - is standard output")
      ->required()
      ->type_name("F");
  verb->add_option(
          "WORDS", o->paths,
          "Lists with a word on each line, - for standard input, or NAME.dic with NAME.aff "
          "beside it")
      ->required()
      ->type_name("");
  verb->add_option("--fpr", o->fpr,
                   "Highest rate of wrong words that are taken for right (default 0.01%)")
      ->type_name("P");
  verb->add_option("--seed", o->seed, "Chooses the hash function (default 0)")->type_name("S");
  verb->add_flag("--json", o->json, "Print what was built as JSON");
  add_quiet(*verb, o->quiet);
  verb->footer(
      "Example:\n  bloomery spell build -o en.bloom /usr/share/hunspell/en_US.dic names.txt");
  verb->callback([o, &built] {
    built = true;
    run_build(*o);
  });
}

}  // namespace

void add_spell(command& app, int& status) {
  auto o = std::make_shared<spell_options>();
  auto built = std::make_shared<bool>(false);
  command* spell = app.add_subcommand("spell", "Print the unknown words of texts");
  spell->add_option("TEXT", o->paths, "Texts in UTF-8; none, or -, is standard input")
      ->type_name("");
  spell
      ->add_option("-d,--dictionary", o->dictionary,
                   "A dictionary filter, NAME.dic with NAME.aff beside it, or a list of words "
                   "(default: hunspell's for the language of the locale, or the system's list)")
      ->type_name("F");
  spell->add_flag("-n,--line-number", o->number, "File and line before each word");
  spell->add_flag("-c,--count", o->count, "Print only how many");
  spell->add_flag("--suggest", o->suggest, "A tab, and words one edit away, after each word");
  spell->add_flag("--json", o->json, "Print the words, their places and numbers as JSON");
  add_opening_options(*spell);
  add_quiet(*spell, o->quiet, true);
  add_spell_build(*spell, *built);
  spell->footer(
      "Exit status: 0 when there are unknown words, 1 when there are none, 2 after an error.\n"
      "A text called build is ./build.\n\n"
      "Example:\n  bloomery spell build -o en.bloom /usr/share/hunspell/en_US.dic\n"
      "  bloomery spell --dictionary en.bloom -n --suggest README.md");
  // CLI11 calls this after the subcommand, too.
  spell->callback([o, built, &status] {
    if (!*built) status = run_spell(*o);
  });
}

}  // namespace bloomery::cli
