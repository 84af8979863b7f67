// bloomery verify: every checksum of filter files.
#include <fmt/format.h>

#include "bloomery/format/delta.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/each_file.hpp"
#include "cli/verbs/verbs.hpp"
#include "cli/verbs/wire.hpp"

namespace bloomery::cli {

namespace {

struct verify_options {
  std::vector<std::string> paths;
  unsigned threads = 0;
  bool quiet = false;
  bool json = false;
};

std::uint64_t verified_bytes(const std::string& path, unsigned threads) {
  if (is_text_index(path)) {
    const text_index sound(path);
  } else if (mapped_file file(path); is_string_map(file.bytes())) {
    const string_map_file sound(std::move(file), {.threads = threads});
  } else if (is_delta(file.bytes())) {
    naming(path, [&] { return describe_delta(file.bytes()); });
  } else {
    open_verified(path, threads);
  }
  return std::filesystem::file_size(path);
}

int run_verify(const verify_options& o) {
  return for_each_file(o.paths, o.json, [&](const std::string& path) {
    const std::string file = as_file(path);
    const std::uint64_t bytes = verified_bytes(file, o.threads);
    if (o.json) {
      print_json({{"file", name_of_input(path)}, {"bytes", bytes}, {"sound", true}});
    } else if (!o.quiet) {
      write_output(
          fmt::format("{}: sound, {}\n", escaped(with_names(file)), counted(bytes, "byte")));
    }
  });
}

}  // namespace

void add_verify(command& app, int& status) {
  auto o = std::make_shared<verify_options>();
  command* verb = app.add_subcommand("verify", "Check every checksum of filter files");
  verb->add_option("F", o->paths, "The filter files; - is standard input")
      ->required()
      ->type_name("");
  verb->add_flag("--json", o->json, "Print the outcome as JSON");
  add_limit(*verb);
  add_threads(*verb, o->threads);
  add_quiet(*verb, o->quiet);
  verb->footer(
      "Exit status: 0 when all are sound, 2 when one is not.\n\n"
      "Example:\n  bloomery verify words.bloom\n  bloomery verify *.bloom");
  verb->callback([o, &status] { status = run_verify(*o); });
}

}  // namespace bloomery::cli
