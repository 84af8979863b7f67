// The blocked kernels with AVX-512: a block is one vector. Eight keys are hashed and their blocks
// found at a time; then, for each key, x times the sixteen multipliers, the top five bits of each
// product, a one shifted by them, and a test of the lanes that the key uses.
#if defined(__x86_64__)

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the undefined registers in its own AVX-512 header for a mistake of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "blocked.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/detail/hash/lane_tables.hpp"
#include "bloomery/hash/hash.hpp"

// From here to the end of the file, and for nothing that is included above.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,bmi2"))), \
                                 apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512bw,bmi2")
#endif

#include "kernel/wide/eight_avx512.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

namespace {

// Masks go straight from and to memory. Read by way of a general register they take the shift unit
// for a cycle, and that is the busiest one here; written that way, GCC gathers eight of them in a
// vector first, which takes longer than all the rest (1.10 against 0.78 ns a key).
[[gnu::always_inline]] inline __mmask16 load_mask(const std::uint16_t& from) noexcept {
  __mmask16 mask = 0;
  asm("kmovw %1, %0" : "=k"(mask) : "m"(from));
  return mask;
}
[[gnu::always_inline]] inline void store_mask(std::uint16_t& to, __mmask16 mask) noexcept {
  asm("kmovw %1, %0" : "=m"(to) : "k"(mask));
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

// Everything that bits and counters have in common.
class avx512_lanes : public avx512_hashes<avx512_lanes> {
 public:
  // Measured: at 2.5 MB it makes no difference whether lines are called once or twice.
  static constexpr std::uint64_t cached_bytes = std::uint64_t{5} << 19U;

  template <class Word>
  avx512_lanes(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : avx512_hashes(spread_seed),
        blocks_(array.blocks),
        stride_(array.stride),
        multipliers_(_mm512_loadu_si512(block_geometry::lane_multiplier.data())),
        patterns_(_mm512_loadu_si512(detail::patterns_of_lanes[array.probes].data())) {}

  [[gnu::always_inline]] void place(eight hashes, key_ring& ring, std::size_t slot) const noexcept {
    const __m512i hash = hashes.v;
    _mm512_store_si512(&ring.hash[slot * group], hash);
    // Every 16 bits of the hashes look for a pattern, and the second of each are the ones that
    // count.
    const __m512i lanes = _mm512_permutexvar_epi16(hash, patterns_);
    const __m128i second = _mm_setr_epi16(1, 5, 9, 13, 17, 21, 25, 29);
    _mm_store_si128(
        reinterpret_cast<__m128i*>(&ring.lanes[slot * group]),
        _mm512_castsi512_si128(_mm512_permutexvar_epi16(_mm512_castsi128_si512(second), lanes)));
    if (blocks_ >> 32U != 0) [[unlikely]] {  // 256 GiB and more
      for (std::size_t i = slot * group; i < (slot + 1) * group; ++i) {
        ring.word[i] = detail::multiply_high(ring.hash[i], blocks_) * stride_;
      }
      return;
    }
    const __m512i blocks = _mm512_set1_epi64(static_cast<long long>(blocks_));
    const __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(hash, blocks), 32);
    const __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(hash, 32), blocks);
    const __m512i block = _mm512_srli_epi64(_mm512_add_epi64(low, high), 32);
    const __m512i stride = _mm512_set1_epi64(static_cast<long long>(stride_));
    _mm512_store_si512(&ring.word[slot * group], _mm512_mul_epu32(block, stride));
  }

 protected:
  // The number of the bit in every lane, used or not.
  [[gnu::always_inline]] [[nodiscard]] __m512i bits_of(const key_ring& ring,
                                                       std::size_t at) const noexcept {
    const __m512i x =
        _mm512_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(ring.hash[at])));
    return _mm512_srli_epi32(_mm512_mullo_epi32(x, multipliers_), 27);
  }

 private:
  std::uint64_t blocks_;
  std::uint64_t stride_;
  __m512i multipliers_;
  __m512i patterns_;
};

class avx512 : public avx512_lanes {
 public:
  using avx512_lanes::avx512_lanes;

