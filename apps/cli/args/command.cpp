#include "cli/args/command.hpp"

#include <CLI/CLI.hpp>
#include <utility>

namespace bloomery::cli {

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
  wrapped_->check(CLI::IsMember(values));
  return this;
}

option* option::between(std::uint64_t least, std::uint64_t most) {
  wrapped_->check(CLI::Range(least, most));
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
  return keep(*wrapped_->add_option(names, value, help));
}

option* command::add_option(const std::string& names, std::vector<std::string>& values,
                            const std::string& help) {
  return keep(*wrapped_->add_option(names, values, help));
}

option* command::add_option(const std::string& names, std::uint32_t& value,
                            const std::string& help) {
  return keep(*wrapped_->add_option(names, value, help));
}

option* command::add_option(const std::string& names, std::uint64_t& value,
                            const std::string& help) {
  return keep(*wrapped_->add_option(names, value, help));
}

option* command::add_option(const std::string& names, std::optional<std::uint32_t>& value,
                            const std::string& help) {
  return keep(*wrapped_->add_option(names, value, help));
}

option* command::add_option(const std::string& names, std::optional<double>& value,
                            const std::string& help) {
  return keep(*wrapped_->add_option(names, value, help));
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
