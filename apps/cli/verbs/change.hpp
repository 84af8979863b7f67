// What add and remove share: both change a filter file, which is replaced at the end or not at all.
#pragma once

#include <memory>
#include <string>

#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

struct change_options {
  input_options input;
  std::string path;
  std::string key_file;
  bool no_wait = false;
  bool json = false;

  [[nodiscard]] change_manners manners() const { return {.quiet = input.quiet, .wait = !no_wait}; }
};

// Says what the file is now, with `what` before it; as JSON with `more`.
inline void report_change(const change_options& o, const any_filter& f, const std::string& what,
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

inline command* add_change_verb(command& app, const char* name, const char* help,
                                const std::shared_ptr<change_options>& o) {
  command* verb = app.add_subcommand(name, help);
  verb->add_option("F", o->path, "The filter file to change")->required()->type_name("");
  add_key_file(*verb, o->key_file);
  add_no_wait(*verb, o->no_wait);
  add_limit(*verb);
  verb->add_flag("--json", o->json, "Print what the filter is now as JSON");
  add_input_options(*verb, o->input);
  return verb;
}

}  // namespace bloomery::cli
