// bloomery verify: every checksum of a filter file.
#include <fmt/format.h>

#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct verify_options {
  std::string path;
  unsigned threads = 0;
  bool quiet = false;
  bool json = false;
};

void run_verify(const verify_options& o) {
  if (is_text_index(o.path)) {
    text_index(o.path).verify();
  } else {
    any_filter::open(o.path).verify(o.threads);
  }
  const std::uint64_t bytes = std::filesystem::file_size(o.path);
  if (o.json) {
    print_json({{"file", o.path}, {"bytes", bytes}, {"sound", true}});
  } else if (!o.quiet) {
    write_output(fmt::format("{}: sound, {} bytes\n", o.path, with_commas(bytes)));
  }
}

}  // namespace

void add_verify(command& app, int& /*status*/) {
  auto o = std::make_shared<verify_options>();
  command* verb = app.add_subcommand("verify", "Check every checksum of a filter file");
  verb->add_option("F", o->path, "The filter file")->required()->type_name("");
  verb->add_flag("--json", o->json, "Print the outcome as JSON");
  add_threads(*verb, o->threads);
  add_quiet(*verb, o->quiet);
  verb->footer("Example:\n  bloomery verify words.bloom");
  verb->callback([o] { run_verify(*o); });
}

}  // namespace bloomery::cli
