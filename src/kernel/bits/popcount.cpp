#include "popcount.hpp"

#include <bit>
#include <span>

#if defined(__x86_64__)
#if !defined(__clang__)
// GCC 12 takes the undefined registers in its own AVX-512 header for a mistake of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

#include "bloomery/bits/bit_array.hpp"

namespace bloomery {

namespace kernel {

namespace {

// Four sums: one would be a chain of additions, and slower than reading from the cache.
template <class Word>
[[gnu::always_inline]] inline std::uint64_t sum_of_ones(std::size_t size, Word word) noexcept {
  std::uint64_t sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (std::size_t n = 0; n < 4; ++n) {
      sums[n] += static_cast<std::uint64_t>(std::popcount(word(i + n)));
    }
  }
  for (; i < size; ++i) sums[0] += static_cast<std::uint64_t>(std::popcount(word(i)));
  return sums[0] + sums[1] + sums[2] + sums[3];
}

std::uint64_t count_portable(const std::uint64_t* words, std::size_t size) noexcept {
  return sum_of_ones(size, [=](std::size_t i) { return words[i]; });
}

std::uint64_t count_union_portable(const std::uint64_t* a, const std::uint64_t* b,
                                   std::size_t size) noexcept {
  return sum_of_ones(size, [=](std::size_t i) { return a[i] | b[i]; });
}

constexpr popcount_kernels portable = {count_portable, count_union_portable};

#if defined(__x86_64__)
// Every machine with AVX2 has it. 31 GB/s from memory on a Zen 4: reading has 33, without it 2.6.
// From the cache it is the slower one: what is left over by the loops below is counted by it.
[[gnu::target("popcnt")]] std::uint64_t count_popcnt(const std::uint64_t* words,
                                                     std::size_t size) noexcept {
  return sum_of_ones(
      size, [=](std::size_t i) __attribute__((always_inline)) { return words[i]; });
}

[[gnu::target("popcnt")]] std::uint64_t count_union_popcnt(const std::uint64_t* a,
                                                           const std::uint64_t* b,
                                                           std::size_t size) noexcept {
  return sum_of_ones(
      size, [=](std::size_t i) __attribute__((always_inline)) { return a[i] | b[i]; });
}

// From here on a template for both calls: what is counted is a, or a | b.
template <bool Union>
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i load_four(const std::uint64_t* a,
                                                                     const std::uint64_t* b,
                                                                     std::size_t i) noexcept {
  const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + i));
  if constexpr (!Union) return x;
  return _mm256_or_si256(x, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + i)));
}

// The ones of each of four words, by a table of those of four bits.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i ones_of_four(__m256i x) noexcept {
  const __m256i low_nibble = _mm256_set1_epi8(0x0f);
  const __m256i ones =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m256i low = _mm256_shuffle_epi8(ones, _mm256_and_si256(x, low_nibble));
  const __m256i high =
      _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16(x, 4), low_nibble));
  return _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
}

// Counts 2^Level vectors from word i on as adders do, a column of bits at a time (Harley and Seal;
// Mula, Kurz and Lemire 2018): what is left over stays in `columns`, column n being worth 2^n, and
// the carry, worth 2^Level, is returned. One vector of sixteen is counted by the table then.
template <int Level, bool Union>
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i carry_of(const std::uint64_t* a,
                                                                    const std::uint64_t* b,
                                                                    std::size_t i,
                                                                    __m256i* columns) noexcept {
  if constexpr (Level == 0) {
    return load_four<Union>(a, b, i);
  } else {
    constexpr std::size_t half = std::size_t{4} << (Level - 1);
    const __m256i x = carry_of<Level - 1, Union>(a, b, i, columns);
    const __m256i y = carry_of<Level - 1, Union>(a, b, i + half, columns);
    const __m256i sum = columns[Level - 1];
    const __m256i either = _mm256_xor_si256(sum, x);
    columns[Level - 1] = _mm256_xor_si256(either, y);
    return _mm256_or_si256(_mm256_and_si256(sum, x), _mm256_and_si256(either, y));
  }
}

template <bool Union>
[[gnu::target("avx2,popcnt")]] std::uint64_t count_avx2(const std::uint64_t* a,
                                                        const std::uint64_t* b,
                                                        std::size_t size) noexcept {
  constexpr int levels_of_adders = 4;
  constexpr std::size_t step = std::size_t{4} << levels_of_adders;
  __m256i columns[levels_of_adders] = {_mm256_setzero_si256(), _mm256_setzero_si256(),
                                       _mm256_setzero_si256(), _mm256_setzero_si256()};
  __m256i total = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + step <= size; i += step) {
    const __m256i carry = carry_of<levels_of_adders, Union>(a, b, i, columns);
    total = _mm256_add_epi64(total, ones_of_four(carry));
  }
  for (int level = levels_of_adders; level-- > 0;) {
    total = _mm256_add_epi64(_mm256_slli_epi64(total, 1), ones_of_four(columns[level]));
  }
  std::uint64_t sums[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), total);
  const std::uint64_t rest =
      Union ? count_union_popcnt(a + i, b + i, size - i) : count_popcnt(a + i, size - i);
  return sums[0] + sums[1] + sums[2] + sums[3] + rest;
}

// Ice Lake, Zen 4 and later processors have an instruction that counts the bits of each word.
template <bool Union>
[[gnu::target("avx512f,avx512vpopcntdq,popcnt")]] std::uint64_t count_avx512(
    const std::uint64_t* a, const std::uint64_t* b, std::size_t size) noexcept {
  constexpr std::size_t vectors = 4;
  __m512i sums[vectors] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                           _mm512_setzero_si512()};
  std::size_t i = 0;
  for (; i + vectors * 8 <= size; i += vectors * 8) {
    for (std::size_t n = 0; n < vectors; ++n) {
      __m512i x = _mm512_loadu_si512(a + i + n * 8);
      if constexpr (Union) x = _mm512_or_si512(x, _mm512_loadu_si512(b + i + n * 8));
      sums[n] = _mm512_add_epi64(sums[n], _mm512_popcnt_epi64(x));
    }
  }
  std::uint64_t words[8];
  _mm512_storeu_si512(words, _mm512_add_epi64(_mm512_add_epi64(sums[0], sums[1]),
                                              _mm512_add_epi64(sums[2], sums[3])));
  std::uint64_t count =
      Union ? count_union_popcnt(a + i, b + i, size - i) : count_popcnt(a + i, size - i);
  for (const std::uint64_t word : words) count += word;
  return count;
}

constexpr popcount_kernels by_adders = {[](const std::uint64_t* words, std::size_t size) noexcept {
                                          return count_avx2<false>(words, nullptr, size);
                                        },
                                        count_avx2<true>};
constexpr popcount_kernels by_instruction = {
    [](const std::uint64_t* words, std::size_t size) noexcept {
      return count_avx512<false>(words, nullptr, size);
    },
    count_avx512<true>};
#endif

}  // namespace

const popcount_kernels& popcount_kernels_of(level l) noexcept {
  switch (l) {
#if defined(__x86_64__)
    case level::avx2: return by_adders;
    case level::avx512:
      return __builtin_cpu_supports("avx512vpopcntdq") != 0 ? by_instruction : by_adders;
#endif
    default: return portable;
  }
}

const popcount_kernels& popcount_kernels_chosen() noexcept {
  static const popcount_kernels& kernels = popcount_kernels_of(chosen_level());
  return kernels;
}

}  // namespace kernel

std::uint64_t count_bits(std::span<const std::uint64_t> words) noexcept {
  return kernel::popcount_kernels_chosen().count(words.data(), words.size());
}

}  // namespace bloomery
