// The lanes of a key for each number of probes and each rotation, worked out beforehand: in the loops over many
// keys a load costs less than rotating the pattern.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bloomery/core/block_geometry.hpp"

namespace bloomery::kernel {

inline constexpr std::size_t rotations = block_geometry::lanes;

// A one in each used lane, a zero in the others: shifted by the bit numbers they are the key's mask.
struct alignas(64) lane_ones {
  std::array<std::uint32_t, block_geometry::lanes> ones{};
};

using lane_ones_table = std::array<std::array<lane_ones, rotations>, block_geometry::lanes + 1>;
using lane_list_table =
    std::array<std::array<block_geometry::lane_list, rotations>, block_geometry::lanes + 1>;

namespace detail_tables {

constexpr lane_ones_table make_ones() noexcept {
  lane_ones_table table{};
  for (std::size_t k = 1; k <= block_geometry::lanes; ++k) {
    for (std::size_t r = 0; r < rotations; ++r) {
      for (std::size_t l = 0; l < block_geometry::lanes; ++l) {
        const std::size_t place = (l + r) % rotations;
        table[k][r].ones[l] = (std::uint32_t{block_geometry::lane_pattern[k]} >> place) & 1U;
      }
    }
  }
  return table;
}

constexpr lane_list_table make_lists() noexcept {
  lane_list_table table{};
  for (std::size_t k = 1; k <= block_geometry::lanes; ++k) {
    for (std::size_t r = 0; r < rotations; ++r) {
      for (std::size_t j = 0; j < k; ++j) {
        const std::size_t lane = block_geometry::pattern_lanes[k][j] + rotations - r;
        table[k][r][j] = static_cast<std::uint8_t>(lane % rotations);
      }
    }
  }
  return table;
}

}  // namespace detail_tables

inline constexpr lane_ones_table ones_of_lanes = detail_tables::make_ones();
inline constexpr lane_list_table lists_of_lanes = detail_tables::make_lists();

// The rotation of a key, which is the index into the tables of its number of probes.
[[nodiscard]] constexpr std::size_t rotation_of(std::uint64_t hash) noexcept {
  return static_cast<std::size_t>((hash >> 16U) % rotations);
}

}  // namespace bloomery::kernel
