// How a scalable filter grows: the numbers that the planner and the filter share. It is a table of
// fingerprints whose lines double (detail/bits/split_lines.hpp); docs/math.md has the derivations.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace bloomery::doubling {

// A width of cells, and the keys a line at which the lines double: the most with which at most a
// sixth of the lines is full.
struct line_load {
  std::uint32_t cell_bits;
  std::uint64_t cells;
  std::uint64_t keys;

  // The rate when the lines have doubled so often and all of their cells are in use: a new key has
  // cell_bits - 1 bits. When the lines double, half of their keys have lost one of them since the
  // last time, a quarter two, and so on, and those of the first lines are as many again.
  [[nodiscard]] constexpr double rate(std::uint32_t doublings) const noexcept {
    return (static_cast<double>(cells) + static_cast<double>(keys) * doublings / 2) /
           static_cast<double>(std::uint64_t{1} << (cell_bits - 1));
  }
};

// Cells of 12 bits would have 33 keys a line; with 32 they keep 10 % for ten doublings.
inline constexpr std::array<line_load, 4> loads{
    {{12, 40, 32}, {16, 32, 26}, {21, 24, 19}, {32, 16, 12}}};

// The load of a width that check_shape has allowed.
[[nodiscard]] constexpr const line_load& load_of(std::uint32_t cell_bits) noexcept {
  return *std::ranges::find(loads, cell_bits, &line_load::cell_bits);
}

inline constexpr std::uint64_t head_lines = 1;  // before the lines of an image
inline constexpr std::uint32_t most_doublings = 63;
inline constexpr double least_rate = 1e-7;
inline constexpr double most_rate = 0.1;

}  // namespace bloomery::doubling