  // The lanes, used or not, where the block lacks the key's bit.
  [[gnu::always_inline]] [[nodiscard]] __mmask16 missing(
      const key_ring& ring, std::size_t at, const std::uint64_t* block) const noexcept {
    return _mm512_testn_epi32_mask(mask_of(ring, at), _mm512_loadu_si512(block));
  }

  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    // The shift drops the lanes that are not used, so that the block can come straight from memory
    // into the OR.
    const __m512i mask =
        _mm512_maskz_sllv_epi32(load_mask(ring.lanes[at]), _mm512_set1_epi32(1), bits_of(ring, at));
    _mm512_storeu_si512(block, _mm512_or_si512(mask, _mm512_loadu_si512(block)));
  }

  [[gnu::always_inline]] [[nodiscard]] bool set_new(const key_ring& ring, std::size_t at,
                                                    std::uint64_t* block) const noexcept {
    const __m512i there = _mm512_loadu_si512(block);
    const __m512i mask = mask_of(ring, at);
    const __mmask16 news = _mm512_mask_testn_epi32_mask(load_mask(ring.lanes[at]), mask, there);
    _mm512_storeu_si512(block, _mm512_mask_or_epi32(there, news, there, mask));
    return news != 0;
  }

 private:
  // One bit in every lane, used or not.
  [[gnu::always_inline]] [[nodiscard]] __m512i mask_of(const key_ring& ring,
                                                       std::size_t at) const noexcept {
    return _mm512_sllv_epi32(_mm512_set1_epi32(1), bits_of(ring, at));
  }
};

class avx512_counters : public avx512_lanes {
 public:
  template <class Word>
  avx512_counters(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : avx512_lanes(array, spread_seed),
        most_(_mm512_set1_epi32(static_cast<int>((std::uint32_t{1} << array.width) - 1))),
        places_(_mm512_set1_epi32(-static_cast<int>(array.width))) {}

  // The lanes, used or not, where the key's counter is 0.
  [[gnu::always_inline]] [[nodiscard]] __mmask16 missing(
      const key_ring& ring, std::size_t at, const std::uint64_t* block) const noexcept {
    const __m512i cell = _mm512_sllv_epi32(most_, shifts_of(ring, at));
    return _mm512_testn_epi32_mask(cell, _mm512_loadu_si512(block));
  }

  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    const __m512i there = _mm512_loadu_si512(block);
    const __m512i shift = shifts_of(ring, at);
    const __mmask16 room =
        room_in(there, _mm512_sllv_epi32(most_, shift), load_mask(ring.lanes[at]));
    _mm512_storeu_si512(block, _mm512_mask_add_epi32(there, room, there, one_at(shift)));
  }

  // The block is written in any case: a branch would be mispredicted where absent keys are among
  // the others.
  [[gnu::always_inline]] [[nodiscard]] bool take(const key_ring& ring, std::size_t at,
                                                 std::uint64_t* block) const noexcept {
    const __m512i there = _mm512_loadu_si512(block);
    const __m512i shift = shifts_of(ring, at);
    const __m512i cell = _mm512_sllv_epi32(most_, shift);
    const __mmask16 lanes = load_mask(ring.lanes[at]);
    const bool present = _mm512_mask_testn_epi32_mask(lanes, cell, there) == 0;
    const auto all = static_cast<__mmask16>(-static_cast<int>(present));
    const __mmask16 room = room_in(there, cell, static_cast<__mmask16>(lanes & all));
    _mm512_storeu_si512(block, _mm512_mask_sub_epi32(there, room, there, one_at(shift)));
    return present;
  }

  [[gnu::always_inline]] [[nodiscard]] std::uint64_t least(
      const key_ring& ring, std::size_t at, const std::uint64_t* block) const noexcept {
    const __m512i counters = _mm512_srlv_epi32(_mm512_loadu_si512(block), shifts_of(ring, at));
    return _mm512_mask_reduce_min_epu32(load_mask(ring.lanes[at]),
                                        _mm512_and_si512(counters, most_));
  }

 private:
  [[gnu::always_inline]] [[nodiscard]] __m512i shifts_of(const key_ring& ring,
                                                         std::size_t at) const noexcept {
    return _mm512_and_si512(bits_of(ring, at), places_);
  }
  [[gnu::always_inline]] static __m512i one_at(__m512i shift) noexcept {
    return _mm512_sllv_epi32(_mm512_set1_epi32(1), shift);
  }
  // Those of the lanes whose counter does not stick.
  [[gnu::always_inline]] static __mmask16 room_in(__m512i there, __m512i cell,
                                                  __mmask16 lanes) noexcept {
    return _mm512_mask_cmpneq_epi32_mask(lanes, _mm512_and_si512(there, cell), cell);
  }

  __m512i most_;
  __m512i places_;  // a bit number and this is where its counter begins
};

class avx512_split : public avx512_hashes<avx512_split> {
 public:
  static constexpr std::uint64_t cached_bytes = avx512_lanes::cached_bytes;

  avx512_split(const detail::split_lines& table, std::uint64_t spread_seed) noexcept
      : avx512_hashes(spread_seed), table_(table) {}

