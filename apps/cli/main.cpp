// The command-line tool: argument parsing, wiring and printing. What it does is in the library.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/core/version.hpp"
#include "cli/common.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"

namespace {

using bloomery::cli::exit_error;

// One line, also when what went wrong brought several.
int complain(std::string what) {
  for (char& c : what) {
    if (c == '\n') c = ' ';
  }
  bloomery::cli::tell("bloomery: {}\n", what);
  return exit_error;
}

// A file opened while 0, 1 or 2 is free would get that number, and what is printed would land in it. What takes
// the place of a closed one refuses, as the closed one would; messages may be lost.
void hold_standard_streams() {
  for (const auto& [fd, mode] :
       {std::pair{STDIN_FILENO, O_WRONLY}, std::pair{STDOUT_FILENO, O_RDONLY},
        std::pair{STDERR_FILENO, O_WRONLY}}) {
    // The lowest free number is given out, so this one gets `fd`.
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", mode));
  }
}

// Help and version, which CLI11 would print without looking whether it worked.
int print_help(const CLI::App& app, const CLI::ParseError& e) {
  std::ostringstream text;
  app.exit(e, text, text);
  bloomery::cli::write_output(text.str());
  return bloomery::cli::exit_success;
}

int run(int argc, char** argv) {
  CLI::App app("Approximate sets: build, ask and plan Bloom filters of keys, one a line.",
               "bloomery");
  app.set_version_flag("--version", fmt::format("bloomery {}.{}.{}", BLOOMERY_VERSION_MAJOR,
                                                BLOOMERY_VERSION_MINOR, BLOOMERY_VERSION_PATCH));
  app.require_subcommand(1);
  app.footer("'bloomery VERB --help' shows a verb's options and an example.");
  int status = exit_error;
  bloomery::cli::add_build(app, status);
  bloomery::cli::add_change(app, status);
  bloomery::cli::add_check(app, status);
  bloomery::cli::add_dedup(app, status);
  bloomery::cli::add_count(app, status);
  bloomery::cli::add_map(app, status);
  bloomery::cli::add_top(app, status);
  bloomery::cli::add_explain(app, status);
  bloomery::cli::add_info(app, status);
  bloomery::cli::add_verify(app, status);
  bloomery::cli::add_sets(app, status);
  bloomery::cli::add_compact(app, status);
  bloomery::cli::add_wire(app, status);
  bloomery::cli::add_plan(app, status);
  bloomery::cli::add_bench(app, status);
  // CLI11 would only say that a verb is missing.
  const auto verbs = app.get_subcommands({});
  const auto named = [&](const CLI::App* verb) { return verb->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(verbs.begin(), verbs.end(), named)) {
    return complain(fmt::format("there is no verb '{}'; see 'bloomery --help'", argv[1]));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return print_help(app, e);
    const auto parsed = app.get_subcommands();
    const std::string verb = parsed.empty() ? "" : " " + parsed.front()->get_name();
    return complain(fmt::format("{}; see 'bloomery{} --help'", e.what(), verb));
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit is an error to tell, not a reason to die
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return complain("out of memory; 'bloomery build --memory' builds in slices on disk");
  } catch (const std::exception& e) {
    return complain(e.what());
  }
}
