// The blocked kernels with AVX2: a block is two vectors. The ones of the used lanes come from a
// table by rotation and are shifted to the bits of the key.
#if defined(__x86_64__)

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
#pragma clang attribute push(__attribute__((target("avx2,bmi2"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi2")
#endif

#include "scalar.hpp"

namespace bloomery::kernel {

namespace {

struct two_halves {
  __m256i low;
  __m256i high;
};

[[gnu::always_inline]] inline __m256i load_half(const void* from, std::size_t half) noexcept {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from) + half);
}

[[gnu::always_inline]] inline void store_halves(std::uint64_t* block,
                                                const two_halves& halves) noexcept {
  auto* const out = reinterpret_cast<__m256i*>(block);
  _mm256_storeu_si256(out, halves.low);
  _mm256_storeu_si256(out + 1, halves.high);
}

[[gnu::always_inline]] inline bool covered(const two_halves& mask,
                                           const std::uint64_t* block) noexcept {
  const __m256i missing = _mm256_or_si256(_mm256_andnot_si256(load_half(block, 0), mask.low),
                                          _mm256_andnot_si256(load_half(block, 1), mask.high));
  return _mm256_testz_si256(missing, missing) != 0;
}

// The numbers of the bits of a key, and ones in the lanes that it uses.
class avx2_lanes : public scalar_stage {
 public:
  // Measured at 1.25 MB: 3.1 ns a key without prefetch, 4.1 with.
  static constexpr std::uint64_t cached_bytes = std::uint64_t{2} << 20U;

  template <class Word>
  avx2_lanes(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : scalar_stage(array, spread_seed),
        ones_(detail::ones_of_lanes[array.probes].data()),
        multipliers_{load_half(block_geometry::lane_multiplier.data(), 0),
                     load_half(block_geometry::lane_multiplier.data(), 1)} {}

 protected:
  [[gnu::always_inline]] [[nodiscard]] two_halves bits_of(std::uint64_t hash) const noexcept {
    const __m256i x = _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(hash)));
    return {_mm256_srli_epi32(_mm256_mullo_epi32(x, multipliers_.low), 27),
            _mm256_srli_epi32(_mm256_mullo_epi32(x, multipliers_.high), 27)};
  }
  [[gnu::always_inline]] [[nodiscard]] two_halves ones_at(std::uint64_t hash,
                                                          const two_halves& bits) const noexcept {
    const detail::lane_numbers& used = ones_[detail::rotation_of(hash)];
    return {_mm256_sllv_epi32(load_half(used.lanes.data(), 0), bits.low),
            _mm256_sllv_epi32(load_half(used.lanes.data(), 1), bits.high)};
  }

 private:
  const detail::lane_numbers* ones_;
  two_halves multipliers_;
};

class avx2 : public avx2_lanes {
 public:
  using avx2_lanes::avx2_lanes;

  [[gnu::always_inline]] [[nodiscard]] bool covers(const key_ring& ring, std::size_t at,
                                                   const std::uint64_t* block) const noexcept {
    return covered(mask_of(ring.hash[at]), block);
  }

  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    const two_halves mask = mask_of(ring.hash[at]);
    store_halves(block, {_mm256_or_si256(load_half(block, 0), mask.low),
                         _mm256_or_si256(load_half(block, 1), mask.high)});
  }

  [[gnu::always_inline]] [[nodiscard]] bool set_new(const key_ring& ring, std::size_t at,
                                                    std::uint64_t* block) const noexcept {
    const bool is_new = !covers(ring, at, block);
    set(ring, at, block);
    return is_new;
  }

  [[gnu::always_inline]] [[nodiscard]] two_halves mask_of(std::uint64_t hash) const noexcept {
    return ones_at(hash, bits_of(hash));
  }
};

// Half a block of counters: a one at each of the key's, and all of their bits. Both are 0 in lanes
// without one.
struct half_counters {
  __m256i there;
  __m256i shift;
  __m256i one;
  __m256i cell;

