// bloomery add: keys into a filter file.
#include "cli/input/keys.hpp"
#include "cli/verbs/change.hpp"

namespace bloomery::cli {

namespace {

void run_add(const change_options& o) {
  progress meter("adding", o.input.show());
  key_source source(o.input.paths, o.input.records, meter);
  const any_filter f = change_file(o.path, o.key_file, o.input.records.form(), o.manners(),
                                   [&](any_filter& changed) {
                                     const std::uint64_t before = changed.keys();
                                     add_keys(changed, source, o.input.threads);
                                     meter.clear();
                                     return changed.keys() != before;
                                   });
  report_change(o, f, "", nlohmann::json::object());
  if (meter.keys() == 0 && !o.input.quiet) warn_without_keys(o.input.records, o.path);
}

}  // namespace

void add_add(command& app, int& /*status*/) {
  auto o = std::make_shared<change_options>();
  command* verb = add_change_verb(app, "add", "Add keys to a filter file, atomically", o);
  verb->footer(
      "Example:\n  bloomery add words.bloom names.txt\n  echo bloomery | bloomery add words.bloom");
  verb->callback([o] { run_add(*o); });
}

}  // namespace bloomery::cli