  // The place of the lanes in the ring has what stands behind the point, and its last bit is set,
  // see fits.
  [[gnu::always_inline]] void place(eight hash, key_ring& ring, std::size_t slot) const noexcept {
    hash.store(&ring.hash[slot * group]);
    if (table_.lines >> 32U != 0) [[unlikely]] {  // 256 GiB and more
      for (std::size_t i = slot * group; i < (slot + 1) * group; ++i) {
        ring.word[i] = detail::multiply_high(ring.hash[i], table_.lines) * words_per_line;
        ring.lanes[i] = static_cast<std::uint16_t>(table_.rest_of(ring.hash[i]) | 1U);
      }
      return;
    }
    eight behind{};
    const eight line = multiply_short(hash, eight::all(table_.lines), behind);
    (line << 3U).store(&ring.word[slot * group]);
    _mm_store_si128(reinterpret_cast<__m128i*>(&ring.lanes[slot * group]),
                    _mm512_cvtepi64_epi16(((behind >> 48U) | eight::all(1)).v));
  }

  [[gnu::always_inline]] [[nodiscard]] bool fits(const key_ring& ring, std::size_t at,
                                                 const std::uint64_t* line) const noexcept {
    const __m512i cells = _mm512_loadu_si512(line);
    const __m512i rest = _mm512_set1_epi16(static_cast<short>(ring.lanes[at]));
    const __m512i less = _mm512_subs_epu16(cells, _mm512_set1_epi16(1));
    // What split_lines::fits does: (cells ^ rest) & ~(cells ^ less).
    constexpr int differ = (0xf0 ^ 0xcc) & ~(0xf0 ^ 0xaa);
    const __m512i differing = _mm512_ternarylogic_epi64(cells, rest, less, differ);
    return _mm512_testn_epi16_mask(differing, differing) != 0;
  }

 private:
  static constexpr std::size_t words_per_line = detail::split_lines::words_per_line;

  detail::split_lines table_;
};

// Turning the mask of one key into one bit takes as long as making it, so the masks of 64 keys are
// laid down and turned into a word of the bitmap together: a key is contained when no lane that it
// uses is missing.
template <class Isa>
struct vector_asking {
  static constexpr int write = 0;
  const std::uint64_t* words;
  std::uint64_t* bitmap;

  [[gnu::always_inline]] void visit(const Isa& isa, key_ring& ring, std::size_t g) const noexcept {
    ask_group(isa, ring, g);
    // One word late: what has just been stored in pieces cannot be loaded as one vector without a
    // stall.
    if (g % 8 == 7 && g > 8) bitmap[g / 8 - 1] = answer(ring, g / 8 - 1);
  }
  [[gnu::always_inline]] void visit_some(const Isa& isa, key_ring& ring, std::size_t g,
                                         std::size_t) const noexcept {
    ask_group(isa, ring, g);  // the padding, too: it has a block like any key
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
  [[gnu::always_inline]] void ask_group(const Isa& isa, key_ring& ring,
                                        std::size_t g) const noexcept {
    for (std::size_t i = 0; i < group; ++i) {
      const std::size_t at = g % ring_groups * group + i;
      store_mask(ring.missing[at], isa.missing(ring, at, words + ring.word[at]));
    }
  }
  [[gnu::always_inline]] static std::uint64_t answer(const key_ring& ring,
                                                     std::size_t word) noexcept {
    const std::size_t first = word * 8 % ring_groups * group;
    const auto half = [&](std::size_t at) __attribute__((always_inline)) {
      return std::uint64_t{_mm512_testn_epi16_mask(_mm512_load_si512(&ring.missing[at]),
                                                   _mm512_load_si512(&ring.lanes[at]))};
    };
    return half(first) | half(first + 32) << 32U;
  }
};

}  // namespace

// One group is placed while the next is mixed and the one after it half mixed. In one piece these
// are a long chain, whose instructions fill the queue of those that wait for their operands: 1.25
// against 1.17 ns a key in the second-level cache, and no room for prefetching.
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

namespace {

void mix_all(const std::uint64_t* keys, std::size_t count, std::uint64_t spread_seed,
             std::uint64_t* out) noexcept {
  const eight seed = eight::all(spread_seed);
  std::size_t i = 0;
  for (; i + group <= count; i += group) {
    mix64(eight::load(keys + i), seed).store(out + i);
  }
  for (; i < count; ++i) out[i] = mix64(keys[i], spread_seed);
}

}  // namespace

const blocked_kernels blocked_avx512 = {
    contains_run<avx512, vector_asking<avx512>>,
    add_run<avx512>,
    add_new_run<avx512>,
    contains_run<avx512_counters, vector_asking<avx512_counters>>,
    add_run<avx512_counters>,
    remove_run<avx512_counters>,
    count_run<avx512_counters>,
    mix_all,
    contains_split_run<avx512_split>};

}  // namespace bloomery::kernel

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
