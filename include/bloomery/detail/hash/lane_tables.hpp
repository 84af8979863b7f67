// The lanes of a key for each number of probes and each rotation, worked out beforehand: a load
// costs less than rotating the pattern.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bloomery/detail/core/block_geometry.hpp"

namespace bloomery::detail {

inline constexpr std::size_t rotations = block_geometry::lanes;

// The same number in each used lane, a zero in the others.
struct alignas(64) lane_numbers {
  std::array<std::uint32_t, block_geometry::lanes> lanes{};
};

// A used lane and its multiplier: one look into a table less than from a list of lanes.
struct lane_step {
  std::uint32_t multiplier = 0;
  std::uint32_t lane = 0;
};
using lane_steps = std::array<lane_step, block_geometry::lanes>;

template <class Entry>
using table_of_lanes = std::array<std::array<Entry, rotations>, block_geometry::lanes + 1>;

constexpr table_of_lanes<lane_numbers> make_lane_numbers(std::uint32_t number) noexcept {
  table_of_lanes<lane_numbers> table{};
  for (std::size_t k = 1; k <= block_geometry::lanes; ++k) {
    for (std::size_t r = 0; r < rotations; ++r) {
      for (std::size_t l = 0; l < block_geometry::lanes; ++l) {
        const std::size_t place = (l + r) % rotations;
        const bool used = ((std::uint32_t{block_geometry::lane_pattern[k]} >> place) & 1U) != 0;
        table[k][r].lanes[l] = used ? number : 0;
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
        const std::size_t lane = (block_geometry::pattern_lanes[k][j] + rotations - r) % rotations;
        table[k][r][j] = {.multiplier = block_geometry::lane_multiplier[lane],
                          .lane = static_cast<std::uint32_t>(lane)};
      }
    }
  }
  return table;
}

// Ones: shifted by the bit numbers they are the key's mask. And the bits of the float -1, for
// machines that cannot shift each lane by its own number: n added to the exponent makes it -2^n.
inline constexpr table_of_lanes<lane_numbers> ones_of_lanes = make_lane_numbers(1);
inline constexpr table_of_lanes<lane_numbers> floats_of_lanes = make_lane_numbers(0xbf800000U);
inline constexpr table_of_lanes<lane_steps> steps_of_lanes = make_lane_steps();

// The used lanes as bits. Every rotation twice, so that any five bits of a hash are one.
using lane_patterns = std::array<std::uint16_t, 2 * rotations>;

constexpr std::array<lane_patterns, block_geometry::lanes + 1> make_lane_patterns() noexcept {
  std::array<lane_patterns, block_geometry::lanes + 1> table{};
  for (std::size_t k = 0; k < table.size(); ++k) {
    for (std::size_t r = 0; r < table[k].size(); ++r) {
      table[k][r] = std::rotr(block_geometry::lane_pattern[k], static_cast<int>(r));
    }
  }
  return table;
}

inline constexpr std::array<lane_patterns, block_geometry::lanes + 1> patterns_of_lanes =
    make_lane_patterns();

// Which part of x86_lanes.hpp the machine can run.
enum class x86_level : std::uint8_t { none, avx2, avx512 };

[[nodiscard]] inline x86_level best_x86_level() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();  // before main, nobody else may have
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")) return x86_level::none;
  // Not on the first machines with AVX-512, which have no VBMI2: one wide multiplication slows all
  // else down there.
  return __builtin_cpu_supports("avx512vbmi2") ? x86_level::avx512 : x86_level::avx2;
#else
  return x86_level::none;
#endif
}

// The tables of one number of probes. A filter keeps this, and not one of the classes of
// block_lanes.hpp: its layout must not depend on how the program that includes it is built.
struct lane_tables {
  explicit lane_tables(std::uint32_t k, x86_level most = best_x86_level()) noexcept
      : ones(ones_of_lanes[k].data()),
        floats(floats_of_lanes[k].data()),
        patterns(patterns_of_lanes[k].data()),
        steps(steps_of_lanes[k].data()),
        probes(k),
        level(most) {}

  const lane_numbers* ones;
  const lane_numbers* floats;
  const std::uint16_t* patterns;
  const lane_steps* steps;
  std::uint32_t probes;
  std::uint32_t
      // of lanes, twice: shifted by a rotation, it has the lanes of a key in its lower half
      pattern;
  x86_level level;
};

// The rotation of a key, which is the index into the tables of its number of probes.
[[nodiscard]] constexpr std::size_t rotation_of(std::uint64_t hash) noexcept {
  return static_cast<std::size_t>((hash >> 16U) % rotations);
}

// A lane as a number: blocks are little-endian on every machine.
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
