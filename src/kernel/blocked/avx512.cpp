// The blocked kernels with AVX-512: a block is one vector. Eight keys are hashed and their blocks
// found at a time; then, for each key, x times the sixteen multipliers, the top five bits of each
// product, a one shifted by them, and a test of the lanes that the key uses.
#if defined(__x86_64__)

#include <array>

#include "blocked.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/detail/hash/listed_lanes.hpp"
#include "bloomery/hash/hash.hpp"

// With AVX-512 from here on.
#include "kernel/target/avx512.hpp"
// These are compiled for it.
#include "bloomery/detail/hash/vector_lanes.hpp"
#include "generic.hpp"
#include "stage_avx512.hpp"

namespace bloomery::kernel {

namespace {

// The lanes that a key uses, as bits, for each number of probes and each rotation. Rotations stand
// twice: the permutation below takes five bits of the hash, of which the fifth is no part of them.
using lane_patterns = std::array<std::uint16_t, std::size_t{2} * block_geometry::lanes>;

constexpr auto make_lane_patterns() noexcept {
  std::array<lane_patterns, block_geometry::lanes + 1> table{};
  for (std::size_t k = 0; k < table.size(); ++k) {
    for (std::size_t r = 0; r < table[k].size(); ++r) {
      table[k][r] = std::rotr(block_geometry::lane_pattern[k], static_cast<int>(r));
    }
  }
  return table;
}

constexpr auto patterns_of_lanes = make_lane_patterns();

// Everything that bits and counters have in common.
class avx512_lanes : public avx512_hashes<avx512_lanes> {
 public:
  // Measured: at 2.5 MB it makes no difference whether lines are prefetched once or twice.
  static constexpr std::uint64_t cached_bytes = std::uint64_t{5} << 19U;
  static constexpr std::size_t keys_in_mask = 1;

