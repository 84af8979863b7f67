// How the generations of a windowed filter share lines, from its shape; filter/windowed.hpp has the
// picture. In core, because the filter and the exact model follow from it.
#pragma once

#include <cstdint>

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/core/block_geometry.hpp"

namespace bloomery::detail {

// With more generations in a line a lane would have a single position for each.
inline constexpr std::uint32_t most_sharing = block_geometry::lane_bits / 2;

struct window_geometry {
  constexpr window_geometry(std::uint32_t generations, std::uint32_t in_a_line) noexcept
      : slots(generations + 1),
        sharing(in_a_line),
        lines((slots + sharing - 1) / sharing),
        positions(block_geometry::lane_bits / sharing),
        head_lines(1 + (slots + 1) / 2) {}
  constexpr explicit window_geometry(const shape& s) noexcept
      : window_geometry(s.variant, s.cell_bits) {}

  [[nodiscard]] constexpr std::uint64_t blocks(const shape& s) const noexcept {
    const std::uint64_t all = s.bits / bits_per_block;
    return all <= head_lines ? 0 : (all - head_lines) / lines;
  }
  // In which line of a block a slot is. Of a single one without a division.
  [[nodiscard]] constexpr std::uint32_t line_of(std::uint32_t slot) const noexcept {
    return slot < sharing ? 0 : slot / sharing;
  }

  std::uint32_t slots;       // places of the ring, one more than generations in a window
  std::uint32_t sharing;     // how many of them share a line
  std::uint32_t lines;       // of a block
  std::uint32_t positions;   // bits that a slot has in each lane of its line
  std::uint32_t head_lines;  // before the blocks: the clock, and four words for each slot
};

}  // namespace bloomery::detail
