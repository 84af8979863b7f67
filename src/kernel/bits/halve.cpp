#include "halve.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bloomery::kernel {

namespace {

constexpr std::uint64_t even = 0x5555555555555555U;

// Bits 0, 2, 4, ... of a word, moved together into its lower half.
constexpr std::uint64_t even_bits(std::uint64_t x) noexcept {
  x &= even;
  x = (x | (x >> 1U)) & 0x3333333333333333U;
  x = (x | (x >> 2U)) & 0x0f0f0f0f0f0f0f0fU;
  x = (x | (x >> 4U)) & 0x00ff00ff00ff00ffU;
  x = (x | (x >> 8U)) & 0x0000ffff0000ffffU;
  return (x | (x >> 16U)) & 0x00000000ffffffffU;
}

void halve_portable(const std::uint64_t* from, std::uint64_t* to, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t low = from[2 * i];
    const std::uint64_t high = from[2 * i + 1];
    to[i] = even_bits(low | (low >> 1U)) | (even_bits(high | (high >> 1U)) << 32U);
  }
}

#if defined(__x86_64__)
// A table turns four bits into two; two bytes become one. Three times as fast as pext on a Zen 4.
__attribute__((target("avx2"))) void halve_avx2(const std::uint64_t* from, std::uint64_t* to,
                                                std::size_t count) noexcept {
  const __m256i low_nibble = _mm256_set1_epi8(0x0f);
  // Bit 0 is bit 0 or 1 of the index, bit 1 is bit 2 or 3.
  const __m256i pairs =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 1, 2, 3, 3, 3, 2, 3, 3, 3, 2, 3, 3, 3));
  const __m256i pairs_high = _mm256_slli_epi16(pairs, 2);
  const __m256i join = _mm256_set1_epi16(0x1001);  // the second byte of two times 16
  const auto halved = [&](const std::uint64_t* words) __attribute__((target("avx2"))) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
    const __m256i low = _mm256_shuffle_epi8(pairs, _mm256_and_si256(x, low_nibble));
    const __m256i high =
        _mm256_shuffle_epi8(pairs_high, _mm256_and_si256(_mm256_srli_epi16(x, 4), low_nibble));
    return _mm256_maddubs_epi16(_mm256_or_si256(low, high), join);
  };
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const __m256i packed = _mm256_packus_epi16(halved(from + 2 * i), halved(from + 2 * i + 4));
    // Packing goes by halves of the vectors: their quarters are in the order 0, 2, 1, 3.
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm256_permute4x64_epi64(packed, 0xd8));
  }
  halve_portable(from + 2 * i, to + i, count - i);
}
#endif

}  // namespace

halve_kernel halve_kernel_of(level l) noexcept {
  switch (l) {
#if defined(__x86_64__)
    case level::avx2:
    case level::avx512: return halve_avx2;
#endif
    default: return halve_portable;
  }
}

void halve(const std::uint64_t* from, std::uint64_t* to, std::size_t count) noexcept {
  static const halve_kernel chosen = halve_kernel_of(chosen_level());
  chosen(from, to, count);
}

}  // namespace bloomery::kernel
