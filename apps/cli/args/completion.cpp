// bloomery completion: prints the script by which a shell completes verbs, options and values. It
// is generated from the definitions of parser and help, so it cannot miss an option.
//
// The scripts contain all words and call nothing: one that started the tool for each TAB would be
// slower, and would fail where the tool is not on the path.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "cli/args/help.hpp"
#include "cli/output/report.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

using options = std::vector<const CLI::Option*>;

std::vector<const CLI::App*> verbs_of(const CLI::App& app) { return app.get_subcommands({}); }

options options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* o) { return o->nonpositional(); });
}

std::vector<std::string> names_of(const CLI::Option& o) {
  std::vector<std::string> names;
  for (const std::string& name : o.get_snames()) names.push_back("-" + name);
  for (const std::string& name : o.get_lnames()) names.push_back("--" + name);
  return names;
}

// Whether an option takes a file, rather than a word of a list or something like a number.
bool takes_file(const CLI::Option& o) {
  const std::string name = value_name(o);
  return name == "F" || name == "FILE";
}

// The words that a verb accepts as arguments; empty if its arguments are files.
std::vector<std::string> argument_words(const CLI::App& root, const CLI::App& verb) {
  for (const CLI::Option* o : verb.get_options()) {
    if (o->nonpositional()) continue;
    if (!values_of(*o).empty()) return values_of(*o);
    if (o->get_name(true) != "VERB") continue;
    std::vector<std::string> names;
    for (const CLI::App* named : verbs_of(root)) names.push_back(named->get_name());
    return names;
  }
  return {};
}

bool has_arguments(const CLI::App& verb) {
  const auto all = verb.get_options();
  return std::any_of(all.begin(), all.end(),
                     [](const CLI::Option* o) { return !o->nonpositional(); });
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// --- bash

std::string bash_options(const CLI::App& root, const CLI::App& verb) {
  std::vector<std::string> all;
  std::vector<std::string> files;
  std::vector<std::string> others;
  std::string cases;
  for (const CLI::Option* o : options_of(verb)) {
    const auto names = names_of(*o);
    all.insert(all.end(), names.begin(), names.end());
    if (value_name(*o).empty()) continue;
    if (const auto values = values_of(*o); !values.empty()) {
      cases +=
          fmt::format("      {}) words=\"{}\" ;;\n", fmt::join(names, "|"), fmt::join(values, " "));
    } else {
      auto& list = takes_file(*o) ? files : others;
      list.insert(list.end(), names.begin(), names.end());
    }
  }
  if (!files.empty()) cases += fmt::format("      {}) files=1 ;;\n", fmt::join(files, "|"));
  if (!others.empty()) cases += fmt::format("      {}) ;;\n", fmt::join(others, "|"));
  const auto words = argument_words(root, verb);
  const std::string argument = words.empty() && has_arguments(verb)
                                   ? "files=1"
                                   : fmt::format("words=\"{}\"", fmt::join(words, " "));
  return fmt::format(
      "      case $previous in\n{}      *) if [[ $current == -* ]]; then words=\"{}\"; else {}; fi "
      ";;\n      esac\n",
      cases, fmt::join(all, " "), argument);
}

// One case for each verb; `path` is the words before it.
std::string bash_cases(const CLI::App& root, const CLI::App& app, const std::string& path) {
  std::string text;
  std::vector<std::string> names;
  for (const CLI::App* verb : verbs_of(app)) {
    names.push_back(verb->get_name());
    text += bash_cases(root, *verb, path.empty() ? names.back() : path + " " + names.back());
  }
  if (names.empty()) {
    return fmt::format("    \"{}\")\n{}      ;;\n", path, bash_options(root, app));
  }
  for (const CLI::Option* o : options_of(app)) {
    for (const std::string& name : names_of(*o)) names.push_back(name);
  }
  return text + fmt::format("    \"{}\") words=\"{}\" ;;\n", path, fmt::join(names, " "));
}

std::string bash_script(const CLI::App& root) {
  std::vector<std::string> parents;
  for (const CLI::App* verb : verbs_of(root)) {
    if (!verbs_of(*verb).empty()) parents.push_back(verb->get_name());
  }
  return fmt::format(R"(# bash completion of bloomery, made by 'bloomery completion bash'
_bloomery() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local verb="" words="" files=""
  # Readline takes --kind=blocked for three words.
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  ((COMP_CWORD > 1)) && verb=${{COMP_WORDS[1]}}
  case $verb in
    {}) ((COMP_CWORD > 2)) && verb+=" ${{COMP_WORDS[2]}}" ;;
  esac
  COMPREPLY=()
  case $verb in
{}  esac
  if [[ $files ]]; then
    compopt -o default
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}}
complete -F _bloomery bloomery
)",
                     fmt::join(parents, "|"), bash_cases(root, root, ""));
}

// --- zsh

std::string zsh_quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

// Escapes what has a meaning in the descriptions of _arguments and _describe.
std::string zsh_text(std::string text) {
  for (const char* special : {"\\", ":", "[", "]"}) {
    text = replaced(std::move(text), special, std::string("\\") + special);
  }
  return text;
}

std::string zsh_value(const CLI::Option& o) {
  const std::string name = value_name(o);
  if (name.empty()) return {};
  const auto values = values_of(o);
  if (!values.empty()) return fmt::format(":{}:({})", name, fmt::join(values, " "));
  return fmt::format(":{}:{}", name, takes_file(o) ? "_files" : " ");
}

