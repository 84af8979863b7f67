// Verbs and their options as the verbs' sources see them: the part of CLI11 that they use, no more.
// Otherwise two dozen sources would include its headers, which take five seconds to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): not our name
class App;
class Option;
}  // namespace CLI

namespace bloomery::cli {

// How many arguments stand after the "--" that part_arguments took out; nothing without one.
std::optional<std::size_t> arguments_after_dashes();
// The arguments for CLI11, without "--": where an argument of any number stands before it, CLI11
// would take what follows for too much. What looks like an option after it gets a mark. So does
// "--name=", whose value CLI11 would take from the next argument. Arguments lose it before a verb
// sees them, and messages by without_marks.
std::vector<std::string> part_arguments(int argc, char** argv);
std::string without_marks(std::string text);

class option {
 public:
  explicit option(CLI::Option& wrapped) : wrapped_(&wrapped) {}

  option* required();
  option* type_name(const std::string& name);  // what the help text calls the value
  option* excludes(option* other);
  option* needs(option* other);
  option* expected(int number);  // -2: two or more
  option* one_a_time();          // a list is written --name A --name B
  option* one_of(const std::vector<std::string>& values);
  option* between(std::uint64_t least, std::uint64_t most);

 private:
  CLI::Option* wrapped_;
};

class command {
 public:
  explicit command(CLI::App& wrapped);
  command(const command&) = delete;
  command& operator=(const command&) = delete;
  ~command();

  command* add_subcommand(const std::string& name, const std::string& help);
  command* require_subcommand(int number);

  // `names` is "-o,--output" for an option, or "F" for a positional argument.
  option* add_option(const std::string& names, std::string& value, const std::string& help);
  option* add_option(const std::string& names, std::vector<std::string>& values,
                     const std::string& help);
  option* add_option(const std::string& names, std::uint32_t& value, const std::string& help);
  option* add_option(const std::string& names, std::uint64_t& value, const std::string& help);
  option* add_option(const std::string& names, std::optional<std::uint32_t>& value,
                     const std::string& help);
  option* add_option(const std::string& names, std::optional<std::uint64_t>& value,
                     const std::string& help);
  option* add_option(const std::string& names, std::optional<double>& value,
                     const std::string& help);
  option* add_flag(const std::string& names, bool& value, const std::string& help);

  command* group_options(const std::string& heading);  // of the options added from now on

  command* footer(const std::string& text);
  command* callback(std::function<void()> run);  // for this verb, once its options are valid

 private:
  option* keep(CLI::Option& wrapped);

  CLI::App* wrapped_;
  std::vector<std::unique_ptr<option>> options_;
  std::vector<std::unique_ptr<command>> subcommands_;
};

}  // namespace bloomery::cli
