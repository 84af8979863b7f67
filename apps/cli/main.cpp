// The command-line tool: argument parsing, wiring and printing. The algorithms are in the library.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/core/version.hpp"
#include "cli/args/command.hpp"
#include "cli/args/help.hpp"
#include "cli/input/lost_file.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace {

using bloomery::cli::exit_error;

int complain(std::string what) {  // prints one line, even if the text has several
  for (char& c : what) {
    if (c == '\n') c = ' ';
  }
  bloomery::cli::tell("bloomery: {}\n", what);
  return exit_error;
}

struct section {
  const char* title;
  std::vector<void (*)(bloomery::cli::command&, int&)> verbs;
};

// The verbs, grouped by task as the help lists them.
void add_verbs(CLI::App& app, bloomery::cli::command& tool, int& status) {
  using namespace bloomery::cli;
  const std::vector<section> sections = {
      {"Make and change filters", {add_build, add_add, add_remove, add_compact, add_map}},
      {"Ask", {add_check, add_count}},
      {"Work on streams", {add_dedup, add_top, add_quantiles}},
      {"Look inside", {add_info, add_verify, add_explain}},
      {"Use ready-made lists",
       {
           add_passwd,
           add_block,
#ifdef BLOOMERY_HAS_TEXT
           add_spell,
           add_hyphenate,
#endif
       }},
      {"Keep records", {add_store}},
#ifdef BLOOMERY_HAS_TEXT
      {"Search texts", {add_index, add_search}},
#endif
      {"Combine", {add_merge, add_intersect, add_fold, add_compare}},
      {"Send", {add_pack, add_unpack, add_diff, add_patch, add_import}},
      {"Publish and follow",
       {
           add_publish,
#ifdef BLOOMERY_HAS_CURL
           add_fetch,
#endif
#ifdef BLOOMERY_HAS_SERVE
           add_serve,
#endif
       }},
      {"Two hosts",
       {
           add_reconcile,
           add_join,
#ifdef BLOOMERY_HAS_CRYPTO
           add_share,
#endif
       }},
#ifdef BLOOMERY_HAS_CRYPTO
      {"Many hosts", {add_node, add_find}},
      {"Web caches", {add_digest}},
#endif
#ifdef BLOOMERY_HAS_HIREDIS
      {"Use Redis", {add_push, add_pull, add_redis}},
#endif
      {"Watch packets",
       {
           add_flows,
           add_trace,
#ifdef BLOOMERY_HAS_NFQUEUE
           add_queue,
#endif
       }},
      {"Plan and measure", {add_plan, add_bench}},
  };
  const auto add = [&](const section& s) {
    const std::size_t before = app.get_subcommands({}).size();
    for (const auto verb : s.verbs) verb(tool, status);
    const auto verbs = app.get_subcommands({});
    for (std::size_t i = before; i < verbs.size(); ++i) verbs[i]->group(s.title);
  };
  for (const section& s : sections) add(s);
  add_help(app);
  add_completion(app);
}

std::string list_of(const std::vector<std::string>& names) {  // a, b or c
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return text;
}

// What CLI11 says in terms of its own, such as "A subcommand is required" and "1 required F
// missing", in those of the help text.
std::string mistake(const CLI::App& verb, const std::string& path, const CLI::ParseError& e) {
  const std::string what = e.what();
  if (dynamic_cast<const CLI::RequiredError*>(&e) != nullptr) {
    for (const CLI::Option* o : verb.get_options()) {
      if (!o->get_required() || o->count() != 0) continue;
      const std::string name =
          o->nonpositional() ? fmt::format("{} {}", o->get_name(), bloomery::cli::value_name(*o))
                             : o->get_name(true);
      // "--plot words.bloom" has taken what was meant as the filter.
      const CLI::Option* const plot = verb.get_option_no_throw("--plot");
      const bool taken = !o->nonpositional() && plot != nullptr && plot->count() != 0;
      return fmt::format("{} is missing: {}{}", name, o->get_description(),
                         taken ? fmt::format("; --plot took {} as the name of the picture",
                                             plot->results().front())
                               : "");
    }
    std::vector<std::string> verbs;
    for (const CLI::App* inner : verb.get_subcommands({})) verbs.push_back(inner->get_name());
    if (verb.get_require_subcommand_min() > 0 && verb.get_parent() != nullptr) {
      return fmt::format("'{}' needs a verb: {}", path, list_of(verbs));
    }
    return "no verb is given";
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&e) != nullptr &&
      what.find(" required ") != std::string::npos) {
    const bool many = what.find(": At Most ") != std::string::npos;
    return fmt::format("{} {}", what.substr(0, what.find(':')),
                       many ? "is given twice" : "needs a value");
  }
  if (dynamic_cast<const CLI::ConversionError*>(&e) != nullptr) {  // only flags come here
    const std::size_t at = what.find("--");
    return fmt::format("{} takes no value", what.substr(at, what.find(' ', at) - at));
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr) {
    return fmt::format("one argument too many: {}", what.substr(what.rfind(": ") + 2));
  }
  return what;
}

