// Eight 64-bit numbers in two AVX2 vectors, for kernels that gain without a 64-bit multiply: what
// they need of eight_scalar.hpp, where operations are explained. Included with AVX2 switched on.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace bloomery::kernel {

namespace {

// The order of the 32-bit halves of four numbers in which the numbers of a mask come first.
struct alignas(32) half_places {
  std::uint32_t place[8];
};

constexpr half_places make_places(unsigned mask) noexcept {
  half_places table{};
  std::size_t n = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    if (((mask >> i) & 1U) == 0) continue;
    table.place[n++] = 2 * i;
    table.place[n++] = 2 * i + 1;
  }
  return table;
}

inline constexpr half_places places_of_mask[16] = {
    make_places(0),  make_places(1),  make_places(2),  make_places(3),
    make_places(4),  make_places(5),  make_places(6),  make_places(7),
    make_places(8),  make_places(9),  make_places(10), make_places(11),
    make_places(12), make_places(13), make_places(14), make_places(15)};

struct two_fours {
  static constexpr bool is_vector = true;

  __m256i low;
  __m256i high;

  [[gnu::always_inline]] static two_fours load(const std::uint64_t* from) noexcept {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)),
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 4))};
  }
  [[gnu::always_inline]] static two_fours all(std::uint64_t value) noexcept {
    const __m256i four = _mm256_set1_epi64x(static_cast<long long>(value));
    return {four, four};
  }
  [[gnu::always_inline]] static two_fours gather(const std::uint64_t* words,
                                                 two_fours index) noexcept {
    return {four_words(words, index.low), four_words(words, index.high)};
  }

  [[gnu::always_inline]] void store(std::uint64_t* to) const noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 4), high);
  }
  [[gnu::always_inline]] void store_some(unsigned mask, std::uint64_t* to) const noexcept {
    store_four(low, mask & 15U, to);
    store_four(high, mask >> 4U, to + __builtin_popcount(mask & 15U));
  }

  [[gnu::always_inline]] friend two_fours operator+(two_fours a, two_fours b) noexcept {
    return {_mm256_add_epi64(a.low, b.low), _mm256_add_epi64(a.high, b.high)};
  }
  [[gnu::always_inline]] friend two_fours operator&(two_fours a, two_fours b) noexcept {
    return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)};
  }
  [[gnu::always_inline]] friend two_fours operator<<(two_fours a, unsigned by) noexcept {
    return {_mm256_slli_epi64(a.low, static_cast<int>(by)),
            _mm256_slli_epi64(a.high, static_cast<int>(by))};
  }
  [[gnu::always_inline]] friend two_fours operator>>(two_fours a, unsigned by) noexcept {
    return {_mm256_srli_epi64(a.low, static_cast<int>(by)),
            _mm256_srli_epi64(a.high, static_cast<int>(by))};
  }
  [[gnu::always_inline]] friend two_fours operator<<(two_fours a, two_fours by) noexcept {
    return {_mm256_sllv_epi64(a.low, by.low), _mm256_sllv_epi64(a.high, by.high)};
  }
  [[gnu::always_inline]] friend two_fours operator>>(two_fours a, two_fours by) noexcept {
    return {_mm256_srlv_epi64(a.low, by.low), _mm256_srlv_epi64(a.high, by.high)};
  }
  [[gnu::always_inline]] friend two_fours operator*(two_fours a, two_fours b) noexcept {
    const two_fours crossed = multiply_low_halves(a >> 32, b) + multiply_low_halves(a, b >> 32);
    return multiply_low_halves(a, b) + (crossed << 32);
  }
  [[gnu::always_inline]] friend two_fours multiply_high_short(two_fours a, two_fours b) noexcept {
    return (multiply_low_halves(a >> 32, b) + (multiply_low_halves(a, b) >> 32)) >> 32;
  }
  [[gnu::always_inline]] friend two_fours least_of(two_fours a, two_fours b) noexcept {
    return {least_of_four(a.low, b.low), least_of_four(a.high, b.high)};
  }
  [[gnu::always_inline]] friend unsigned meet(two_fours a, two_fours b) noexcept {
    const two_fours both = a & b;
    return ~(zeros(both.low) | zeros(both.high) << 4U) & 0xffU;
  }

 private:
  [[gnu::always_inline]] static two_fours multiply_low_halves(two_fours a, two_fours b) noexcept {
    return {_mm256_mul_epu32(a.low, b.low), _mm256_mul_epu32(a.high, b.high)};
  }
  [[gnu::always_inline]] static unsigned zeros(__m256i four) noexcept {
    const __m256i equal = _mm256_cmpeq_epi64(four, _mm256_setzero_si256());
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
  }
  // AVX2 compares signed numbers only: with the uppermost bit inverted these have the same order.
  [[gnu::always_inline]] static __m256i least_of_four(__m256i a, __m256i b) noexcept {
    const __m256i turn = _mm256_set1_epi64x(INT64_MIN);
    const __m256i more = _mm256_cmpgt_epi64(_mm256_xor_si256(a, turn), _mm256_xor_si256(b, turn));
    return _mm256_blendv_epi8(a, b, more);
  }
  [[gnu::always_inline]] static void store_four(__m256i four, unsigned mask,
                                                std::uint64_t* to) noexcept {
    const auto* const places = reinterpret_cast<const __m256i*>(&places_of_mask[mask]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_permutevar8x32_epi32(four, _mm256_load_si256(places)));
  }
  // By four loads: faster than the gather instruction (see eight_avx512.hpp).
  [[gnu::always_inline]] static __m256i four_words(const std::uint64_t* words,
                                                   __m256i index) noexcept {
    const auto two = [&](__m128i at) __attribute__((always_inline)) {
      const __m128i first =
          _mm_loadl_epi64(reinterpret_cast<const __m128i*>(words + _mm_cvtsi128_si64(at)));
      const auto* const second = reinterpret_cast<const double*>(words + _mm_extract_epi64(at, 1));
      return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(first), second));
    };
    return _mm256_inserti128_si256(_mm256_castsi128_si256(two(_mm256_castsi256_si128(index))),
                                   two(_mm256_extracti128_si256(index, 1)), 1);
  }
};

}  // namespace

}  // namespace bloomery::kernel
