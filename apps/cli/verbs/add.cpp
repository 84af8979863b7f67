// bloomery add and remove: keys into a filter file and out of it. The file is replaced at the end,
// or not at all.
#include <fmt/format.h>

#include <atomic>

#include "cli/args/common.hpp"
#include "cli/input/keys.hpp"
#include "cli/input/source.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct change_options {
  input_options input;
  std::string path;
  std::string key_file;
  bool json = false;
};

void report(const change_options& o, const any_filter& f, const std::string& what,
            const nlohmann::json& more) {
  if (!o.input.quiet) {
    if (!what.empty()) tell("{}\n", what);
    print_summary(o.path, f);
  }
  if (!o.json) return;
  nlohmann::json object = info_json(f, std::filesystem::file_size(o.path));
  object.update(more);
  print_json(object);
}

void run_add(const change_options& o) {
  progress meter("adding", o.input.show());
  key_source source(o.input.paths, o.input.records, meter);
  const any_filter f =
      change_file(o.path, o.key_file, o.input.records.form(), [&](any_filter& changed) {
        const std::uint64_t before = changed.keys();
        add_keys(changed, source, o.input.threads);
        meter.clear();
        return changed.keys() != before;
      });
  report(o, f, "", nlohmann::json::object());
}

int run_remove(const change_options& o) {
  progress meter("removing", o.input.show());
  key_source source(o.input.paths, o.input.records, meter);
  std::uint64_t asked = 0;
  std::uint64_t removed = 0;
  const any_filter f =
      change_file(o.path, o.key_file, o.input.records.form(), [&](any_filter& changed) {
        // Also when there is no key to remove: the mistake is the same.
        require(changed.can().remove, changed, o.path, "cannot have keys removed");
        for_each_chunk(source, 1, [&](const chunk& c) {
          asked += c.keys.size();
          removed += changed.remove(c.keys);
        });
        meter.clear();
        return removed != 0;
      });
  report(o, f,
         removed == asked ? fmt::format("removed {} keys", with_commas(removed))
                          : fmt::format("removed {} keys; {} were not there", with_commas(removed),
                                        with_commas(asked - removed)),
         {{"asked", asked}, {"removed", removed}});
  return removed != 0 ? exit_success : exit_no_match;
}

command* add_verb(command& app, const char* name, const char* help,
                  const std::shared_ptr<change_options>& o) {
  command* verb = app.add_subcommand(name, help);
  verb->add_option("F", o->path, "The filter file to change")->required()->type_name("");
  add_key_file(*verb, o->key_file);
  verb->add_flag("--json", o->json, "Print what the filter is now as JSON");
  add_input_options(*verb, o->input);
  return verb;
}

}  // namespace

void add_change(command& app, int& status) {
  auto added = std::make_shared<change_options>();
  command* add = add_verb(app, "add", "Add keys to a filter file, atomically", added);
  add->footer(
      "Example:\n  bloomery add words.bloom names.txt\n  echo bloomery | bloomery add words.bloom");
  add->callback([added, &status] {
    run_add(*added);
    status = exit_success;
  });
  auto removed = std::make_shared<change_options>();
  command* remove =
      add_verb(app, "remove", "Remove keys from a counting or cuckoo filter, atomically", removed);
  remove->footer(
      "A key that is surely not in the filter is left alone and counted. A key that was never "
      "added but\n"
      "looks as if it were cannot be told apart: removing it can make the filter lose others.\n\n"
      "Exit status: 0 when a key was removed, 1 when none was, 2 after an error.\n\n"
      "Example:\n  bloomery build --kind counting -o sessions.bloom open.txt\n"
      "  bloomery remove sessions.bloom closed.txt");
  remove->callback([removed, &status] { status = run_remove(*removed); });
}

}  // namespace bloomery::cli
