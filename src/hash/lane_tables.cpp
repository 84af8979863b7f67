// The tables of the lanes, which the compiler works out once here: in a header they took a sixth of
// the time that all of Bloomery's headers take to compile.
#include "bloomery/detail/hash/lane_tables.hpp"

#include <array>

namespace bloomery::detail {

namespace {

template <class Entry>
using table_of_lanes = std::array<std::array<Entry, rotations>, block_geometry::lanes + 1>;

constexpr table_of_lanes<lane_numbers> make_lane_numbers(std::uint32_t number,
                                                         std::uint32_t other = 0) noexcept {
  table_of_lanes<lane_numbers> table{};
  for (std::size_t k = 1; k <= block_geometry::lanes; ++k) {
    for (std::size_t r = 0; r < rotations; ++r) {
      for (std::size_t l = 0; l < block_geometry::lanes; ++l) {
        const std::size_t place = (l + r) % rotations;
        const bool used = ((std::uint32_t{block_geometry::lane_pattern[k]} >> place) & 1U) != 0;
        table[k][r].lanes[l] = used ? number : other;
      }
    }
  }
  return table;
}

constexpr table_of_lanes<lane_steps> make_lane_steps() noexcept {
  table_of_lanes<lane_steps> table{};
  for (std::size_t k = 1; k <= block_geometry::lanes; ++k) {
    for (std::size_t r = 0; r < rotations; ++r) {
      for (std::size_t j = 0; j < k; ++j) {
        const std::uint32_t lane =
            rotated_lane(block_geometry::pattern_lanes[k][j], static_cast<std::uint32_t>(r));
        table[k][r][j] = {.multiplier = block_geometry::lane_multiplier[lane], .lane = lane};
      }
    }
  }
  return table;
}

// A one in each used lane, which shifted by the bit's number becomes the key's mask. For machines
// that cannot shift lanes apart there is the float -1 as well: with n added to its exponent, -2^n.
constexpr table_of_lanes<lane_numbers> ones_of_lanes = make_lane_numbers(1);
constexpr table_of_lanes<lane_numbers> floats_of_lanes = make_lane_numbers(0xbf800000U);
// The lanes that the key does not use, where an AND must find ones.
constexpr table_of_lanes<lane_numbers> unused_lanes = make_lane_numbers(0, UINT32_MAX);
constexpr table_of_lanes<lane_steps> steps_of_lanes = make_lane_steps();

}  // namespace

lane_tables::lane_tables(std::uint32_t k) noexcept
    : ones(ones_of_lanes[k].data()),
      unused(unused_lanes[k].data()),
      floats(floats_of_lanes[k].data()),
      steps(steps_of_lanes[k].data()),
      probes(k) {}

}  // namespace bloomery::detail
