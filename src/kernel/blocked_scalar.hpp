// What the blocked kernels without a wide enough multiply have in common: the hash and the block of each key, one
// after the other. On AVX2 this is faster than putting 64-bit products together from 32-bit ones. And blocks and
// counters in the vectors of the compiler, for instruction sets where those are as good as any. Included like
// blocked_loop.hpp, after the instruction set has been switched on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "blocked_loop.hpp"
#include "bloomery/core/arithmetic.hpp"
#include "bloomery/hash/block_lanes.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery::kernel {

namespace {

class scalar_stage {
 public:
  template <class Word>
  scalar_stage(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : blocks_(array.blocks), spread_seed_(spread_seed) {}

  template <bool Mixed>
  [[gnu::always_inline]] void stage(const std::uint64_t* keys, key_ring& ring,
                                    std::size_t slot) const noexcept {
    for (std::size_t i = 0; i < group; ++i) {
      const std::uint64_t hash = Mixed ? mix64(keys[i], spread_seed_) : keys[i];
      ring.hash[slot * group + i] = hash;
      ring.word[slot * group + i] = detail::multiply_high(hash, blocks_) * 8;
    }
  }

 private:
  std::uint64_t blocks_;
  std::uint64_t spread_seed_;
};

// By the calls for one key. `Cached` is the size below which an array is taken to be in the cache.
template <std::uint64_t Cached>
class generic_bits : public scalar_stage {
 public:
  static constexpr std::uint64_t cached_bytes = Cached;

  template <class Word>
  generic_bits(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : scalar_stage(array, spread_seed), tables_(array.probes) {}

  [[gnu::always_inline]] [[nodiscard]] bool covers(const key_ring& ring, std::size_t at,
                                                   const std::uint64_t* block) const noexcept {
    return detail::block_lanes(tables_).covered(ring.hash[at], block);
  }
  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    detail::block_lanes(tables_).set(ring.hash[at], block);
  }

 private:
  detail::lane_tables tables_;
};

template <std::uint64_t Cached>
class generic_counters : public scalar_stage {
 public:
  static constexpr std::uint64_t cached_bytes = Cached;

  template <class Word>
  generic_counters(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : scalar_stage(array, spread_seed), tables_(array.probes), width_(array.width) {}

  [[gnu::always_inline]] [[nodiscard]] bool covers(const key_ring& ring, std::size_t at,
                                                   const std::uint64_t* block) const noexcept {
    return detail::block_lanes(tables_).counted(ring.hash[at], block, width_);
  }
  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    detail::block_lanes(tables_).increment(ring.hash[at], block, width_);
  }
  [[gnu::always_inline]] [[nodiscard]] bool take(const key_ring& ring, std::size_t at,
                                                 std::uint64_t* block) const noexcept {
    return detail::block_lanes(tables_).decrement(ring.hash[at], block, width_);
  }
  [[gnu::always_inline]] [[nodiscard]] std::uint64_t least(
      const key_ring& ring, std::size_t at, const std::uint64_t* block) const noexcept {
    return detail::block_lanes(tables_).least(ring.hash[at], block, width_);
  }

 private:
  detail::lane_tables tables_;
  std::uint32_t width_;
};

void mix_each(const std::uint64_t* keys, std::size_t count, std::uint64_t spread_seed,
              std::uint64_t* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = mix64(keys[i], spread_seed);
}

}  // namespace

}  // namespace bloomery::kernel
