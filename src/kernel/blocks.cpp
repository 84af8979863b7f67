#include "blocks.hpp"

#include <algorithm>
#include <bit>

#include "bloomery/core/block_geometry.hpp"
#include "dispatch.hpp"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the undefined registers in its own AVX-512 header for a mistake of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#define BLOOMERY_X86 1
#endif

namespace bloomery::kernel {

namespace {

// Below this a row is in the cache anyway, and asking ahead for its lines would only cost.
constexpr std::uint64_t cached_blocks = (std::uint64_t{256} << 10U) / 64;
// The lines of the next piece come to the second-level cache while this piece is asked, those of the
// next few keys to the first.
constexpr std::size_t ahead = 6;

// What the instruction sets differ in is the test of one block.
template <auto Covers>
[[gnu::always_inline]] inline std::uint64_t ask(const block_row& row,
                                                std::span<const std::uint64_t> hashes,
                                                const block_mask* masks,
                                                std::span<const std::uint64_t> next) noexcept {
  std::uint64_t found = 0;
  if (row.blocks <= cached_blocks) {
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      found |= std::uint64_t{Covers(masks[i], row.at(hashes[i]))} << i;
    }
    return found;
  }
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (i < next.size()) __builtin_prefetch(row.at(next[i]), 0, 2);
    if (i + ahead < hashes.size()) __builtin_prefetch(row.at(hashes[i + ahead]), 0, 3);
    found |= std::uint64_t{Covers(masks[i], row.at(hashes[i]))} << i;
  }
  return found;
}

void masks_portable(const blocked_probes& probes, std::span<const std::uint64_t> hashes,
                    block_mask* masks) noexcept {
  for (std::size_t i = 0; i < hashes.size(); ++i) masks[i] = probes.mask_of(hashes[i]);
}

bool covers_portable(const block_mask& mask, const std::uint64_t* block) noexcept {
  return mask.covered_by(block);
}

std::uint64_t covered_portable(const block_row& row, std::span<const std::uint64_t> hashes,
                               const block_mask* masks,
                               std::span<const std::uint64_t> next) noexcept {
  return ask<covers_portable>(row, hashes, masks, next);
}

#ifdef BLOOMERY_X86

__attribute__((target("avx2"))) void masks_avx2(const blocked_probes& probes,
                                                std::span<const std::uint64_t> hashes,
                                                block_mask* masks) noexcept {
  const auto* const multipliers =
      reinterpret_cast<const __m256i*>(block_geometry::lane_multiplier.data());
  const __m256i low = _mm256_loadu_si256(multipliers);
  const __m256i high = _mm256_loadu_si256(multipliers + 1);
  const __m256i lane_bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const auto half = [&](__m256i multiplier, __m256i x, std::uint32_t used)
      __attribute__((target("avx2"))) {
    const __m256i wanted = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(used)), lane_bit);
    const __m256i one = _mm256_srli_epi32(_mm256_cmpeq_epi32(wanted, lane_bit), 31);
    return _mm256_sllv_epi32(one, _mm256_srli_epi32(_mm256_mullo_epi32(x, multiplier), 27));
  };
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const __m256i x = _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(hashes[i])));
    const std::uint32_t used = probes.lanes_of(hashes[i]);
    auto* const out = reinterpret_cast<__m256i*>(masks[i].words.data());
    _mm256_storeu_si256(out, half(low, x, used));
    _mm256_storeu_si256(out + 1, half(high, x, used >> 8U));
  }
}

__attribute__((target("avx2"))) inline bool covers_avx2(const block_mask& mask,
                                                        const std::uint64_t* block) noexcept {
  const auto* const wanted = reinterpret_cast<const __m256i*>(mask.words.data());
  const auto* const there = reinterpret_cast<const __m256i*>(block);
  return (_mm256_testc_si256(_mm256_loadu_si256(there), _mm256_loadu_si256(wanted)) &
          _mm256_testc_si256(_mm256_loadu_si256(there + 1), _mm256_loadu_si256(wanted + 1))) != 0;
}

__attribute__((target("avx2"))) std::uint64_t covered_avx2(
    const block_row& row, std::span<const std::uint64_t> hashes, const block_mask* masks,
    std::span<const std::uint64_t> next) noexcept {
  return ask<covers_avx2>(row, hashes, masks, next);
}

__attribute__((target("avx512f"))) void masks_avx512(const blocked_probes& probes,
                                                     std::span<const std::uint64_t> hashes,
                                                     block_mask* masks) noexcept {
  const __m512i multipliers = _mm512_loadu_si512(block_geometry::lane_multiplier.data());
  const __m512i one = _mm512_set1_epi32(1);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const __m512i x = _mm512_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(hashes[i])));
    const __m512i bit = _mm512_srli_epi32(_mm512_mullo_epi32(x, multipliers), 27);
    const auto used = static_cast<__mmask16>(probes.lanes_of(hashes[i]));
    _mm512_storeu_si512(masks[i].words.data(), _mm512_maskz_sllv_epi32(used, one, bit));
  }
}

__attribute__((target("avx512f"))) inline bool covers_avx512(const block_mask& mask,
                                                             const std::uint64_t* block) noexcept {
  const __m512i missing =
      _mm512_andnot_si512(_mm512_loadu_si512(block), _mm512_loadu_si512(mask.words.data()));
  return _mm512_test_epi64_mask(missing, missing) == 0;
}

__attribute__((target("avx512f"))) std::uint64_t covered_avx512(
    const block_row& row, std::span<const std::uint64_t> hashes, const block_mask* masks,
    std::span<const std::uint64_t> next) noexcept {
  return ask<covers_avx512>(row, hashes, masks, next);
}

#endif

struct block_kernels {
  decltype(&masks_portable) masks = masks_portable;
  decltype(&covered_portable) covered = covered_portable;
};

const block_kernels& chosen() noexcept {
  static const block_kernels kernels = [] {
#ifdef BLOOMERY_X86
    const level l = chosen_level();
    if (l == level::avx512) return block_kernels{masks_avx512, covered_avx512};
    if (l == level::avx2) return block_kernels{masks_avx2, covered_avx2};
#endif
    return block_kernels{};
  }();
  return kernels;
}

}  // namespace

void make_masks(const blocked_probes& probes, std::span<const std::uint64_t> hashes,
                block_mask* masks) noexcept {
  chosen().masks(probes, hashes, masks);
}

std::uint64_t covered(const block_row& row, std::span<const std::uint64_t> hashes,
                      const block_mask* masks, std::span<const std::uint64_t> next) noexcept {
  return chosen().covered(row, hashes, masks, next);
}

}  // namespace bloomery::kernel
