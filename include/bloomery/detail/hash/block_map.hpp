// The mapping of one blocked filter as a plain value, with no pointer into the host's tables, so
// that it can be a kernel's argument; tests/gpu holds it against blocked_probes.
#pragma once

#include <cstdint>

#include "bloomery/detail/hash/block_arithmetic.hpp"

namespace bloomery::detail {

struct block_map {
  std::uint64_t blocks = 0;
  std::uint64_t places = 0;   // the lanes of the pattern, four bits each, the first in the lowest
  std::uint32_t pattern = 0;  // twice, one after the other, so that a shift rotates it
  std::uint32_t probes = 0;
  std::uint32_t multipliers[block_geometry::lanes] = {};

  constexpr block_map(std::uint64_t block_count, std::uint32_t k) noexcept
      : blocks(block_count), probes(k) {
    for (std::uint32_t lane = 0; lane < block_geometry::lanes; ++lane) {
      multipliers[lane] = block_geometry::lane_multiplier[lane];
    }
    for (std::uint32_t j = 0; j < k; ++j) {
      places |= std::uint64_t{block_geometry::pattern_lanes[k][j]} << (4 * j);
    }
    const std::uint32_t once = block_geometry::lane_pattern[k];
    pattern = once << 16U | once;
  }

  [[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint64_t block_of(
      std::uint64_t hash) const noexcept {
    return block_number(hash, blocks);
  }
  // Bit i, of sixteen, is set when the key has lane i; the bits above are without meaning.
  [[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint32_t lanes_of(
      std::uint64_t hash) const noexcept {
    return pattern >> pattern_rotation(hash);
  }
  // The lane of probe j.
  [[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint32_t lane_of(
      std::uint64_t hash, std::uint32_t j) const noexcept {
    return rotated_lane(static_cast<std::uint32_t>(places >> (4 * j)), pattern_rotation(hash));
  }
};

}  // namespace bloomery::detail
