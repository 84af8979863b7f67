// Finds records in a text that end with a certain byte: lines, mostly.
//
// memchr has a cost for each call, and lines are short: splitting 30 million lines of 28 bytes
// takes 0.25 s with memchr and 0.05 s this way, which compares 64 bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace bloomery {

// The positions of ends in a text of less than 4 GiB. The object reuses its memory.
class record_ends {
 public:
  // Finds all ends and returns their number; end(i) is the position of number i, ascending.
  std::size_t find(std::string_view text, char end);
  [[nodiscard]] std::uint32_t end(std::size_t i) const noexcept { return positions_[i]; }

 private:
  std::unique_ptr<std::uint32_t[]> positions_;
  std::size_t capacity_ = 0;
};

// The number of ends, and of those that end a record which is not empty.
struct record_count {
  std::size_t all = 0;
  std::size_t not_empty = 0;
};
[[nodiscard]] record_count count_records(std::string_view text, char end) noexcept;

}  // namespace bloomery
