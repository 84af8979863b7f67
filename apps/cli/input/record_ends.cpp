#include <bit>
#include <cstring>

#include "bloomery/detail/core/arithmetic.hpp"
#include "cli/input/record_ends_kernel.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace bloomery {

namespace kernel {

namespace {

// From 64 bytes each instruction set makes a word with a bit for each `end`; the loops are shared.

template <auto Mask>
[[gnu::always_inline]] inline std::size_t find_all(const char* text, std::size_t blocks, char end,
                                                   std::uint32_t* out) noexcept {
  std::uint32_t* next = out;
  for (std::size_t b = 0; b < blocks; ++b) {
    std::uint64_t mask = Mask(text + b * record_block, end);
    const auto base = static_cast<std::uint32_t>(b * record_block);
    const int count = std::popcount(mask);
    std::uint32_t* to = next;
    // Writes four positions even if there are fewer: a mispredicted branch costs more than that.
    for (int done = 0; done < count; done += 4) {
      for (int i = 0; i < 4; ++i) {
        *to++ = base + static_cast<std::uint32_t>(std::countr_zero(mask));
        mask &= mask - 1;
      }
    }
    next += count;
  }
  return static_cast<std::size_t>(next - out);
}

template <auto Mask>
[[gnu::always_inline]] inline record_count count_all(const char* text, std::size_t blocks,
                                                     char end) noexcept {
  record_count sum;
  std::uint64_t before = 1;
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint64_t mask = Mask(text + b * record_block, end);
    sum.all += static_cast<std::size_t>(std::popcount(mask));
    sum.not_empty += static_cast<std::size_t>(std::popcount(mask & ~(mask << 1U | before)));
    before = mask >> 63U;
  }
  return sum;
}

// Eight bytes at a time: zeros after the XOR get their top bit set; a multiplication gathers them.
std::uint64_t mask_portable(const char* text, char end) noexcept {
  constexpr std::uint64_t low_bits = 0x7f7f7f7f7f7f7f7fU;
  const std::uint64_t pattern = static_cast<unsigned char>(end) * 0x0101010101010101U;
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, text + i * 8, sizeof word);
    word = detail::little_endian(word) ^ pattern;
    const std::uint64_t zero = ~(((word & low_bits) + low_bits) | word | low_bits) >> 7U;
    mask |= ((zero * 0x0102040810204080U) >> 56U) << (i * 8);
  }
  return mask;
}

std::size_t find_portable(const char* text, std::size_t blocks, char end,
                          std::uint32_t* out) noexcept {
  return find_all<mask_portable>(text, blocks, end, out);
}
record_count count_portable(const char* text, std::size_t blocks, char end) noexcept {
  return count_all<mask_portable>(text, blocks, end);
}

#if defined(__x86_64__)

#define BLOOMERY_AVX2 __attribute__((target("avx2,bmi,popcnt")))
#define BLOOMERY_AVX512 __attribute__((target("avx512f,avx512bw,bmi,popcnt")))

BLOOMERY_AVX2 inline std::uint64_t mask_avx2(const char* text, char end) noexcept {
  const auto half = [&](std::size_t i) BLOOMERY_AVX2 {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + i));
    const int found = _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(end)));
    return std::uint64_t{static_cast<std::uint32_t>(found)};
  };
  return half(0) | half(32) << 32U;
}
BLOOMERY_AVX2 std::size_t find_avx2(const char* text, std::size_t blocks, char end,
                                    std::uint32_t* out) noexcept {
  return find_all<mask_avx2>(text, blocks, end, out);
}
BLOOMERY_AVX2 record_count count_avx2(const char* text, std::size_t blocks, char end) noexcept {
  return count_all<mask_avx2>(text, blocks, end);
}

BLOOMERY_AVX512 inline std::uint64_t mask_avx512(const char* text, char end) noexcept {
  return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(text), _mm512_set1_epi8(end));
}
BLOOMERY_AVX512 std::size_t find_avx512(const char* text, std::size_t blocks, char end,
                                        std::uint32_t* out) noexcept {
  return find_all<mask_avx512>(text, blocks, end, out);
}
BLOOMERY_AVX512 record_count count_avx512(const char* text, std::size_t blocks, char end) noexcept {
  return count_all<mask_avx512>(text, blocks, end);
}

#elif defined(__aarch64__) && defined(__AARCH64EL__)

// Gives each of eight neighbours a bit of its own, and adds them pairwise three times.
inline std::uint64_t mask_neon(const char* text, char end) noexcept {
  const uint8x16_t pattern = vdupq_n_u8(static_cast<std::uint8_t>(end));
  const uint8x16_t bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const auto found = [&](const char* at) {
    return vandq_u8(vceqq_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(at)), pattern), bit);
  };
  const uint8x16_t low = vpaddq_u8(found(text), found(text + 16));
  const uint8x16_t high = vpaddq_u8(found(text + 32), found(text + 48));
  const uint8x16_t sum = vpaddq_u8(low, high);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)), 0);
}
std::size_t find_neon(const char* text, std::size_t blocks, char end, std::uint32_t* out) noexcept {
  return find_all<mask_neon>(text, blocks, end, out);
}
record_count count_neon(const char* text, std::size_t blocks, char end) noexcept {
  return count_all<mask_neon>(text, blocks, end);
}

#endif

constexpr record_kernels portable = {find_portable, count_portable};
#if defined(__x86_64__)
constexpr record_kernels avx2 = {find_avx2, count_avx2};
constexpr record_kernels avx512 = {find_avx512, count_avx512};
#elif defined(__aarch64__) && defined(__AARCH64EL__)
constexpr record_kernels neon = {find_neon, count_neon};
#endif

const record_kernels& chosen() noexcept {
  static const record_kernels& kernels = record_kernels_of(chosen_level());
  return kernels;
}

}  // namespace

const record_kernels& record_kernels_of(level l) noexcept {
  switch (l) {
#if defined(__x86_64__)
    case level::avx2: return avx2;
    case level::avx512: return avx512;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
    case level::neon: return neon;
#endif
    default: return portable;
  }
}

}  // namespace kernel

using kernel::record_block;

std::size_t record_ends::find(std::string_view text, char end) {
  const std::size_t blocks = text.size() / record_block;
  if (capacity_ < text.size() + record_block) {
    positions_ = std::make_unique_for_overwrite<std::uint32_t[]>(text.size() + record_block);
    capacity_ = text.size() + record_block;
  }
  std::size_t found = kernel::chosen().find(text.data(), blocks, end, positions_.get());
  for (std::size_t i = blocks * record_block; i < text.size(); ++i) {
    if (text[i] == end) positions_[found++] = static_cast<std::uint32_t>(i);
  }
  return found;
}

record_count count_records(std::string_view text, char end) noexcept {
  const std::size_t blocks = text.size() / record_block;
  record_count sum = kernel::chosen().count(text.data(), blocks, end);
  for (std::size_t i = blocks * record_block; i < text.size(); ++i) {
    if (text[i] != end) continue;
    ++sum.all;
    if (i != 0 && text[i - 1] != end) ++sum.not_empty;
  }
  return sum;
}

}  // namespace bloomery
