// The geometry of a 64-byte block: 16 lanes of 32 bits, at most one bit of a key in each lane.
//
//   lane      0        1        2                 15
//          +--------+--------+--------+-- ... --+--------+
//          | 32 bit | 32 bit | 32 bit |         | 32 bit |   512 bits, one cache line
//          +--------+--------+--------+-- ... --+--------+
//
// A key with k probes uses k of the lanes: the pattern P[k], rotated by four bits of the hash. The
// patterns come from an exhaustive search over the exact false-positive rate: two keys of one block
// should share as few lanes as possible at every relative rotation. A contiguous window of k lanes
// gives up to 11 % more false positives. In core, because both the positions (hash/probe.hpp) and
// the exact model (core/sizing.hpp) follow from it. Frozen: files depend on every number here.
//
// A split block is half as large: lanes 0 to 7 alone, with their multipliers, and a key has a bit
// in each of them. So there is no pattern and no rotation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bloomery::block_geometry {

inline constexpr std::uint32_t lanes = 16;
inline constexpr std::uint32_t lane_bits = 32;
inline constexpr std::uint32_t split_lanes = 8;

// lane_pattern[k]: bit i is set when lane i belongs to the pattern of k probes.
inline constexpr std::array<std::uint16_t, 17> lane_pattern = {
    0x0000, 0x0001, 0x0003, 0x000b, 0x0053, 0x0153, 0x02b3, 0x053b, 0x0a6f,
    0x0b77, 0x177b, 0x1dbf, 0x2eff, 0x5dff, 0x3fff, 0x7fff, 0xffff};

// Odd, one for each lane: the top five bits of x * multiplier choose the bit in the lane.
alignas(64) inline constexpr std::array<std::uint32_t, 16> lane_multiplier = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
    0xd1b54a33, 0x6c8e944d, 0xb5297a4d, 0x1b56c4e9, 0xe7037ed1, 0x3c6ef373, 0xf39cc061, 0x82a2b175};

// The same patterns as lists of lanes: the first k entries of pattern_lanes[k].
using lane_list = std::array<std::uint8_t, lanes>;

namespace detail {

constexpr std::array<lane_list, lanes + 1> list_lanes() noexcept {
  std::array<lane_list, lanes + 1> lists{};
  for (std::uint32_t k = 0; k <= lanes; ++k) {
    std::size_t next = 0;
    for (std::uint8_t lane = 0; lane < lanes; ++lane) {
      if (((lane_pattern[k] >> lane) & 1U) != 0) lists[k][next++] = lane;
    }
  }
  return lists;
}

}  // namespace detail

inline constexpr std::array<lane_list, lanes + 1> pattern_lanes = detail::list_lanes();

}  // namespace bloomery::block_geometry
