// Eight 64-bit numbers at a time in one AVX-512 vector; eight_scalar.hpp and one.hpp say what each
// operation does. Included after the instruction set has been switched on.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace bloomery::kernel {

namespace {

struct eight {
  static constexpr bool is_vector = true;
  static constexpr std::size_t width = 8;
  using fitting = eight;

  __m512i v;

  [[gnu::always_inline]] static eight load(const std::uint64_t* from) noexcept {
    return {_mm512_loadu_si512(from)};
  }
  [[gnu::always_inline]] static eight all(std::uint64_t value) noexcept {
    return {_mm512_set1_epi64(static_cast<long long>(value))};
  }
  // By eight loads: on a Zen 4 gathers take twice as long (15.7 against 8.6 ns for seven words).
  [[gnu::always_inline]] static eight gather(const std::uint64_t* words, eight index) noexcept {
    alignas(64) std::uint64_t at[8];
    index.store(at);
    const auto two = [&](std::size_t i) __attribute__((always_inline)) {
      const __m128i low = _mm_loadu_si64(words + at[i]);
      const auto* const high = reinterpret_cast<const double*>(words + at[i + 1]);
      return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(low), high));
    };
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(two(0)), two(2), 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(two(4)), two(6), 1);
    return {_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)};
  }
  // The eight bytes from each of these on.
  [[gnu::always_inline]] static eight gather_bytes(const std::uint64_t* words,
                                                   const std::uint64_t* byte) noexcept {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(words);
    const auto two = [&](std::size_t i) __attribute__((always_inline)) {
      const __m128i low = _mm_loadu_si64(bytes + byte[i]);
      const auto* const high = reinterpret_cast<const double*>(bytes + byte[i + 1]);
      return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(low), high));
    };
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(two(0)), two(2), 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(two(4)), two(6), 1);
    return {_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)};
  }
  // Eight loads and twelve shuffles: a third of the time of four gathers on a Zen 4.
  [[gnu::always_inline]] static void gather_rows(const std::uint64_t* words, eight index,
                                                 eight (&row)[4]) noexcept {
    std::uint64_t at[8];
    index.store(at);
    const auto two = [&](std::size_t i) __attribute__((always_inline)) {
      const auto load = [&](std::size_t k) __attribute__((always_inline)) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + at[k]));
      };
      return _mm512_inserti64x4(_mm512_castsi256_si512(load(i)), load(i + 4), 1);
    };
    const __m512i rows[4] = {two(0), two(1), two(2), two(3)};
    const __m512i even_low = _mm512_unpacklo_epi64(rows[0], rows[1]);
    const __m512i even_high = _mm512_unpacklo_epi64(rows[2], rows[3]);
    const __m512i odd_low = _mm512_unpackhi_epi64(rows[0], rows[1]);
    const __m512i odd_high = _mm512_unpackhi_epi64(rows[2], rows[3]);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    row[0].v = _mm512_permutex2var_epi64(even_low, first, even_high);
    row[1].v = _mm512_permutex2var_epi64(odd_low, first, odd_high);
    row[2].v = _mm512_permutex2var_epi64(even_low, second, even_high);
    row[3].v = _mm512_permutex2var_epi64(odd_low, second, odd_high);
  }

  [[gnu::always_inline]] void store(std::uint64_t* to) const noexcept {
    _mm512_storeu_si512(to, v);
  }
  // Compressed in a register: compressing on the way to memory takes a Zen 4 a hundred cycles.
  [[gnu::always_inline]] void store_some(unsigned mask, std::uint64_t* to) const noexcept {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), v));
  }

  [[gnu::always_inline]] friend eight operator+(eight a, eight b) noexcept {
    return {_mm512_add_epi64(a.v, b.v)};
  }
  [[gnu::always_inline]] friend eight operator-(eight a, eight b) noexcept {
    return {_mm512_sub_epi64(a.v, b.v)};
  }
  [[gnu::always_inline]] friend eight operator*(eight a, eight b) noexcept {
    return {_mm512_mullo_epi64(a.v, b.v)};
  }
  [[gnu::always_inline]] friend eight operator^(eight a, eight b) noexcept {
    return {_mm512_xor_si512(a.v, b.v)};
  }
  [[gnu::always_inline]] friend eight operator&(eight a, eight b) noexcept {
    return {_mm512_and_si512(a.v, b.v)};
  }
  [[gnu::always_inline]] friend eight operator|(eight a, eight b) noexcept {
    return {_mm512_or_si512(a.v, b.v)};
  }
  [[gnu::always_inline]] friend eight operator<<(eight a, unsigned by) noexcept {
    return {_mm512_slli_epi64(a.v, by)};
  }
  [[gnu::always_inline]] friend eight operator>>(eight a, unsigned by) noexcept {
    return {_mm512_srli_epi64(a.v, by)};
  }
  [[gnu::always_inline]] friend eight operator<<(eight a, eight by) noexcept {
    return {_mm512_sllv_epi64(a.v, by.v)};
  }
  [[gnu::always_inline]] friend eight operator>>(eight a, eight by) noexcept {
    return {_mm512_srlv_epi64(a.v, by.v)};
  }

  [[gnu::always_inline]] friend eight multiply_high_short(eight a, eight b) noexcept {
    return (multiply_low_halves(a >> 32, b) + (multiply_low_halves(a, b) >> 32)) >> 32;
  }
  [[gnu::always_inline]] friend eight multiply_short(eight a, eight b, eight& low) noexcept {
    const eight upper = multiply_low_halves(a >> 32, b);
    const eight lower = multiply_low_halves(a, b);
    low = (upper << 32) + lower;
    return (upper + (lower >> 32)) >> 32;
  }
  [[gnu::always_inline]] friend eight least_of(eight a, eight b) noexcept {
    return {_mm512_min_epu64(a.v, b.v)};
  }

  [[gnu::always_inline]] friend unsigned equal(eight a, eight b) noexcept {
    return _mm512_cmpeq_epi64_mask(a.v, b.v);
  }
  [[gnu::always_inline]] friend unsigned meet(eight a, eight b) noexcept {
    return _mm512_test_epi64_mask(a.v, b.v);
  }
  [[gnu::always_inline]] friend unsigned nonzero(eight a) noexcept { return meet(a, a); }

  // AVX-512 has no upper half of a 64-bit product, so it is put together from four 32-bit ones. No
  // sum overflows: (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
  class products {
   public:
    [[gnu::always_inline]] products(eight a, eight b) noexcept
        : low_(_mm512_mul_epu32(a.v, b.v)),
          high_low_(_mm512_mul_epu32((a >> 32).v, b.v)),
          low_high_(_mm512_mul_epu32(a.v, (b >> 32).v)),
          high_(_mm512_mul_epu32((a >> 32).v, (b >> 32).v)) {}

    [[gnu::always_inline]] [[nodiscard]] eight upper_half() const noexcept {
      const eight middle = eight{high_low_} + (eight{low_} >> 32);
      const eight middle2 = eight{low_high_} + (middle & all(0xffffffff));
      return eight{high_} + (middle >> 32) + (middle2 >> 32);
    }

   private:
    __m512i low_;
    __m512i high_low_;
    __m512i low_high_;
    __m512i high_;
  };
  [[gnu::always_inline]] friend eight multiply_high(eight a, eight b) noexcept {
    return products(a, b).upper_half();
  }

  // bloomery::mix64 in two steps: loops that take the second a round later have less to wait for.
  class half_mixed {
   public:
    [[gnu::always_inline]] half_mixed(eight keys, eight spread_seed) noexcept
        : half_mixed(keys ^ spread_seed) {}

    [[gnu::always_inline]] [[nodiscard]] eight mixed() const noexcept {
      return (eight{low_} ^ products_.upper_half()) * all(0xd6e8feb86659fd93U);
    }

   private:
    [[gnu::always_inline]] explicit half_mixed(eight a) noexcept
        : products_(a, all(first_multiplier)), low_((a * all(first_multiplier)).v) {}
    static constexpr std::uint64_t first_multiplier = 0x9fb21c651e98df25U;

    products products_;
    __m512i low_;
  };
  [[gnu::always_inline]] friend eight mix64(eight keys, eight spread_seed) noexcept {
    return half_mixed(keys, spread_seed).mixed();
  }

 private:
  // Of the lower 32 bits of each.
  [[gnu::always_inline]] static eight multiply_low_halves(eight a, eight b) noexcept {
    return {_mm512_mul_epu32(a.v, b.v)};
  }
};

}  // namespace

}  // namespace bloomery::kernel
