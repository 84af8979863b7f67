// One key and its block of eight 32-bit lanes, in each of which it has one bit. Without a pattern
// of lanes there are no tables: the multipliers are all that a key needs beside its hash.
//
// The forms are those of block_lanes.hpp: lane by lane as docs/format.md says it, in the compiler's
// vectors, and by a call where a program is built for any x86-64 (1M keys, hashing included, on a
// Zen 5: 2.4 ns by the call, 2.5 with SSE2, 4.9 lane by lane). tests/hash/block_lanes_test.cpp
// and tests/kernel hold them to the format's text.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/detail/hash/block_arithmetic.hpp"
#include "bloomery/detail/hash/lane_calls.hpp"
#include "bloomery/detail/hash/lane_tables.hpp"
#include "bloomery/detail/hash/lane_vectors.hpp"

namespace bloomery::detail {

class listed_split_lanes {
 public:
  // Whether test(lane, bit) is true for all lanes, without a branch on the outcome.
  template <class Test>
  [[gnu::always_inline]] static bool all_of(std::uint64_t hash, Test test) noexcept {
    bool all = true;
    for (std::size_t lane = 0; lane < block_geometry::split_lanes; ++lane) {
      all &= test(lane, lane_bit(hash, block_geometry::lane_multiplier[lane]));
    }
    return all;
  }

  [[gnu::always_inline]] [[nodiscard]] static bool covered(std::uint64_t hash,
                                                           const std::uint64_t* block) noexcept {
    return all_of(hash, [block](std::size_t lane, std::uint32_t bit) {
      return (load_lane(block, lane) >> bit & 1U) != 0;
    });
  }
  // True when one of the bits was not set before.
  [[gnu::always_inline]] static bool set(std::uint64_t hash, std::uint64_t* block) noexcept {
    const bool there = all_of(hash, [block](std::size_t lane, std::uint32_t bit) {
      const std::uint32_t before = load_lane(block, lane);
      store_lane(block, lane, before | std::uint32_t{1} << bit);
      return (before >> bit & 1U) != 0;
    });
    return !there;
  }
};

// The same in vectors of 32 or 16 bytes. Always inlined, as lane_vectors.hpp says.
template <std::size_t Bytes>
class vector_split_lanes {
 public:
  [[gnu::always_inline]] [[nodiscard]] static bool covered(std::uint64_t hash,
                                                           const std::uint64_t* block) noexcept {
    if constexpr (Bytes == 32) {
      // One test of the block against the mask, where is_zero would need the missing bits first.
      using words = typename vectors::template vector<long long>;
      return __builtin_ia32_ptestc256(reinterpret_cast<words>(vectors::load(block, 0)),
                                      reinterpret_cast<words>(mask_of(hash, 0))) != 0;
    } else {
      part missing{};
      for (std::size_t i = 0; i < parts; ++i)
        missing |= mask_of(hash, i) & ~vectors::load(block, i);
      return vectors::is_zero(missing);
    }
  }
  [[gnu::always_inline]] static bool set(std::uint64_t hash, std::uint64_t* block) noexcept {
    part missing{};
    for (std::size_t i = 0; i < parts; ++i) {
      const part mask = mask_of(hash, i);
      const part there = vectors::load(block, i);
      missing |= mask & ~there;
      vectors::store(block, i, there | mask);
    }
    return !vectors::is_zero(missing);
  }

 private:
  using vectors = lane_vectors<Bytes>;
  using part = typename vectors::part;
  static constexpr std::size_t parts = block_geometry::split_lanes / vectors::part_lanes;

  [[gnu::always_inline]] static part mask_of(std::uint64_t hash, std::size_t i) noexcept {
    const part product =
        vectors::part_of(block_geometry::lane_multiplier, i) * static_cast<std::uint32_t>(hash);
    if constexpr (vectors::shifts) {
      return vectors::splat(1) << (product >> 27U);
    } else {
      constexpr std::uint32_t minus_one = 0xbf800000U;  // as a float
      return vectors::bits_of_floats(((product >> 4U) & 0x0f800000U) + minus_one);
    }
  }
};

// The form that is inlined.
#if defined(__AVX2__)
using built_split_lanes = vector_split_lanes<32>;
#elif defined(__SSE2__) || defined(__wasm_simd128__) || \
    (defined(__aarch64__) && defined(__AARCH64EL__))
using built_split_lanes = vector_split_lanes<16>;
#else
using built_split_lanes = listed_split_lanes;
#endif

// The form for one key: inlined, unless the machine may have better vectors than the build.
class split_lanes {
 public:
  explicit split_lanes(const split_lane_calls& calls) noexcept : calls_(calls) {}

  [[gnu::always_inline]] [[nodiscard]] bool covered(std::uint64_t hash,
                                                    const std::uint64_t* block) const noexcept {
    return by_call ? calls_.covered(hash, block) : built_split_lanes::covered(hash, block);
  }
  [[gnu::always_inline]] bool set(std::uint64_t hash, std::uint64_t* block) const noexcept {
    return by_call ? calls_.set(hash, block) : built_split_lanes::set(hash, block);
  }

 private:
#if defined(__x86_64__) && !defined(__AVX2__)
  static constexpr bool by_call = true;
#else
  static constexpr bool by_call = false;
#endif

  const split_lane_calls& calls_;
};

}  // namespace bloomery::detail