std::string zsh_options(const CLI::App& root, const CLI::App& verb, const std::string& indent) {
  std::string text;
  const auto spec = [&](const std::string& s) { text += " \\\n" + indent + "  " + zsh_quoted(s); };
  for (const CLI::Option* o : options_of(verb)) {
    const auto names = names_of(*o);
    for (const std::string& name : names) {
      // How zsh joins name and value: + allows -oF and -o F, = allows --output=F and --output F.
      const std::string joint = value_name(*o).empty() ? "" : name[1] == '-' ? "=" : "+";
      spec(fmt::format("({}){}{}[{}]{}", fmt::join(names, " "), name, joint,
                       zsh_text(o->get_description()), zsh_value(*o)));
    }
  }
  const auto words = argument_words(root, verb);
  if (!words.empty()) {
    spec(fmt::format("*:word:({})", fmt::join(words, " ")));
  } else if (has_arguments(verb)) {
    spec("*:file:_files");
  }
  return text;
}

// `depth` is the number of words before the verbs or options of this app.
std::string zsh_cases(const CLI::App& root, const CLI::App& app, int depth) {
  const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
  const auto verbs = verbs_of(app);
  if (verbs.empty()) {
    return fmt::format("{0}shift {1} words\n{0}(( CURRENT -= {1} ))\n{0}_arguments -S{2}\n", indent,
                       depth - 1, zsh_options(root, app, indent));
  }
  std::string text =
      fmt::format("{}if (( CURRENT == {} )); then\n{}  verbs=(\n", indent, depth + 1, indent);
  for (const CLI::App* verb : verbs) {
    text += fmt::format("{}    {}\n", indent,
                        zsh_quoted(verb->get_name() + ":" + zsh_text(verb->get_description())));
  }
  text += fmt::format("{0}  )\n{0}  _describe -t verbs verb verbs\n{0}  return\n{0}fi\n", indent);
  text += fmt::format("{}case $words[{}] in\n", indent, depth + 1);
  for (const CLI::App* verb : verbs) {
    text += fmt::format("{}({})\n{}{};;\n", indent, verb->get_name(),
                        zsh_cases(root, *verb, depth + 1), indent);
  }
  return text + indent + "esac\n";
}

std::string zsh_script(const CLI::App& root) {
  return fmt::format(R"(#compdef bloomery
# zsh completion of bloomery, made by 'bloomery completion zsh'
_bloomery() {{
  local -a verbs
{}}}
# As a file of the function path it is called; when it is sourced it only becomes known.
if [[ $funcstack[1] == _bloomery ]]; then
  _bloomery "$@"
else
  compdef _bloomery bloomery
fi
)",
                     zsh_cases(root, root, 1));
}

// --- fish

std::string fish_quoted(std::string text) {
  for (const char* special : {"\\", "'"}) {
    text = replaced(std::move(text), special, std::string("\\") + special);
  }
  return "'" + text + "'";
}

std::string fish_option(const CLI::Option& o, const std::string& condition) {
  std::string line = fmt::format("complete -c bloomery -n '{}'", condition);
  for (const std::string& name : o.get_snames()) line += " -s " + name;
  for (const std::string& name : o.get_lnames()) line += " -l " + name;
  if (const auto values = values_of(o); !values.empty()) {
    line += fmt::format(" -x -a '{}'", fmt::join(values, " "));
  } else if (!value_name(o).empty()) {
    line += takes_file(o) ? " -r -F" : " -x";
  }
  return line + " -d " + fish_quoted(o.get_description()) + "\n";
}

std::string fish_lines(const CLI::App& root, const CLI::App& app, const std::string& path) {
  std::string text;
  const auto verbs = verbs_of(app);
  // The options of a verb with subverbs are valid only where a subverb could stand.
  const std::string condition = (verbs.empty() ? "__bloomery_in" : "__bloomery_at") + path;
  for (const CLI::App* verb : verbs) {
    text += fmt::format("complete -c bloomery -n '{}' -a {} -d {}\n", condition, verb->get_name(),
                        fish_quoted(verb->get_description()));
  }
  for (const CLI::Option* o : options_of(app)) text += fish_option(*o, condition);
  for (const CLI::App* verb : verbs) text += fish_lines(root, *verb, path + " " + verb->get_name());
  if (!verbs.empty()) return text;
  const auto words = argument_words(root, app);
  if (!words.empty()) {
    text += fmt::format("complete -c bloomery -n '{}' -a '{}'\n", condition, fmt::join(words, " "));
  } else if (has_arguments(app)) {
    text += fmt::format("complete -c bloomery -n '{}' -F\n", condition);
  }
  return text;
}

std::string fish_script(const CLI::App& root) {
  return R"(# fish completion of bloomery, made by 'bloomery completion fish'
# Whether the command line begins with these verbs ...
function __bloomery_in
    set -l words (commandline -opc)
    set -l last (math 1 + (count $argv))
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end
# ... and nothing else.
function __bloomery_at
    set -l words (commandline -opc)
    test (count $words) -eq (math 1 + (count $argv)); and test "$words[2..-1]" = "$argv"
end
complete -c bloomery -f
)" + fish_lines(root, root, "");
}

}  // namespace

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("completion", "Print a script that completes this tool")
                       ->group(about_the_tool);
  verb->add_option("SHELL", *shell, "The shell that it is for")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("");
  verb->footer(
      "An installed tool has them in the places where shells look. Otherwise load one from the\n"
      "start-up file of your shell.\n\n"
      "Example:\n  source <(bloomery completion bash)     # in ~/.bashrc\n"
      "  source <(bloomery completion zsh)      # in ~/.zshrc, after compinit\n"
      "  bloomery completion fish | source      # in ~/.config/fish/config.fish");
  verb->callback([shell, &app] {
    write_output(*shell == "bash"  ? bash_script(app)
                 : *shell == "zsh" ? zsh_script(app)
                                   : fish_script(app));
  });
}

}  // namespace bloomery::cli