  [[gnu::always_inline]] [[nodiscard]] __m256i counts() const noexcept {
    return _mm256_and_si256(there, cell);
  }
  // Not 0 when a counter is 0.
  [[gnu::always_inline]] [[nodiscard]] __m256i missing() const noexcept {
    return _mm256_and_si256(_mm256_cmpeq_epi32(counts(), _mm256_setzero_si256()), one);
  }
  // The ones of the counters that do not stick.
  [[gnu::always_inline]] [[nodiscard]] __m256i step() const noexcept {
    return _mm256_andnot_si256(_mm256_cmpeq_epi32(counts(), cell), one);
  }
  // The counters as numbers; where there is none, as great as can be.
  [[gnu::always_inline]] [[nodiscard]] __m256i values() const noexcept {
    return _mm256_or_si256(_mm256_srlv_epi32(counts(), shift),
                           _mm256_cmpeq_epi32(one, _mm256_setzero_si256()));
  }
};

class avx2_counters : public avx2_lanes {
 public:
  template <class Word>
  avx2_counters(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : avx2_lanes(array, spread_seed),
        width_(_mm_cvtsi32_si128(static_cast<int>(array.width))),
        places_(_mm256_set1_epi32(-static_cast<int>(array.width))) {}

  [[gnu::always_inline]] [[nodiscard]] bool covers(const key_ring& ring, std::size_t at,
                                                   const std::uint64_t* block) const noexcept {
    const both_halves key = counters_of(ring.hash[at], block);
    const __m256i missing = _mm256_or_si256(key.low.missing(), key.high.missing());
    return _mm256_testz_si256(missing, missing) != 0;
  }
  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    const both_halves key = counters_of(ring.hash[at], block);
    store_halves(block, {_mm256_add_epi32(key.low.there, key.low.step()),
                         _mm256_add_epi32(key.high.there, key.high.step())});
  }
  // The block is written in any case: a branch would be mispredicted where absent keys are among
  // the others.
  [[gnu::always_inline]] [[nodiscard]] bool take(const key_ring& ring, std::size_t at,
                                                 std::uint64_t* block) const noexcept {
    const both_halves key = counters_of(ring.hash[at], block);
    const __m256i missing = _mm256_or_si256(key.low.missing(), key.high.missing());
    const int present = _mm256_testz_si256(missing, missing);
    const __m256i all = _mm256_set1_epi32(-present);
    store_halves(block, {_mm256_sub_epi32(key.low.there, _mm256_and_si256(key.low.step(), all)),
                         _mm256_sub_epi32(key.high.there, _mm256_and_si256(key.high.step(), all))});
    return present != 0;
  }
  [[gnu::always_inline]] [[nodiscard]] std::uint64_t least(
      const key_ring& ring, std::size_t at, const std::uint64_t* block) const noexcept {
    const both_halves key = counters_of(ring.hash[at], block);
    const __m256i eight = _mm256_min_epu32(key.low.values(), key.high.values());
    __m128i four = _mm_min_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    four = _mm_min_epu32(four, _mm_shuffle_epi32(four, 0x4e));
    four = _mm_min_epu32(four, _mm_shuffle_epi32(four, 0xb1));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(four));
  }

 private:
  struct both_halves {
    half_counters low;
    half_counters high;
  };

  [[gnu::always_inline]] [[nodiscard]] both_halves counters_of(
      std::uint64_t hash, const std::uint64_t* block) const noexcept {
    const two_halves bits = bits_of(hash);
    const two_halves shifts = {_mm256_and_si256(bits.low, places_),
                               _mm256_and_si256(bits.high, places_)};
    const two_halves ones = ones_at(hash, shifts);
    return {{load_half(block, 0), shifts.low, ones.low, cells(ones.low)},
            {load_half(block, 1), shifts.high, ones.high, cells(ones.high)}};
  }
  [[gnu::always_inline]] [[nodiscard]] __m256i cells(__m256i ones) const noexcept {
    return _mm256_sub_epi32(_mm256_sll_epi32(ones, width_), ones);
  }

  __m128i width_;
  __m256i places_;  // a bit number and this is where its counter begins
};

}  // namespace

const blocked_kernels blocked_avx2 = {contains_run<avx2>,       add_run<avx2>,
                                      add_new_run<avx2>,        contains_run<avx2_counters>,
                                      add_run<avx2_counters>,   remove_run<avx2_counters>,
                                      count_run<avx2_counters>, mix_each};

}  // namespace bloomery::kernel

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
