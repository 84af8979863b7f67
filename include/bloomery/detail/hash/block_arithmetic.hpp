// Hash -> block, lanes and bits of a blocked filter: the arithmetic that processors and GPUs share.
// The forms of block_lanes.hpp and block_map.hpp are built on these functions.
#pragma once

#include <cstdint>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/core/block_geometry.hpp"

namespace bloomery::detail {

[[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint64_t block_number(
    std::uint64_t hash, std::uint64_t blocks) noexcept {
  return multiply_high(hash, blocks);
}

// By how much the lanes of a key are those of the pattern, rotated.
[[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint32_t pattern_rotation(
    std::uint64_t hash) noexcept {
  return (static_cast<std::uint32_t>(hash) >> 16U) % block_geometry::lanes;
}

// Where the lane `place` of the pattern is after the rotation.
[[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint32_t rotated_lane(
    std::uint32_t place, std::uint32_t rotation) noexcept {
  return (place + block_geometry::lanes - rotation) % block_geometry::lanes;
}

// The number of the key's bit in the lane with this multiplier.
[[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint32_t lane_bit(
    std::uint64_t hash, std::uint32_t multiplier) noexcept {
  return (static_cast<std::uint32_t>(hash) * multiplier) >> 27U;
}

// Its place in one of the planes of the lane (lane_tables.hpp), which have so many positions: of 32
// it is the bit above.
[[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint32_t lane_place(
    std::uint64_t hash, std::uint32_t multiplier, std::uint32_t positions) noexcept {
  return ((static_cast<std::uint32_t>(hash) * multiplier >> 16U) * positions) >> 16U;
}

}  // namespace bloomery::detail
