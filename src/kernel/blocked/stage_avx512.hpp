// How AVX-512 kernels stage eight keys and answer for 64. Included after the instruction set has
// been switched on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/core/arithmetic.hpp"
#include "kernel/wide/eight_avx512.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

namespace {

// Masks go straight from and to memory. Read through a general register they take the shift unit,
// the busiest here; written so, GCC gathers eight in a vector first (1.10 against 0.78 ns a key).
[[gnu::always_inline]] inline __mmask16 load_mask(const std::uint16_t& from) noexcept {
  __mmask16 mask = 0;
  asm("kmovw %1, %0" : "=k"(mask) : "m"(from));
  return mask;
}
[[gnu::always_inline]] inline void store_mask(std::uint16_t& to, __mmask16 mask) noexcept {
  asm("kmovw %1, %0" : "=m"(to) : "k"(mask));
}

// The first words of the blocks of eight keys.
[[gnu::always_inline]] inline void place_words(eight hashes, std::uint64_t blocks,
                                               std::uint64_t stride, key_ring& ring,
                                               std::size_t slot) noexcept {
  if (blocks >> 32U != 0) [[unlikely]] {  // 128 GiB of split blocks, 256 of others
    for (std::size_t i = slot * group; i < (slot + 1) * group; ++i) {
      ring.word[i] = detail::multiply_high(ring.hash[i], blocks) * stride;
    }
    return;
  }
  const eight block = multiply_high_short(hashes, eight::all(blocks));
  _mm512_store_si512(&ring.word[slot * group], _mm512_mul_epu32(block.v, eight::all(stride).v));
}

// Eight keys to their hashes. Isa::place puts them into the ring.
template <class Isa>
class avx512_hashes {
 public:
  explicit avx512_hashes(std::uint64_t spread_seed) noexcept : seed_(eight::all(spread_seed)) {}

  template <bool Mixed>
  [[gnu::always_inline]] void stage(const std::uint64_t* keys, key_ring& ring,
                                    std::size_t slot) const noexcept {
    const eight given = eight::load(keys);
    static_cast<const Isa&>(*this).place(Mixed ? mix64(given, seed_) : given, ring, slot);
  }
  [[gnu::always_inline]] [[nodiscard]] eight::half_mixed half_mixed(
      const std::uint64_t* keys) const noexcept {
    return {eight::load(keys), seed_};
  }

 private:
  eight seed_;
};

// Turning the mask of one key into one bit takes as long as making it, so the masks of 64 keys are
// laid down and become a word of the bitmap together.
template <class Isa>
struct vector_asking {
  static constexpr int write = 0;
  const std::uint64_t* words;
  std::uint64_t* bitmap;

  // The zeroes that fill up the last group are looked up, too: they have a block like any key.
  [[gnu::always_inline]] void visit(const Isa& isa, key_ring& ring, std::size_t g,
                                    std::size_t) const noexcept {
    for (std::size_t i = 0; i < group; i += Isa::keys_in_mask) {
      const std::size_t at = g % ring_groups * group + i;
      store_mask(ring.missing[at / Isa::keys_in_mask], isa.missing(ring, at, words));
    }
    // One word late: what was just stored in pieces stalls a load as one vector.
    if (g % 8 == 7 && g > 8) bitmap[g / 8 - 1] = answer(ring, g / 8 - 1);
  }
  [[gnu::always_inline]] void done(const Isa&, const key_ring& ring,
                                   std::size_t count) const noexcept {
    // The last word that is full, if visit has not written it, and the one after it.
    const std::size_t full = count / 64;
    if (full > 0) bitmap[full - 1] = answer(ring, full - 1);
    const std::size_t rest = count % 64;
    if (rest != 0) bitmap[full] = answer(ring, full) & ~(~std::uint64_t{0} << rest);
  }

 private:
  [[gnu::always_inline]] static std::uint64_t answer(const key_ring& ring,
                                                     std::size_t word) noexcept {
    return Isa::answers(ring, word * 8 % ring_groups * group);
  }
};

}  // namespace

// One group is placed while the next is mixed and the one after half mixed. In one piece these are
// a long chain that fills the scheduler's queue: 1.25 against 1.17 ns a key in the second level.
template <class Isa>
  requires requires(const Isa& isa, const std::uint64_t* keys) { isa.half_mixed(keys); }
class stager<Isa, true> {
 public:
  static constexpr std::size_t delay = 2;

  [[gnu::always_inline]] explicit stager(const Isa& isa) noexcept : isa_(isa) {}
  [[gnu::always_inline]] void operator()(const std::uint64_t* keys, key_ring& ring,
                                         std::size_t slot) noexcept {
    isa_.place(mixed_, ring, slot);
    mixed_ = half_.mixed();
    half_ = isa_.half_mixed(keys);
  }

 private:
  const Isa& isa_;
  eight::half_mixed half_{eight{}, eight{}};
  eight mixed_{};
};

}  // namespace bloomery::kernel
