// The lines and the stash of a scalable filter (detail/bits/split_lines.hpp), owned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/detail/bits/split_lines.hpp"

namespace bloomery::detail {

class split_table {
 public:
  split_table() = default;
  // All calls that need memory throw errc::no_memory, with nothing changed, when there is none.
  split_table(std::uint64_t lines, std::uint32_t cell_bits);
  explicit split_table(const split_lines& other);

  [[nodiscard]] split_lines view() const noexcept;
  // Cells and slots in use.
  [[nodiscard]] std::uint64_t entries() const noexcept { return used_ + stashed_; }

  // Adds those of the keys that are not contained, one after the other. Ends before the one that
  // would be stored beyond `most`, and before and after one for which the stash becomes larger.
  struct added {
    std::size_t done = 0;
    std::uint64_t stored = 0;
  };
  added add(std::span<const std::uint64_t> hashes, std::uint64_t most);
  // Puts a key that is not contained where it belongs; put_in_line only if that is its line.
  void put(std::uint64_t hash);
  [[nodiscard]] bool put_in_line(std::uint64_t hash) noexcept;
  // The same for many, by a kernel: put(the words of the lines) returns how many cells it appended.
  template <class Put>
  std::uint64_t put_in_lines(Put put) {
    const std::uint64_t cells = put(lines_.words().data());
    used_ += cells;
    return cells;
  }
  // The same keys in twice as many lines.
  [[nodiscard]] split_table doubled() const;
  // Puts the keys of one with as many lines, but for those that are contained for certain. A cell
  // that finds its line full becomes one with the cell that is most like it: what is not a key of
  // either may fit it, so lines should rarely be full.
  void put_all(const split_lines& other);

 private:
  // Puts a cell at the end of a line; false when it is full.
  bool append(std::uint64_t line, std::uint32_t cell) noexcept;
  [[nodiscard]] bool stash_is_full() const noexcept;  // as full as it may be
  // Puts a key whose line is full into the stash, or has a cell of the line fit it.
  void stash(std::uint64_t hash);
  void place(std::uint64_t hash) noexcept;

  word_cells cells_{16};
  bit_array lines_;
  bit_array slots_;
  std::uint64_t used_ = 0;
  std::uint64_t stashed_ = 0;
};

[[nodiscard]] std::uint64_t cells_used(const split_lines& table) noexcept;
// The chance that a random hash finds a fingerprint, over the lines as they are.
[[nodiscard]] double split_rate(const split_lines& table) noexcept;

}  // namespace bloomery::detail
