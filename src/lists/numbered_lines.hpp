// Lines of files of words and rules, numbered for messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/core/error.hpp"

namespace bloomery::detail {

class numbered_lines {
 public:
  numbered_lines(std::string_view text, const std::string& name) : rest_(text), name_(&name) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  }

  bool next() {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    ++number_;
    if (line_.size() > longest) {
      fail(errc::corrupt, "a line of " + std::to_string(line_.size()) + " bytes; at most " +
                              std::to_string(longest) + " are read");
    }
    return true;
  }
  [[nodiscard]] std::string_view line() const noexcept { return line_; }

  [[noreturn]] void fail(errc code, const std::string& what) const {
    throw error(code, *name_ + ":" + std::to_string(number_) + ": " + what);
  }

 private:
  static constexpr std::size_t longest = 65'536;

  std::string_view rest_;
  std::string_view line_;
  const std::string* name_;
  std::uint64_t number_ = 0;
};

// The parts of a line between blanks.
[[nodiscard]] inline std::vector<std::string_view> fields_of(std::string_view line) {
  constexpr std::string_view blanks = " \t";
  std::vector<std::string_view> fields;
  for (std::size_t at = line.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = line.find_first_of(blanks, at);
    fields.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(blanks, end);
  }
  return fields;
}

}  // namespace bloomery::detail
