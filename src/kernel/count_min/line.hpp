// Counters of a key in one line of 64 bytes: sixteen lanes of 32 bits as in a block of
// detail/core/block_geometry.hpp, of which row j has those from j * q on, q = 16 / rows.
#pragma once

#include <cstdint>

#include "bloomery/detail/core/block_geometry.hpp"

namespace bloomery::kernel {

template <class Word>
struct counter_lines {
  Word* words = nullptr;  // behind the preamble
  std::uint64_t lines = 0;
  std::uint32_t row = 0;  // counters of a row in a line
  std::uint32_t rows = 0;
  std::uint32_t cell_log = 0;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return lines * 64; }
};

// The counter of row j in the line of a hash, j * row + 0 to row - 1. The product has 30 bits.
[[gnu::always_inline]] constexpr inline std::uint32_t counter_in_line(std::uint64_t hash,
                                                                      std::uint32_t j,
                                                                      std::uint32_t row) noexcept {
  const std::uint32_t mixed = static_cast<std::uint32_t>(hash) * block_geometry::lane_multiplier[j];
  return j * row + (((mixed >> 8U) * row) >> 24U);
}

}  // namespace bloomery::kernel
