// The lanes of a key for each number of probes and each rotation, worked out beforehand: a load
// costs less than rotating the pattern.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/detail/hash/block_arithmetic.hpp"

namespace bloomery::detail {

inline constexpr std::size_t rotations = block_geometry::lanes;

// The same number in each used lane, a zero in the others.
struct alignas(64) lane_numbers {
  std::array<std::uint32_t, block_geometry::lanes> lanes{};
};

// A used lane and its multiplier, in one load; a list of lanes would take a second one.
struct lane_step {
  std::uint32_t multiplier = 0;
  std::uint32_t lane = 0;
};
using lane_steps = std::array<lane_step, block_geometry::lanes>;

// The tables of one number of probes.
struct lane_tables {
  explicit lane_tables(std::uint32_t k) noexcept;

  const lane_numbers* ones;
  const lane_numbers* unused;
  const lane_numbers* floats;
  const lane_steps* steps;
  std::uint32_t probes;
};

// The counters of `width` bits (2, 4, 8, 16) in a lane. Made once for a filter, so that vectors of
// these numbers come from memory, by one instruction each.
struct counter_cells {
  // NOLINTNEXTLINE(google-explicit-constructor): a width says all
  constexpr counter_cells(std::uint32_t bits) noexcept
      : width(bits), places(~(bits - 1)), most(UINT32_MAX >> (32U - bits)) {}

  std::uint32_t width;
  std::uint32_t places;  // a bit's number and this is where its counter begins
  std::uint32_t most;    // the value at which a counter sticks
};

// A lane that several generations share (filter/windowed.hpp). Each has a plane of it, so many
// neighbouring bits, and a key has the same place in all planes:
//
//     5 planes of    31 30  29    24  23    18  17    12  11     6  5      0
//     6 positions   |  0  | plane 4 | plane 3 | plane 2 | plane 1 | plane 0 |
//
// So shifting a lane down by that place brings the key's bit in each plane to where the plane
// begins, and an AND over the lanes says of all generations at once which have the key.
struct lane_planes {
  std::uint32_t positions = block_geometry::lane_bits;
  std::uint32_t first = 1;  // the first bits of the planes that are asked, or of the one added to

  // All bits of these planes.
  [[nodiscard]] constexpr std::uint32_t bits() const noexcept {
    return first * (UINT32_MAX >> (32U - positions));
  }
};

// The rotation of a key, which is the index into the tables of its number of probes.
[[nodiscard]] constexpr std::size_t rotation_of(std::uint64_t hash) noexcept {
  return pattern_rotation(hash);
}

// Lanes are loaded and stored as numbers; blocks are little-endian on every machine.
[[gnu::always_inline]] [[nodiscard]] inline std::uint32_t load_lane(const std::uint64_t* block,
                                                                    std::size_t lane) noexcept {
  std::uint32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const unsigned char*>(block) + lane * 4, sizeof value);
  return std::endian::native == std::endian::little ? value : __builtin_bswap32(value);
}

[[gnu::always_inline]] inline void store_lane(std::uint64_t* block, std::size_t lane,
                                              std::uint32_t value) noexcept {
  if constexpr (std::endian::native != std::endian::little) value = __builtin_bswap32(value);
  std::memcpy(reinterpret_cast<unsigned char*>(block) + lane * 4, &value, sizeof value);
}

}  // namespace bloomery::detail
