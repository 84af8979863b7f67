// How kernels without a 64-bit multiply stage a group: one key after the other, which with AVX2 is
// faster than products of 32-bit ones. Included after the instruction set is switched on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

namespace {

// mix64 with the product in registers. Between the vectors of this loop GCC 12 sends its halves
// through memory, and bulk calls with AVX2 take 1.57 ns a key instead of 1.43.
[[gnu::always_inline]] inline std::uint64_t mixed(std::uint64_t key,
                                                  std::uint64_t spread_seed) noexcept {
#ifdef __x86_64__
  std::uint64_t low = key ^ spread_seed;
  std::uint64_t high = 0;
  asm("mul %[b]" : "+a"(low), "=d"(high) : [b] "r"(0x9fb21c651e98df25U) : "cc");
  return (low ^ high) * 0xd6e8feb86659fd93U;
#else
  return mix64(key, spread_seed);
#endif
}

class scalar_stage {
 public:
  template <class Word>
  scalar_stage(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : blocks_(array.blocks), stride_(array.stride), spread_seed_(spread_seed) {}

  template <bool Mixed>
  [[gnu::always_inline]] void stage(const std::uint64_t* keys, key_ring& ring,
                                    std::size_t slot) const noexcept {
    for (std::size_t i = 0; i < group; ++i) {
      const std::uint64_t hash = Mixed ? mixed(keys[i], spread_seed_) : keys[i];
      ring.hash[slot * group + i] = hash;
      ring.word[slot * group + i] = detail::multiply_high(hash, blocks_) * stride_;
    }
  }

 private:
  std::uint64_t blocks_;
  std::uint64_t stride_;
  std::uint64_t spread_seed_;
};

inline void mix_each(const std::uint64_t* keys, std::size_t count, std::uint64_t spread_seed,
                     std::uint64_t* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = mix64(keys[i], spread_seed);
}

}  // namespace

}  // namespace bloomery::kernel
