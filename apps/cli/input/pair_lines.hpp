// Lines of a key, a tab and a value, for `map` and `store`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/input/records.hpp"

namespace bloomery::cli {

class line_counter {  // of lines before each chunk, for messages; chunks must come in order
 public:
  std::uint64_t first_line(const chunk& c);

 private:
  std::string file_;
  std::uint64_t lines_ = 0;
};

// The key is what stands before the first tab; a value may have tabs itself. Nothing when there is
// no tab.
struct pair_line {
  std::string_view key;
  std::string_view value;
};
std::optional<pair_line> split_pair(std::string_view line);

// Throw errc::corrupt with the file and the number of this line of the chunk.
[[noreturn]] void throw_bad_line(const chunk& c, std::uint64_t first_line, std::string_view line,
                                 std::string_view what);
[[noreturn]] void throw_no_pair(const chunk& c, std::uint64_t first_line, std::string_view line);

}  // namespace bloomery::cli
