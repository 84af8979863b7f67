// bloomery add: more keys into a filter file. The file is replaced at the end, or not at all.
#include <fmt/format.h>

#include "bloomery/core/error.hpp"
#include "bloomery/format/file.hpp"
#include "cli/common.hpp"
#include "cli/lines.hpp"
#include "cli/verbs.hpp"

namespace bloomery::cli {

namespace {

struct add_options {
  input_options input;
  std::string path;
  std::string key_file;
  bool json = false;
};

void run_add(const add_options& o) {
  // Two at once would each write what it read plus its own keys, and the later one would win.
  const file_lock lock(o.path);
  if (is_packed(mapped_file(o.path).bytes())) {
    throw error(errc::unsupported, fmt::format("{}: it is packed; unpack it first", o.path));
  }
  any_filter f = load_filter(o.path, o.key_file);
  const std::uint64_t before = f.keys();
  progress meter("adding", o.input.quiet);
  line_source source(o.input.paths, o.input.keep_empty, meter);
  const bool alone = o.input.threads == 1;
  for_each_chunk(source, o.input.threads,
                 [&](const chunk& c) { alone ? f.add(c.keys) : f.add_concurrent(c.keys); });
  meter.clear();
  if (f.keys() != before) f.save(o.path);
  if (!o.input.quiet) {
    const std::string warning = overfull_warning(o.path, f.header());
    fmt::print(stderr, "{}\n", summary(o.path, f.header()));
    if (!warning.empty()) fmt::print(stderr, "{}\n", warning);
  }
  if (o.json) print_json(info_json(f, std::filesystem::file_size(o.path)));
}

}  // namespace

void add_add(CLI::App& app, int& status) {
  auto o = std::make_shared<add_options>();
  CLI::App* verb = app.add_subcommand("add", "Add keys to a filter file, atomically");
  verb->add_option("F", o->path, "The filter file to change")->required()->type_name("");
  add_key_file(*verb, o->key_file);
  verb->add_flag("--json", o->json, "Print what the filter is now as JSON");
  add_input_options(*verb, o->input);
  verb->footer(
      "Example:\n  bloomery add words.bloom names.txt\n  echo bloomery | bloomery add words.bloom");
  verb->callback([o, &status] {
    run_add(*o);
    status = exit_success;
  });
}

}  // namespace bloomery::cli
