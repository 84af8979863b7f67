// What the tool says about itself: help texts, and the name that somebody meant to type.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

// Help in the order in which it is read: what it does, how to call it, its verbs by task, its
// options by task, an example. Lines end before column 80; CLI11 would not break them.
class help_formatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

// The values that an option accepts when they are a list of words; otherwise nothing.
std::vector<std::string> values_of(const CLI::Option& option);
// What stands for the option's value in the help, such as N; empty for flags.
std::string value_name(const CLI::Option& option);

// The candidate that differs by a slip or two, or begins with the text; empty when there is none.
std::string nearest(std::string_view text, const std::vector<std::string>& candidates);

// ", did you mean 'build'?", or nothing.
std::string suggestion(std::string_view text, const std::vector<std::string>& candidates);

// Throws errc::bad_argument, with a suggestion, when the words name a verb that does not exist.
// Words end at the first option.
const CLI::App& find_verb(const CLI::App& root, const std::vector<std::string>& words);

// The verbs that know about the others.
inline constexpr const char* about_the_tool = "This tool";
void add_help(CLI::App& app);
void add_completion(CLI::App& app);

}  // namespace bloomery::cli
