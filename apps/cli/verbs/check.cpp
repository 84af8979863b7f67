// bloomery check: which lines the filter may contain.
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/verbs/selection.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct check_options {
  input_options input;
  selection_options selection;
  std::string path;
  std::string key_file;
};

int run_check(const check_options& o) {
  any_filter f = open_filter(o.path, o.key_file, o.input.records.form());
  f->advance(clock_now());
  return select_records(o.input, o.selection, [&](const chunk& c, std::span<std::uint64_t> bitmap) {
    f.contains_bits(c.keys, bitmap);
  });
}

}  // namespace

void add_check(command& app, int& status) {
  auto o = std::make_shared<check_options>();
  command* verb = app.add_subcommand("check", "Print the lines that a filter probably contains");
  verb->add_option("F", o->path, "The filter file to ask")->required()->type_name("");
  add_selection_options(*verb, o->selection);
  verb->add_flag("--only-keys", o->selection.only_keys, "Print the keys instead of whole records");
  verb->add_flag("--annotate", o->selection.annotate,
                 "Print every record, with + (probably in it) or - (surely not) and a tab before");
  add_key_file(*verb, o->key_file);
  verb->add_flag("--json", o->selection.json, "Print how many keys and matches as JSON");
  add_reading_options(*verb, o->input);
  verb->footer(
      "Exit status: 0 when a line was selected, 1 when none was, 2 after an error.\n\n"
      "Example:\n  tr -cs A-Za-z '\\n' < letter.txt | bloomery check -v words.bloom\n"
      "  tail -f access.log | bloomery check blocked-lines.bloom");
  verb->callback([o, &status] { status = run_check(*o); });
}

}  // namespace bloomery::cli
