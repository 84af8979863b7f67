// bloomery check: which lines the filter may contain. Output keeps the order of the input.
#include <fmt/format.h>

#include <atomic>

#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct check_options {
  input_options input;
  std::string path;
  std::string key_file;
  bool invert = false;
  bool count = false;
  bool only_keys = false;
  bool annotate = false;
  bool json = false;
};

// Writes what is wanted of a chunk to `out`; returns how many records were selected.
std::uint64_t select(const any_filter& f, const chunk& c, const check_options& o,
                     std::string_view terminator, std::string& out) {
  std::vector<std::uint64_t> bitmap((c.keys.size() + 63) / 64);
  f.contains_bits(c.keys, bitmap);
  const bool print = !o.count && !o.json;
  // Where a key is a number, its record is what people can read.
  const bool readable = !o.input.records.hex && !o.input.records.integers;
  const auto shown = o.only_keys && readable ? c.keys : c.records;
  std::uint64_t selected = 0;
  out.clear();
  for (std::size_t i = 0; i < c.keys.size(); ++i) {
    const bool contained = ((bitmap[i / 64] >> (i % 64)) & 1U) != 0;
    if (contained != o.invert) ++selected;
    if (!print || (contained == o.invert && !o.annotate)) continue;
    if (o.annotate) out.append(contained ? "+\t" : "-\t");
    out.append(shown[i]).append(terminator);
  }
  return selected;
}

int run_check(const check_options& o) {
  any_filter f = open_filter(o.path, o.key_file, o.input.records.form());
  f.advance(clock_now());
  progress meter("checking", o.input.show().unless(!o.count && !o.json));
  key_source source(o.input.paths, o.input.records, meter);
  std::atomic<std::uint64_t> asked{0};
  std::atomic<std::uint64_t> selected{0};
  turnstile turns;
  for_each_chunk(
      source, o.input.threads,
      [&](const chunk& c) {
        thread_local std::string text;
        asked += c.keys.size();
        selected += select(f, c, o, source.terminator(), text);
        turns.in_turn(c.sequence, [&] { write_output(text); });
      },
      [&] { turns.cancel(); });
  meter.clear();
  if (o.json) {
    print_json({{"keys", asked.load()}, {"matched", selected.load()}});
  } else if (o.count) {
    write_output(fmt::format("{}\n", selected.load()));
  }
  return selected > 0 ? exit_success : exit_no_match;
}

}  // namespace

void add_check(command& app, int& status) {
  auto o = std::make_shared<check_options>();
  command* verb = app.add_subcommand("check", "Print the lines that a filter probably contains");
  verb->add_option("F", o->path, "The filter file to ask")->required()->type_name("");
  verb->add_flag("-v,--invert", o->invert, "Print the lines that are surely not in it instead");
  verb->add_flag("-c,--count", o->count, "Print only how many");
  verb->add_flag("--only-keys", o->only_keys, "Print the keys instead of whole records");
  verb->add_flag("--annotate", o->annotate,
                 "Print every record, with + (probably in it) or - (surely not) and a tab before");
  add_key_file(*verb, o->key_file);
  verb->add_flag("--json", o->json, "Print how many keys and matches as JSON");
  add_input_options(*verb, o->input);
  verb->footer(
      "Exit status: 0 when a line was selected, 1 when none was, 2 after an error.\n\n"
      "Example:\n  tr -cs A-Za-z '\\n' < letter.txt | bloomery check -v words.bloom\n"
      "  tail -f access.log | bloomery check blocked-lines.bloom");
  verb->callback([o, &status] { status = run_check(*o); });
}

}  // namespace bloomery::cli
