// Help texts, and suggestions for mistyped names.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

// Formats help in this order: what the verb does, how to call it, its subverbs and options by task,
// an example. Lines end before column 80; CLI11's own formatter does not wrap.
class help_formatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

// The words that an option accepts as its value; empty when it accepts other values.
std::vector<std::string> values_of(const CLI::Option& option);
std::string value_name(const CLI::Option& option);  // such as N in the help; empty for flags

// The candidate at most two typing errors away, or that begins with the text; empty if none.
std::string nearest(std::string_view text, const std::vector<std::string>& candidates);

// ", did you mean 'build'?", or nothing.
std::string suggestion(std::string_view text, const std::vector<std::string>& candidates);

// Throws errc::bad_argument, with a suggestion, for an unknown verb. Words end at the first option.
const CLI::App& find_verb(const CLI::App& root, const std::vector<std::string>& words);

// The heading of the verbs that are about the tool itself.
inline constexpr const char* about_the_tool = "This tool";
void add_help(CLI::App& app);
void add_completion(CLI::App& app);

}  // namespace bloomery::cli
