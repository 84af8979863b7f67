#include "cli/args/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bloomery/core/error.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

constexpr std::size_t verb_column = 14;
constexpr std::size_t option_column = 26;

std::string entry(const std::string& name, const std::string& text, std::size_t column) {
  return "  " + name + wrapped(text, 2 + name.size(), column);
}

std::string name_of(const CLI::Option& o) {
  if (!o.nonpositional()) {
    const bool many = o.get_expected_max() == CLI::detail::expected_max_vector_size;
    return o.get_name(true) + (many ? "..." : "");
  }
  std::string name;
  for (const std::string& shortly : o.get_snames()) name += (name.empty() ? "-" : ", -") + shortly;
  for (const std::string& longly : o.get_lnames()) name += (name.empty() ? "--" : ", --") + longly;
  const std::string value = value_name(o);
  return value.empty() ? name : name + " " + value;
}

std::string text_of(const CLI::Option& o) {
  std::string text = o.get_description();
  const std::vector<std::string> values = values_of(o);
  if (!values.empty()) text += fmt::format(". One of {}", fmt::join(values, ", "));
  if (o.get_required() && o.nonpositional()) text += " (required)";
  return text;
}

std::string usage(const CLI::App& app, const std::string& name) {
  std::string text = "Usage: " + name;
  const bool verb_needed = app.get_require_subcommand_min() > 0;
  if (verb_needed) text += " VERB";
  for (const CLI::Option* o : app.get_options()) {
    if (!o->nonpositional() || !o->get_required()) continue;
    text += fmt::format(
        " {} {}",
        o->get_snames().empty() ? "--" + o->get_lnames().front() : "-" + o->get_snames().front(),
        value_name(*o));
  }
  text += " [options]";
  for (const CLI::Option* o : app.get_options()) {
    if (o->nonpositional()) continue;
    text += o->get_required() ? " " + name_of(*o) : " [" + name_of(*o) + "]";
  }
  return text + (verb_needed ? " ...\n" : "\n");
}

std::string verbs_text(const CLI::App& app) {
  std::string text;
  std::string group;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (verb->get_group() != group) {
      group = verb->get_group();
      text += fmt::format("\n{}:\n", group == "Subcommands" ? "Verbs" : group);
    }
    text += entry(verb->get_name(), verb->get_description(), verb_column);
  }
  return text;
}

std::string options_text(const CLI::App& app) {
  std::string text;
  const auto arguments = app.get_options([](const CLI::Option* o) { return !o->nonpositional(); });
  if (!arguments.empty()) text += "\nArguments:\n";
  for (const CLI::Option* o : arguments) text += entry(name_of(*o), text_of(*o), option_column);
  for (const std::string& group : app.get_groups()) {
    const auto options = app.get_options(
        [&](const CLI::Option* o) { return o->nonpositional() && o->get_group() == group; });
    if (options.empty()) continue;
    text += fmt::format("\n{}:\n", group);
    for (const CLI::Option* o : options) text += entry(name_of(*o), text_of(*o), option_column);
  }
  return text;
}

std::string footer_text(const std::string& footer) {  // indented examples are not wrapped
  std::string text = footer.empty() ? "" : "\n";
  std::string paragraph;
  for (const std::string& line : CLI::detail::split(footer, '\n')) {
    const bool prose = !line.empty() && line[0] != ' ' && line.back() != ':';
    if (prose) paragraph += (paragraph.empty() ? "" : " ") + line;
    if (prose) continue;
    if (!paragraph.empty()) text += wrapped(std::exchange(paragraph, {}), 0, 0);
    text += line + '\n';
  }
  return paragraph.empty() ? text : text + wrapped(paragraph, 0, 0);
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& verbs) {
  std::vector<std::string> names;
  names.reserve(verbs.size());
  for (const CLI::App* verb : verbs) names.push_back(verb->get_name());
  return names;
}

// The number of letters that are missing, added, changed or swapped with their neighbour.
std::size_t slips(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string help_formatter::make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode /*mode*/) const {
  std::string text = wrapped(app->get_description(), 0, 0) + usage(*app, name) + verbs_text(*app) +
                     options_text(*app);
  return text + footer_text(app->get_footer());
}

// CLI11 has name and values in one text: "K:{blocked,classic}", "N:UINT in [1 - 1024]", "F".
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  if (open == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, type.find('}') - open - 1), ',');
}

std::string value_name(const CLI::Option& option) {
  if (option.get_type_size() == 0) return {};
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

std::string nearest(std::string_view text, const std::vector<std::string>& candidates) {
  constexpr std::size_t most_slips = 2;
  std::string best;
  std::size_t fewest = std::min(most_slips, text.size() / 2) + 1;
  for (const std::string& candidate : candidates) {
    const bool begun = text.size() > 1 && candidate.compare(0, text.size(), text) == 0;
    const std::size_t needed = begun ? 0 : slips(text, candidate);
    if (needed >= fewest) continue;
    fewest = needed;
    best = candidate;
  }
  return best;
}

std::string suggestion(std::string_view text, const std::vector<std::string>& candidates) {
  const std::string meant = nearest(text, candidates);
  return meant.empty() ? "" : fmt::format(", did you mean '{}'?", meant);
}

const CLI::App& find_verb(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* found = &root;
  std::string path;
  for (const std::string& word : words) {
    const auto verbs = found->get_subcommands({});
    if (verbs.empty() || word.empty() || word[0] == '-') break;
    const auto verb = std::find_if(verbs.begin(), verbs.end(),
                                   [&](const CLI::App* v) { return v->get_name() == word; });
    if (verb == verbs.end() && found->get_require_subcommand_min() == 0) break;  // an argument
    if (verb == verbs.end()) {
      const std::string meant = suggestion(word, names_of(verbs));
      throw error(errc::bad_argument, fmt::format("there is no verb '{}'{} see 'bloomery help{}'",
                                                  path + word, meant.empty() ? ";" : meant,
                                                  found == &root ? "" : " " + found->get_name()));
    }
    found = *verb;
    path += word + " ";
  }
  return *found;
}

void add_help(CLI::App& app) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* verb =
      app.add_subcommand("help", "Show this list, or the help of a verb")->group(about_the_tool);
  verb->add_option("VERB", *words, "The verb, such as build, or map get")->type_name("");
  verb->footer("Example:\n  bloomery help\n  bloomery help build\n  bloomery help map get");
  verb->callback([words, &app] {
    const CLI::App& found = find_verb(app, *words);
    std::string name;
    for (const CLI::App* part = &found; part != nullptr; part = part->get_parent()) {
      name.insert(0, part->get_name() + (name.empty() ? "" : " "));
    }
    write_output(app.get_formatter()->make_help(&found, name, CLI::AppFormatMode::Normal));
  });
}

}  // namespace bloomery::cli