// The error that CLI11 found, with a suggestion and where to read more.
std::string in_words(const CLI::App& app, const CLI::ParseError& e) {
  std::string path = app.get_name();
  const CLI::App* verb = &app;
  while (!verb->get_subcommands().empty()) {
    verb = verb->get_subcommands().front();
    path += " " + verb->get_name();
  }
  // CLI11 reports missing options before unknown ones, which are the likelier mistake.
  for (const std::string& word : verb->remaining()) {
    const bool letter = word.size() > 1 && word[0] == '-' && std::isalpha(word[1]) != 0;
    if (letter) return fmt::format("there is no option {}; see '{} --help'", word, path);
    if (word.compare(0, 2, "--") != 0) continue;
    std::vector<std::string> names;
    for (const CLI::Option* o : verb->get_options()) {
      for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
    }
    const std::string given = word.substr(0, word.find('='));
    const std::string meant = bloomery::cli::suggestion(given, names);
    return fmt::format("there is no option {}{} see '{} --help'", given,
                       meant.empty() ? ";" : meant, path);
  }
  return fmt::format("{}; see '{} --help'", mistake(*verb, path, e), path);
}

// If standard input, output or error is closed, a file that is opened would get its number, and
// output would be written into that file. So a closed one is replaced by /dev/null, opened such
// that using it fails as the closed one would; messages may be lost.
void hold_standard_streams() {
  for (const auto& [fd, mode] :
       {std::pair{STDIN_FILENO, O_WRONLY}, std::pair{STDOUT_FILENO, O_RDONLY},
        std::pair{STDERR_FILENO, O_WRONLY}}) {
    // open returns the lowest free number, which is `fd`.
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", mode));
  }
}

// Memory can run out where no exception may pass: in a destructor of the JSON library, or before
// main. The result is the same line and status as elsewhere, not a core dump. What is half written
// has no name yet.
[[gnu::constructor(101)]] void end_well_without_memory() {
  std::set_terminate([] {
    constexpr std::string_view text = "bloomery: out of memory\n";
    try {
      if (std::current_exception()) std::rethrow_exception(std::current_exception());
    } catch (const std::bad_alloc&) {
      static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
      ::_exit(exit_error);
    } catch (...) {
    }
    std::abort();
  });
}

// Prints help or version. CLI11 would not notice when writing fails.
int print_help(const CLI::App& app, const CLI::ParseError& e) {
  std::ostringstream text;
  app.exit(e, text, text);
  bloomery::cli::write_output(text.str());
  return bloomery::cli::exit_success;
}

int run(int argc, char** argv) {
  CLI::App app("Approximate sets: build, ask and plan Bloom filters of keys, one a line.",
               "bloomery");
  app.formatter(std::make_shared<bloomery::cli::help_formatter>());
  app.set_help_flag("-h,--help", "Show this help");
  app.set_version_flag("--version",
                       fmt::format("bloomery {}.{}.{}", BLOOMERY_VERSION_MAJOR,
                                   BLOOMERY_VERSION_MINOR, BLOOMERY_VERSION_PATCH),
                       "Show the version");
  app.require_subcommand(1);
  int status = bloomery::cli::exit_success;
  bloomery::cli::command tool(app);
  add_verbs(app, tool, status);
  app.footer(
      "'bloomery help VERB' shows a verb's options and an example; 'man bloomery-VERB'\n"
      "says more.");
  if (argc < 2) {  // nothing is done without a verb, so the status is an error
    fmt::print(stderr, "{}", app.help());
    return exit_error;
  }
  // This names a mistyped verb, where CLI11 would only say that a verb is missing.
  bloomery::cli::find_verb(app, {argv + 1, argv + argc});
  try {
    std::vector<std::string> words = bloomery::cli::part_arguments(argc, argv);
    std::ranges::reverse(words);  // CLI11 takes them from the end
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return print_help(app, e);
    return complain(bloomery::cli::without_marks(in_words(app, e)));
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_streams();
  bloomery::cli::tell_of_lost_files();
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit is an error to tell, not a reason to die
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    const bool builds = argc > 1 && std::string_view(argv[1]) == "build";
    return complain(builds ? "out of memory; --memory builds in slices on disk" : "out of memory");
  } catch (const std::filesystem::filesystem_error& e) {  // whose text is for programmers
    const std::string path = e.path1().string();
    return complain(path.empty() ? e.what() : fmt::format("{}: {}", path, e.code().message()));
  } catch (const std::exception& e) {
    return complain(e.what());
  }
}
