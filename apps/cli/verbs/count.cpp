// bloomery count: how often keys were added, by a filter or sketch that counts.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct count_options {
  input_options input;
  std::string path;
  std::string key_file;
  bool json = false;
};

// Counters may be as large as a number can be; the sum of several stays there, as they do.
std::uint64_t sum_at_most(std::uint64_t a, std::uint64_t b) {
  return a + std::min(b, UINT64_MAX - a);
}

int run_count(const count_options& o) {
  const any_filter f = open_filter(as_file(o.path), o.key_file, o.input.records.form());
  require(f.can().count, f, o.path, "cannot count; build it with --kind count-min");
  progress meter("counting", o.input.show().unless(true));
  key_source source(o.input.paths, o.input.records, meter);
  std::uint64_t keys = 0;
  std::uint64_t found = 0;
  std::uint64_t total = 0;
  std::uint64_t full = 0;  // counts that are as large as a counter can be
  const std::uint64_t most = f->most_count();
  for_each_chunk_in_order(source, o.input.threads, [&](const chunk& c, auto in_turn) {
    std::vector<std::uint64_t> counts(c.keys.size());
    f.count(c.keys, counts);
    std::string text;
    std::uint64_t sum = 0;
    std::uint64_t present = 0;
    std::uint64_t at_least = 0;
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
      sum = sum_at_most(sum, counts[i]);
      present += counts[i] != 0 ? 1U : 0U;
      at_least += counts[i] == most ? 1U : 0U;
      if (o.json) continue;
      append_readable(text, c.keys[i], o.input.records);
      text += fmt::format("\t{}{}", counts[i], counts[i] == most ? "\tat least" : "");
      text += o.input.records.line_end();
    }
    in_turn([&] {
      keys += c.keys.size();
      found += present;
      total = sum_at_most(total, sum);
      full += at_least;
      write_output(text);
    });
  });
  if (o.json) {
    print_json({{"keys", keys}, {"found", found}, {"sum", total}, {"saturated", full}});
  } else if (full > 0 && !o.input.quiet) {
    tell("bloomery: warning: the counters of {} end at {}: {} at least that\n", o.path,
         with_commas(most), counted(full, "count") + (full == 1 ? " is" : " are"));
  }
  return found > 0 ? exit_success : exit_no_match;
}

}  // namespace

void add_count(command& app, int& status) {
  auto o = std::make_shared<count_options>();
  command* verb = app.add_subcommand("count", "Print how often each key was added, at most");
  verb->add_option(
          "F", o->path,
          "A file of kind counting, cuckoo, count-min, spectral or top-k; - is standard input")
      ->required()
      ->type_name("");
  add_key_file(*verb, o->key_file);
  add_opening_options(*verb);
  verb->add_flag(
      "--json", o->json,
      "Print how many keys, how many were found, the sum, and how many counts are at least "
      "what they say, as JSON");
  add_reading_options(*verb, o->input);
  verb->footer(
      "Prints KEY, a tab and the count, for every key. Counts are never too low and seldom too "
      "high.\n"
      "A counter that is full says its largest value, followed by a tab and 'at least'.\n\n"
      "Exit status: 0 when a key was found, 1 when none was, 2 after an error.\n\n"
      "Example:\n  bloomery build --kind count-min -o hits.bloom access.log\n"
      "  echo 'GET /' | bloomery count hits.bloom");
  verb->callback([o, &status] { status = run_count(*o); });
}

}  // namespace bloomery::cli
