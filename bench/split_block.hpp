// The fastest layout of other libraries: blocks of 256 bits, of which a key sets one bit in each of eight lanes. Putze,
// Sanders and Singler 2007; Parquet and Impala have it with multipliers, Boost.Bloom with shifts. Here as these
// libraries do it, in programs that are built for AVX2 and in those that are built for any x86-64.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/core/arithmetic.hpp"

namespace bloomery::bench {

// 10.53 bits a key for 1 %.
class split_block {
 public:
  explicit split_block(std::size_t keys)
      : blocks_(static_cast<std::uint64_t>(static_cast<double>(keys) * 10.53) / 256 + 1),
        lines_(blocks_ / 2 + 1) {}

 protected:
  struct alignas(64) line {
    std::uint32_t lanes[16];
  };
  // One multiplication to mix, one for the block and one for the bits.
  struct place {
    std::size_t lane;
    std::uint64_t rest;
  };
  [[gnu::always_inline]] [[nodiscard]] place place_of(std::uint64_t key) const {
    const std::uint64_t hash = detail::multiply_fold(key, 0x9fb21c651e98df25U) | 1U;
    return {detail::multiply_high(hash, blocks_) * 8, hash * 0xd1342543de82ef95U};
  }
  [[nodiscard]] const std::uint32_t* lanes() const { return lines_.data()->lanes; }
  [[nodiscard]] std::uint32_t* lanes() { return lines_.data()->lanes; }

 private:
  std::uint64_t blocks_;
  std::vector<line> lines_;
};

class split_block_avx2 : public split_block {
 public:
  static constexpr const char* name = "split_block_avx2";

  [[gnu::target("avx2")]] explicit split_block_avx2(std::span<const std::uint64_t> keys)
      : split_block(keys.size()) {
    for (const std::uint64_t key : keys) {
      const place p = place_of(key);
      auto* const block = reinterpret_cast<__m256i*>(lanes() + p.lane);
      *block = _mm256_or_si256(*block, mask_of(p.rest));
    }
  }
  [[gnu::target("avx2")]] [[nodiscard]] std::uint64_t count(
      std::span<const std::uint64_t> keys) const {
    std::uint64_t found = 0;
    for (const std::uint64_t key : keys) {
      const place p = place_of(key);
      const __m256i block = *reinterpret_cast<const __m256i*>(lanes() + p.lane);
      found += static_cast<std::uint64_t>(_mm256_testc_si256(block, mask_of(p.rest)));
    }
    return found;
  }

 private:
  // Five bits of each 32, at four places of the hash.
  [[gnu::target("avx2"), gnu::always_inline]] static __m256i mask_of(std::uint64_t rest) {
    const __m256i all = _mm256_set1_epi64x(static_cast<long long>(rest));
    const __m256i shifted = _mm256_sllv_epi64(all, _mm256_setr_epi64x(0, 5, 10, 15));
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(shifted, 27));
  }
};

class split_block_sse2 : public split_block {
 public:
  static constexpr const char* name = "split_block_sse2";

  explicit split_block_sse2(std::span<const std::uint64_t> keys) : split_block(keys.size()) {
    for (const std::uint64_t key : keys) {
      const place p = place_of(key);
      const masks m(p.rest);
      auto* const block = reinterpret_cast<__m128i*>(lanes() + p.lane);
      block[0] = _mm_or_si128(block[0], m.low);
      block[1] = _mm_or_si128(block[1], m.high);
    }
  }
  [[nodiscard]] std::uint64_t count(std::span<const std::uint64_t> keys) const {
    std::uint64_t found = 0;
    for (const std::uint64_t key : keys) {
      const place p = place_of(key);
      const masks m(p.rest);
      const auto* const block = reinterpret_cast<const __m128i*>(lanes() + p.lane);
      const __m128i missing =
          _mm_or_si128(_mm_andnot_si128(block[0], m.low), _mm_andnot_si128(block[1], m.high));
      const __m128i none = _mm_cmpeq_epi8(missing, _mm_setzero_si128());
      found += _mm_movemask_epi8(none) == 0xffff ? 1U : 0U;
    }
    return found;
  }

 private:
  // SSE2 cannot shift each lane by its own number: five bits go to the exponent of a float, which becomes a power of 2.
  struct masks {
    [[gnu::always_inline]] explicit masks(std::uint64_t rest) {
      const auto half = static_cast<long long>(rest);
      const __m128i bits = _mm_set_epi64x(static_cast<long long>(rest << 5U), half);
      low = power(bits);
      high = power(_mm_slli_si128(bits, 2));
    }
    [[gnu::always_inline]] static __m128i power(__m128i bits) {
      const __m128i exponent = _mm_and_si128(bits, _mm_set1_epi32(0x0f800000));
      return _mm_cvttps_epi32(
          _mm_castsi128_ps(_mm_add_epi32(exponent, _mm_set1_epi32(0x3f800000))));
    }
    __m128i low;
    __m128i high;
  };
};

}  // namespace bloomery::bench

#endif
