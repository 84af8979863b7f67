// The mapping of one blocked filter as a plain value, with no pointer into the host's tables, so
// that it can be a kernel's argument; tests/gpu holds it against blocked_probes.
#pragma once

#include <bit>
#include <cstdint>

#include "bloomery/detail/hash/block_arithmetic.hpp"

namespace bloomery::detail {

// lane_bit less `by`, modulo 32: turning the lane right by so many places brings the key's bit to
// place `by`. A thread that tests several lanes collects their bits so with one operation less.
[[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint32_t lane_turn(std::uint64_t hash,
                                                                     std::uint32_t multiplier,
                                                                     std::uint32_t by) noexcept {
  return (static_cast<std::uint32_t>(hash) * multiplier - (by << 27U)) >> 27U;
}

struct block_map {
  std::uint64_t blocks = 0;
  std::uint64_t places = 0;   // the lanes of the pattern, four bits each, the first in the lowest
  std::uint32_t pattern = 0;  // twice, one after the other, so that a shift rotates it
  std::uint32_t probes = 0;
  std::uint32_t fuller = 0;  // bit r: keys of rotation r have more lanes in the upper half; twice
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
    for (std::uint32_t rotation = 0; rotation < block_geometry::lanes; ++rotation) {
      const std::uint32_t lanes = pattern >> rotation;
      if (std::popcount(lanes & 0xff00U) > std::popcount(lanes & 0xffU)) {
        fuller |= 0x10001U << rotation;
      }
    }
  }

  [[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint64_t block_of(
      std::uint64_t hash) const noexcept {
    return block_number(hash, blocks);
  }
  // Bit i is set when the key has lane first + i; bits 16 to 31 say the same again. The pattern
  // comes round after sixteen, so that the rotation needs no mask.
  [[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint32_t lanes_of(
      std::uint64_t hash, std::uint32_t first = 0) const noexcept {
    const std::uint32_t by = ((static_cast<std::uint32_t>(hash) >> 16U) + first) % 32;
    return pattern >> by | pattern << (32 - by) % 32;
  }
  // The half of the block, 0 or 1, that has more of the key's lanes. Whoever tests it first needs
  // the other one for fewer of the absent keys: with six probes for 5 % of them instead of 14 %.
  [[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint32_t fuller_half(
      std::uint64_t hash) const noexcept {
    return fuller >> (static_cast<std::uint32_t>(hash) >> 16U) % 32 & 1U;
  }
  // The lane of probe j.
  [[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint32_t lane_of(
      std::uint64_t hash, std::uint32_t j) const noexcept {
    return rotated_lane(static_cast<std::uint32_t>(places >> (4 * j)), pattern_rotation(hash));
  }
};

}  // namespace bloomery::detail
