// bloomery remove: keys out of a filter file.
#include <fmt/format.h>

#include "cli/input/source.hpp"
#include "cli/verbs/change.hpp"

namespace bloomery::cli {

namespace {

int run_remove(const change_options& o) {
  progress meter("removing", o.input.show());
  key_source source(o.input.paths, o.input.records, meter);
  std::uint64_t asked = 0;
  std::uint64_t removed = 0;
  const any_filter f = change_file(
      o.path, o.key_file, o.input.records.form(), o.manners(), [&](any_filter& changed) {
        // This is an error even if there is no key to remove.
        require(changed.can().remove, changed, o.path, "cannot have keys removed");
        for_each_chunk(source, 1, [&](const chunk& c) {
          asked += c.keys.size();
          removed += changed.remove(c.keys);
        });
        meter.clear();
        return removed != 0;
      });
  report_change(
      o, f,
      fmt::format(
          "removed {}{}", counted(removed, "key"),
          removed == asked ? "" : fmt::format("; {} not there", counted(asked - removed, "key"))),
      {{"asked", asked}, {"removed", removed}});
  return removed != 0 ? exit_success : exit_no_match;
}

}  // namespace

void add_remove(command& app, int& status) {
  auto o = std::make_shared<change_options>();
  command* verb =
      add_change_verb(app, "remove", "Remove keys from a counting or cuckoo filter, atomically", o);
  verb->footer(
      "A key that is surely not in the filter is left alone and counted. A key that was never "
      "added but\n"
      "looks as if it were cannot be told apart: removing it can make the filter lose others.\n\n"
      "Exit status: 0 when a key was removed, 1 when none was, 2 after an error.\n\n"
      "Example:\n  bloomery build --kind counting -o sessions.bloom open.txt\n"
      "  bloomery remove sessions.bloom closed.txt");
  verb->callback([o, &status] { status = run_remove(*o); });
}

}  // namespace bloomery::cli
