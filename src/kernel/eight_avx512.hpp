// Eight 64-bit numbers at a time in one AVX-512 vector; eight_scalar.hpp says what each operation does. Included
// after the instruction set has been switched on.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace bloomery::kernel {

namespace {

struct eight {
  __m512i v;

  [[gnu::always_inline]] static eight load(const std::uint64_t* from) noexcept {
    return {_mm512_loadu_si512(from)};
  }
  [[gnu::always_inline]] static eight all(std::uint64_t value) noexcept {
    return {_mm512_set1_epi64(static_cast<long long>(value))};
  }
  [[gnu::always_inline]] static eight gather(const std::uint64_t* words, eight index) noexcept {
    return {_mm512_i64gather_epi64(index.v, words, 8)};
  }

  [[gnu::always_inline]] void store(std::uint64_t* to) const noexcept {
    _mm512_storeu_si512(to, v);
  }
  // Compressed in a register: the form that compresses on its way to memory takes a Zen 4 a hundred cycles.
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

  // AVX-512 has no upper half of a 64-bit product, so it is put together from four 32-bit ones. No sum
  // overflows: (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
  [[gnu::always_inline]] friend eight multiply_high(eight a, eight b) noexcept {
    const eight a_high = a >> 32;
    const eight b_high = b >> 32;
    const eight middle = multiply_low_halves(a_high, b) + (multiply_low_halves(a, b) >> 32);
    const eight middle2 = multiply_low_halves(a, b_high) + (middle & all(0xffffffff));
    return multiply_low_halves(a_high, b_high) + (middle >> 32) + (middle2 >> 32);
  }
  [[gnu::always_inline]] friend eight multiply_high_short(eight a, eight b) noexcept {
    return (multiply_low_halves(a >> 32, b) + (multiply_low_halves(a, b) >> 32)) >> 32;
  }
  [[gnu::always_inline]] friend eight least(eight a, eight b) noexcept {
    return {_mm512_min_epu64(a.v, b.v)};
  }

  [[gnu::always_inline]] friend unsigned equal(eight a, eight b) noexcept {
    return _mm512_cmpeq_epi64_mask(a.v, b.v);
  }
  [[gnu::always_inline]] friend unsigned meet(eight a, eight b) noexcept {
    return _mm512_test_epi64_mask(a.v, b.v);
  }
  [[gnu::always_inline]] friend unsigned nonzero(eight a) noexcept { return meet(a, a); }

  // The constants are those of bloomery::mix64.
  [[gnu::always_inline]] friend eight mix64(eight keys, eight spread_seed) noexcept {
    const eight a = keys ^ spread_seed;
    const eight m = all(0x9fb21c651e98df25U);
    return ((a * m) ^ multiply_high(a, m)) * all(0xd6e8feb86659fd93U);
  }

 private:
  // Of the lower 32 bits of each.
  [[gnu::always_inline]] static eight multiply_low_halves(eight a, eight b) noexcept {
    return {_mm512_mul_epu32(a.v, b.v)};
  }
};

}  // namespace

}  // namespace bloomery::kernel
