// mix64 (hash/hash.hpp) of eight keys with AVX-512. Included by the files for AVX-512 after they have switched it
// on, and each has its own.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace bloomery::kernel {

namespace {

// low64(p) ^ high64(p) of p = (key ^ seed) * m, times another constant. AVX-512 has no high half of a 64-bit
// product, so it is put together from four 32-bit ones.
struct vector_mixer {
  explicit vector_mixer(std::uint64_t spread_seed) noexcept
      : seed(_mm512_set1_epi64(static_cast<long long>(spread_seed))) {}

  [[gnu::always_inline]] [[nodiscard]] __m512i operator()(__m512i key) const noexcept {
    const __m512i low_half = _mm512_set1_epi64(0xffffffff);
    const __m512i m = _mm512_set1_epi64(static_cast<long long>(0x9fb21c651e98df25U));
    const __m512i m_high = _mm512_set1_epi64(0x9fb21c65);
    const __m512i a = _mm512_xor_si512(key, seed);
    const __m512i a_high = _mm512_srli_epi64(a, 32);
    const __m512i low_low = _mm512_mul_epu32(a, m);
    const __m512i high_low = _mm512_mul_epu32(a_high, m);
    const __m512i low_high = _mm512_mul_epu32(a, m_high);
    const __m512i high_high = _mm512_mul_epu32(a_high, m_high);
    // Neither sum overflows: (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
    const __m512i middle = _mm512_add_epi64(high_low, _mm512_srli_epi64(low_low, 32));
    const __m512i middle2 = _mm512_add_epi64(low_high, _mm512_and_si512(middle, low_half));
    const __m512i high = _mm512_add_epi64(
        high_high, _mm512_add_epi64(_mm512_srli_epi64(middle, 32), _mm512_srli_epi64(middle2, 32)));
    const __m512i low = _mm512_mullo_epi64(a, m);
    const __m512i factor = _mm512_set1_epi64(static_cast<long long>(0xd6e8feb86659fd93U));
    return _mm512_mullo_epi64(_mm512_xor_si512(low, high), factor);
  }

  __m512i seed;
};

}  // namespace

}  // namespace bloomery::kernel