  template <class Word>
  avx512_lanes(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : avx512_hashes(spread_seed),
        blocks_(array.blocks),
        stride_(array.stride),
        multipliers_(_mm512_loadu_si512(block_geometry::lane_multiplier.data())),
        patterns_(_mm512_loadu_si512(patterns_of_lanes[array.probes].data())) {}

  [[gnu::always_inline]] void place(eight hashes, key_ring& ring, std::size_t slot) const noexcept {
    const __m512i hash = hashes.v;
    _mm512_store_si512(&ring.hash[slot * group], hash);
    // Each 16 bits of the hashes choose a pattern. A key's own comes from the second 16 bits.
    const __m512i lanes = _mm512_permutexvar_epi16(hash, patterns_);
    const __m128i second = _mm_setr_epi16(1, 5, 9, 13, 17, 21, 25, 29);
    _mm_store_si128(
        reinterpret_cast<__m128i*>(&ring.lanes[slot * group]),
        _mm512_castsi512_si128(_mm512_permutexvar_epi16(_mm512_castsi128_si512(second), lanes)));
    place_words(hashes, blocks_, stride_, ring, slot);
  }

  // A key is contained when no lane of its own is missing.
  [[gnu::always_inline]] static std::uint64_t answers(const key_ring& ring,
                                                      std::size_t first) noexcept {
    const auto half = [&](std::size_t at) __attribute__((always_inline)) {
      return std::uint64_t{_mm512_testn_epi16_mask(_mm512_load_si512(&ring.missing[at]),
                                                   _mm512_load_si512(&ring.lanes[at]))};
    };
    return half(first) | half(first + 32) << 32U;
  }

 protected:
  // The number of the bit in every lane, used or not.
  [[gnu::always_inline]] [[nodiscard]] __m512i bits_of(const key_ring& ring,
                                                       std::size_t at) const noexcept {
    return _mm512_srli_epi32(product_of(ring, at), 27);
  }
  [[gnu::always_inline]] [[nodiscard]] __m512i product_of(const key_ring& ring,
                                                          std::size_t at) const noexcept {
    const __m512i x =
        _mm512_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(ring.hash[at])));
    return _mm512_mullo_epi32(x, multipliers_);
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
      const key_ring& ring, std::size_t at, const std::uint64_t* words) const noexcept {
    return _mm512_testn_epi32_mask(mask_of(ring, at), _mm512_loadu_si512(words + ring.word[at]));
  }

  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    // The shift drops the unused lanes, so that the block can come from memory into the OR.
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

// Generations that share the lanes.
class avx512_planes : public avx512_lanes {
 public:
  template <class Word>
  avx512_planes(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : avx512_lanes(array, spread_seed),
        positions_(_mm512_set1_epi32(static_cast<int>(array.planes.positions << 16U))),
        first_(_mm512_set1_epi32(static_cast<int>(array.planes.first))) {}

  // The lanes with the key's bits where the planes begin; those that it does not use are all ones.
  [[gnu::always_inline]] [[nodiscard]] __m512i shifted(const key_ring& ring, std::size_t at,
                                                       const std::uint64_t* block) const noexcept {
    return _mm512_mask_srlv_epi32(_mm512_set1_epi32(-1), load_mask(ring.lanes[at]),
                                  _mm512_loadu_si512(block), place_of(ring, at));
  }
  // Which of eight qwords have one of the planes' first bits in their lower half.
  [[gnu::always_inline]] [[nodiscard]] unsigned found(__m512i lower) const noexcept {
    return _mm512_test_epi64_mask(lower, _mm512_maskz_mov_epi32(0x5555, first_));
  }

  [[gnu::always_inline]] [[nodiscard]] bool set_new(const key_ring& ring, std::size_t at,
                                                    std::uint64_t* block) const noexcept {
    const __m512i there = _mm512_loadu_si512(block);
    const __m512i mask = _mm512_sllv_epi32(first_, place_of(ring, at));
    const __mmask16 news = _mm512_mask_testn_epi32_mask(load_mask(ring.lanes[at]), mask, there);
    _mm512_storeu_si512(block, _mm512_mask_or_epi32(there, news, there, mask));
    return news != 0;
  }

 private:
  // The upper halves of the products times the positions, without what these leave below.
  [[gnu::always_inline]] [[nodiscard]] __m512i place_of(const key_ring& ring,
                                                        std::size_t at) const noexcept {
    return _mm512_srli_epi32(_mm512_mulhi_epu16(product_of(ring, at), positions_), 16);
  }

  __m512i positions_;  // in the upper half of each lane
  __m512i first_;
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
      const key_ring& ring, std::size_t at, const std::uint64_t* words) const noexcept {
    const __m512i cell = _mm512_sllv_epi32(most_, shifts_of(ring, at));
    return _mm512_testn_epi32_mask(cell, _mm512_loadu_si512(words + ring.word[at]));
  }

  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    const __m512i there = _mm512_loadu_si512(block);
    const __m512i shift = shifts_of(ring, at);
    const __mmask16 room =
        room_in(there, _mm512_sllv_epi32(most_, shift), load_mask(ring.lanes[at]));
    _mm512_storeu_si512(block, _mm512_mask_add_epi32(there, room, there, one_at(shift)));
  }

  // The block is written in any case: a branch would be mispredicted when some keys are absent.
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

// The AND over the lanes of a key takes seven instructions; that of eight keys together takes 24,
// since each step halves the vectors that are left:
//
//     8 vectors of 16 lanes of one key -> 4 of 2 times 8 -> 2 of 4 times 4 -> 1 of 8 times 2
struct planes_asking {
  static constexpr int write = 0;
  const std::uint64_t* words;
  std::uint64_t* bitmap;

  [[gnu::always_inline]] void visit(const avx512_planes& isa, const key_ring& ring, std::size_t g,
                                    std::size_t size) const noexcept {
    const std::size_t at = g % ring_groups * group;
    const auto one = [&](std::size_t i) __attribute__((always_inline)) {
      return isa.shifted(ring, at + i, words + ring.word[at + i]);
    };
    const auto two = [&](std::size_t i) __attribute__((always_inline)) {  // keys i and i + 2
      const __m512i a = one(i);
      const __m512i b = one(i + 2);
      return _mm512_and_si512(_mm512_shuffle_i64x2(a, b, 0x44), _mm512_shuffle_i64x2(a, b, 0xee));
    };
    const auto four = [&](std::size_t i) __attribute__((always_inline)) {  // i, i + 2, i + 4, i + 6
      const __m512i a = two(i);
      const __m512i b = two(i + 4);
      return _mm512_and_si512(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd));
    };
    const __m512i even = four(0);
    const __m512i odd = four(1);
    const __m512i all =
        _mm512_and_si512(_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd));
    const unsigned found = isa.found(_mm512_and_si512(all, _mm512_srli_epi64(all, 32)));
    store_answers(bitmap, g, found & ((1U << size) - 1));
  }
  static void done(const avx512_planes&, const key_ring&, std::size_t) noexcept {}
};

