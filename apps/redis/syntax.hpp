// What COMMAND DOCS tells of each command, so that redis-cli shows its syntax while one types.
//
// A syntax is written as in a manual, the name left out:
//
//     key item... [CAPACITY n:i] [EXPANSION n:i | NONSCALING] (item count:i)...
//
// Words in capitals are said as they are, and belong to the word after them; `:i` is an integer,
// `:d` a real number, `key` the name of a key; `...` means once or more.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "api.hpp"

namespace bloomery_redis {

struct command_text {
  const char* name;
  const char* syntax;
  const char* complexity;
  const char* since;  // the version in which other modules had the command, or ours
};
[[nodiscard]] const command_text& text_of_command(std::string_view name);

class argument_list {  // in the form of the server, valid as long as this object
 public:
  explicit argument_list(std::string_view syntax);
  argument_list(const argument_list&) = delete;
  argument_list& operator=(const argument_list&) = delete;

  [[nodiscard]] const api::argument* get() const noexcept { return first_; }

 private:
  const char* keep(std::string text);
  const api::argument* read_list(char end, bool& one_of);
  api::argument read_word(std::string_view word, const char* token);
  api::argument read_group(char open, const char* token);
  [[nodiscard]] std::string_view next_word();
  [[nodiscard]] bool at_end(char end);
  bool skip_dots();

  std::string_view rest_;
  std::deque<std::string> words_;
  std::deque<std::vector<api::argument>> lists_;
  const api::argument* first_;
};

}  // namespace bloomery_redis
