#include "cli/args/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <variant>

#include "cli/args/help.hpp"

namespace bloomery::cli {

namespace {

std::optional<std::size_t> after_dashes;

// Stands before an argument after "--" that looks like an option, and for the value in "--name=".
constexpr std::string_view no_option = "\x1f--\x1f";

// The whole number that the text is, or why it is none. CLI11 would take -1 for 2^64 - 1, what is
// too large for the largest number, and 010 for 8.
std::variant<std::uint64_t, std::string> read_number(const std::string& text, std::uint64_t least,
                                                     std::uint64_t most) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure == std::errc() && stop == end && value >= least && value <= most) return value;
  return fmt::format("'{}' is no whole number from {} to {}", text, least, most);
}

template <class Type, class Number>  // Type, or std::optional<Type>
CLI::Option* add_number(CLI::App& app, const std::string& names, Number& to,
                        const std::string& help) {
  return app.add_option(
      names,
      [&to, names](const CLI::results_t& given) {
        const auto found = read_number(given.back(), 0, std::numeric_limits<Type>::max());
        if (const auto* const why = std::get_if<std::string>(&found)) {
          throw CLI::ValidationError(names.substr(names.rfind(',') + 1), *why);
        }
        to = static_cast<Type>(std::get<std::uint64_t>(found));
        return true;
      },
      help);
}

template <class Number>  // double, or std::optional<double>
CLI::Option* add_fraction(CLI::App& app, const std::string& names, Number& to,
                          const std::string& help) {
  return app.add_option(
      names,
      [&to, names](const CLI::results_t& given) {
        const std::string& text = given.back();
        double value = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, failure] = std::from_chars(text.data(), end, value);
        if (failure != std::errc() || stop != end || !std::isfinite(value)) {
          throw CLI::ValidationError(names.substr(names.rfind(',') + 1),
                                     fmt::format("'{}' is no number", text));
        }
        to = value;
        return true;
      },
      help);
}

// Takes the marks of part_arguments out of every value, and refuses an option's value that is
// empty, with the error that CLI11 has for one that is missing.
CLI::Option* checked(CLI::Option* o) {
  o->transform([](const std::string& text) { return without_marks(text); });
  if (!o->nonpositional()) return o;
  return o->check([o](const std::string& text) {
    if (text.empty()) throw CLI::ArgumentMismatch::TypedAtLeast(o->get_name(), 1, "value");
    return std::string();
  });
}

}  // namespace

std::optional<std::size_t> arguments_after_dashes() { return after_dashes; }

std::vector<std::string> part_arguments(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto at = std::ranges::find(words, "--");
  for (auto word = words.begin(); word != at; ++word) {
    const bool no_value = word->starts_with("--") && word->find('=') == word->size() - 1;
    if (no_value) word->append(no_option);
  }
  if (at == words.end()) return words;
  after_dashes = static_cast<std::size_t>(words.end() - at) - 1;
  for (auto word = at + 1; word != words.end(); ++word) {
    if (word->starts_with('-')) word->insert(0, no_option);
  }
  words.erase(at);
  return words;
}

std::string without_marks(std::string text) {
  for (std::size_t at = 0; (at = text.find(no_option, at)) != std::string::npos;) {
    text.erase(at, no_option.size());
  }
  return text;
}

option* option::required() {
  wrapped_->required();
  return this;
}

option* option::type_name(const std::string& name) {
  wrapped_->type_name(name);
  return this;
}

option* option::excludes(option* other) {
  wrapped_->excludes(other->wrapped_);
  return this;
}

option* option::needs(option* other) {
  wrapped_->needs(other->wrapped_);
  return this;
}

option* option::expected(int number) {
  wrapped_->expected(number);
  return this;
}

option* option::one_a_time() {
  wrapped_->allow_extra_args(false);
  return this;
}

option* option::one_of(const std::vector<std::string>& values) {
  CLI::Validator member = CLI::IsMember(values);  // whose description help and completion read
  member.operation([values](std::string& text) {
    if (std::ranges::find(values, text) != values.end()) return std::string();
    const std::string meant = suggestion(text, values);
    return meant.empty() ? fmt::format("'{}' is none of {}", text, fmt::join(values, ", "))
                         : fmt::format("there is no '{}'{}", text, meant);
  });
  wrapped_->check(member);
  return this;
}

option* option::between(std::uint64_t least, std::uint64_t most) {
  wrapped_->check([least, most](const std::string& text) {
    const auto found = read_number(text, least, most);
    const auto* const why = std::get_if<std::string>(&found);
    return why == nullptr ? std::string() : *why;
  });
  return this;
}

command::command(CLI::App& wrapped) : wrapped_(&wrapped) {}
command::~command() = default;

command* command::add_subcommand(const std::string& name, const std::string& help) {
  subcommands_.push_back(std::make_unique<command>(*wrapped_->add_subcommand(name, help)));
  return subcommands_.back().get();
}

command* command::require_subcommand(int number) {
  wrapped_->require_subcommand(number);
  return this;
}

option* command::keep(CLI::Option& wrapped) {
  options_.push_back(std::make_unique<option>(wrapped));
  return options_.back().get();
}

option* command::add_option(const std::string& names, std::string& value, const std::string& help) {
  return keep(*checked(wrapped_->add_option(names, value, help)));
}

option* command::add_option(const std::string& names, std::vector<std::string>& values,
                            const std::string& help) {
  return keep(*checked(wrapped_->add_option(names, values, help)));
}

option* command::add_option(const std::string& names, std::uint32_t& value,
                            const std::string& help) {
  return keep(*checked(add_number<std::uint32_t>(*wrapped_, names, value, help)));
}

option* command::add_option(const std::string& names, std::uint64_t& value,
                            const std::string& help) {
  return keep(*checked(add_number<std::uint64_t>(*wrapped_, names, value, help)));
}

option* command::add_option(const std::string& names, std::optional<std::uint32_t>& value,
                            const std::string& help) {
  return keep(*checked(add_number<std::uint32_t>(*wrapped_, names, value, help)));
}

option* command::add_option(const std::string& names, std::optional<std::uint64_t>& value,
                            const std::string& help) {
  return keep(*checked(add_number<std::uint64_t>(*wrapped_, names, value, help)));
}

option* command::add_option(const std::string& names, std::optional<double>& value,
                            const std::string& help) {
  return keep(*checked(add_fraction(*wrapped_, names, value, help)));
}

option* command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return keep(*wrapped_->add_flag(names, value, help));
}

command* command::group_options(const std::string& heading) {
  wrapped_->option_defaults()->group(heading);
  return this;
}

command* command::footer(const std::string& text) {
  wrapped_->footer(text);
  return this;
}

command* command::callback(std::function<void()> run) {
  wrapped_->callback(std::move(run));
  return this;
}

}  // namespace bloomery::cli