// One key and its counters, as avx512_counters has them. The compiler's vectors know no masks: a
// lookup takes them 38 instructions instead of 27, an addition 39 instead of 28.
struct one_counted_key {
  using tables = detail::lane_tables;
  using cells = detail::counter_cells;

  static bool counted(const tables& t, std::uint64_t hash, const std::uint64_t* block,
                      const cells& c) noexcept {
    const key k(t, hash, c);
    return _mm512_mask_testn_epi32_mask(k.lanes, k.cell, _mm512_loadu_si512(block)) == 0;
  }
  static std::uint32_t least(const tables& t, std::uint64_t hash, const std::uint64_t* block,
                             const cells& c) noexcept {
    const key k(t, hash, c);
    const __m512i counters = _mm512_srlv_epi32(_mm512_loadu_si512(block), k.shift);
    return _mm512_mask_reduce_min_epu32(k.lanes, _mm512_and_si512(counters, k.most));
  }
  static bool increment(const tables& t, std::uint64_t hash, std::uint64_t* block,
                        const cells& c) noexcept {
    const key k(t, hash, c);
    const __m512i there = _mm512_loadu_si512(block);
    _mm512_storeu_si512(block, _mm512_mask_add_epi32(there, k.room_in(there), there, k.one()));
    return _mm512_mask_testn_epi32_mask(k.lanes, k.cell, there) != 0;
  }
  static bool decrement(const tables& t, std::uint64_t hash, std::uint64_t* block,
                        const cells& c) noexcept {
    const key k(t, hash, c);
    const __m512i there = _mm512_loadu_si512(block);
    const bool present = _mm512_mask_testn_epi32_mask(k.lanes, k.cell, there) == 0;
    const auto all = static_cast<__mmask16>(-static_cast<int>(present));
    const auto room = static_cast<__mmask16>(k.room_in(there) & all);
    _mm512_storeu_si512(block, _mm512_mask_sub_epi32(there, room, there, k.one()));
    return present;
  }

 private:
  struct key {
    [[gnu::always_inline]] key(const tables& t, std::uint64_t hash, const cells& c) noexcept
        : lanes(load_mask(patterns_of_lanes[t.probes][detail::rotation_of(hash)])),
          most(_mm512_set1_epi32(static_cast<int>(c.most))),
          shift(shifts_of(hash, c)),
          cell(_mm512_sllv_epi32(most, shift)) {}
    [[gnu::always_inline]] static __m512i shifts_of(std::uint64_t hash, const cells& c) noexcept {
      const __m512i x = _mm512_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(hash)));
      const __m512i multipliers = _mm512_loadu_si512(block_geometry::lane_multiplier.data());
      const __m512i bits = _mm512_srli_epi32(_mm512_mullo_epi32(x, multipliers), 27);
      return _mm512_and_si512(bits, _mm512_set1_epi32(static_cast<int>(c.places)));
    }
    [[gnu::always_inline]] [[nodiscard]] __m512i one() const noexcept {
      return _mm512_sllv_epi32(_mm512_set1_epi32(1), shift);
    }
    // Those of the lanes whose counter does not stick.
    [[gnu::always_inline]] [[nodiscard]] __mmask16 room_in(__m512i there) const noexcept {
      return _mm512_mask_cmpneq_epi32_mask(lanes, _mm512_and_si512(there, cell), cell);
    }

    __mmask16 lanes;
    __m512i most;
    __m512i shift;
    __m512i cell;
  };
};

constexpr detail::lane_calls one_key_calls() noexcept {
  detail::lane_calls calls = one_key<detail::vector_lanes<32>>::calls;
  calls.counted = one_counted_key::counted;
  calls.least = one_counted_key::least;
  calls.increment = one_counted_key::increment;
  calls.decrement = one_counted_key::decrement;
  return calls;
}

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
    contains_run<avx512_planes, planes_asking>,
    add_new_run<avx512_planes>,
    contains_run<avx512_counters, vector_asking<avx512_counters>>,
    add_run<avx512_counters>,
    remove_run<avx512_counters>,
    count_run<avx512_counters>,
    mix_all,
    one_key_calls()};

}  // namespace bloomery::kernel

#include "kernel/target/end.hpp"

#endif
