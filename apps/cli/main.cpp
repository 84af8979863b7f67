// The command-line tool: argument parsing, wiring and printing. What it does is in the library.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/core/version.hpp"
#include "cli/verbs.hpp"

namespace {

using bloomery::cli::exit_error;

// One line, also when what went wrong brought several.
int complain(std::string what) {
  for (char& c : what) {
    if (c == '\n') c = ' ';
  }
  fmt::print(stderr, "bloomery: {}\n", what);
  return exit_error;
}

int run(int argc, char** argv) {
  CLI::App app("Approximate sets: build, ask and plan Bloom filters of keys, one a line.",
               "bloomery");
  app.set_version_flag("--version", fmt::format("bloomery {}.{}.{}", BLOOMERY_VERSION_MAJOR,
                                                BLOOMERY_VERSION_MINOR, BLOOMERY_VERSION_PATCH));
  app.require_subcommand(1);
  app.footer("'bloomery VERB --help' shows a verb's options and an example.");
  bloomery::cli::command tool(app);
  int status = exit_error;
  bloomery::cli::add_build(tool, status);
  bloomery::cli::add_change(tool, status);
  bloomery::cli::add_check(tool, status);
  bloomery::cli::add_dedup(tool, status);
  bloomery::cli::add_count(tool, status);
  bloomery::cli::add_map(tool, status);
  bloomery::cli::add_top(tool, status);
  bloomery::cli::add_explain(tool, status);
  bloomery::cli::add_info(tool, status);
  bloomery::cli::add_verify(tool, status);
  bloomery::cli::add_sets(tool, status);
  bloomery::cli::add_compact(tool, status);
  bloomery::cli::add_wire(tool, status);
  bloomery::cli::add_passwd(tool, status);
#ifdef BLOOMERY_HAS_TEXT
  bloomery::cli::add_spell(tool, status);
#endif
  bloomery::cli::add_plan(tool, status);
  bloomery::cli::add_bench(tool, status);
  // CLI11 would only say that a verb is missing.
  const auto verbs = app.get_subcommands({});
  const auto named = [&](const CLI::App* verb) { return verb->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(verbs.begin(), verbs.end(), named)) {
    return complain(fmt::format("there is no verb '{}'; see 'bloomery --help'", argv[1]));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    const auto parsed = app.get_subcommands();
    const std::string verb = parsed.empty() ? "" : " " + parsed.front()->get_name();
    return complain(fmt::format("{}; see 'bloomery{} --help'", e.what(), verb));
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return complain("out of memory; use --memory to build in slices on disk");
  } catch (const std::exception& e) {
    return complain(e.what());
  }
}
