// Lines in pieces of any size: what they are, for whoever takes them as keys.
//
//     piece | piece | piece          a line may begin in one and end in a later one
//
// The caller writes each piece to `room`, behind what is left of the one before. Rules are those of
// the tool (apps/cli/input/line_format.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cli/input/record_ends.hpp"

namespace bloomery::web {

struct line_rules {
  char end = '\n';
  bool keep_empty = false;
  bool crlf = false;
};

class line_splitter {
 public:
  explicit line_splitter(const line_rules& rules) : rules_(rules) {}

  // Where the next piece goes. Throws errc::no_memory for a line that is longer than memory.
  char* room(std::size_t bytes);
  // Finds the lines that are whole now. They are valid until the next call of room().
  void split(std::size_t bytes);
  // What is left is a line, if anything is.
  void split_rest();

  [[nodiscard]] std::span<const std::string_view> keys() const noexcept { return keys_; }
  // With a CR that does not belong to the key, and as many as keys.
  [[nodiscard]] std::span<const std::string_view> records() const noexcept {
    return rules_.crlf ? records_ : keys_;
  }
  [[nodiscard]] char end() const noexcept { return rules_.end; }
  [[nodiscard]] std::uint64_t lines() const noexcept { return lines_; }
  [[nodiscard]] std::uint64_t empty() const noexcept { return empty_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  void begin();
  void take(const char* from, const char* to);

  line_rules rules_;
  bool at_start_ = true;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t kept_ = 0;  // bytes of a line without its end, at the beginning of the buffer
  std::size_t left_ = 0;  // where they are until the next piece comes
  record_ends ends_;
  std::vector<std::string_view> keys_;
  std::vector<std::string_view> records_;
  std::uint64_t lines_ = 0;
  std::uint64_t empty_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace bloomery::web
