#include "byte_mask.hpp"

#include <cstring>

#include "bloomery/bits/byte_mask.hpp"
#include "bloomery/core/arithmetic.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace bloomery {

namespace kernel {

namespace {

constexpr std::size_t block = 64;

// Eight bytes at a time: those that are 0 after the XOR get their top bit set, and a multiplication brings the
// eight top bits together.
void mask_portable(const char* text, char byte, std::size_t blocks,
                   std::uint64_t* bitmap) noexcept {
  constexpr std::uint64_t low_bits = 0x7f7f7f7f7f7f7f7fU;
  const std::uint64_t pattern = static_cast<unsigned char>(byte) * 0x0101010101010101U;
  for (std::size_t b = 0; b < blocks; ++b, text += block) {
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, text + i * 8, sizeof word);
      word = detail::little_endian(word) ^ pattern;
      const std::uint64_t zero = ~(((word & low_bits) + low_bits) | word | low_bits) >> 7U;
      mask |= ((zero * 0x0102040810204080U) >> 56U) << (i * 8);
    }
    bitmap[b] = mask;
  }
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) void mask_avx2(const char* text, char byte, std::size_t blocks,
                                               std::uint64_t* bitmap) noexcept {
  const __m256i pattern = _mm256_set1_epi8(byte);
  for (std::size_t b = 0; b < blocks; ++b, text += block) {
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + i * 32));
      const auto found =
          static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, pattern)));
      mask |= std::uint64_t{found} << (i * 32);
    }
    bitmap[b] = mask;
  }
}

__attribute__((target("avx512f,avx512bw"))) void mask_avx512(const char* text, char byte,
                                                             std::size_t blocks,
                                                             std::uint64_t* bitmap) noexcept {
  const __m512i pattern = _mm512_set1_epi8(byte);
  for (std::size_t b = 0; b < blocks; ++b, text += block) {
    bitmap[b] = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(text), pattern);
  }
}

#elif defined(__aarch64__) && defined(__AARCH64EL__)

// A bit of its own for each of eight neighbours, added up pairwise three times.
void mask_neon(const char* text, char byte, std::size_t blocks, std::uint64_t* bitmap) noexcept {
  const uint8x16_t pattern = vdupq_n_u8(static_cast<std::uint8_t>(byte));
  const uint8x16_t bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const auto found = [&](const char* at) {
    return vandq_u8(vceqq_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(at)), pattern), bit);
  };
  for (std::size_t b = 0; b < blocks; ++b, text += block) {
    const uint8x16_t low = vpaddq_u8(found(text), found(text + 16));
    const uint8x16_t high = vpaddq_u8(found(text + 32), found(text + 48));
    const uint8x16_t sum = vpaddq_u8(low, high);
    bitmap[b] = vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)), 0);
  }
}

#endif

}  // namespace

byte_mask_kernel byte_mask_of(level l) noexcept {
  switch (l) {
#if defined(__x86_64__)
    case level::avx2:
      return mask_avx2;
    case level::avx512:
      return mask_avx512;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
    case level::neon:
      return mask_neon;
#endif
    default:
      return mask_portable;
  }
}

}  // namespace kernel

void byte_mask(std::string_view text, char byte, std::span<std::uint64_t> bitmap) noexcept {
  static const kernel::byte_mask_kernel run = kernel::byte_mask_of(kernel::chosen_level());
  const std::size_t blocks = text.size() / 64;
  run(text.data(), byte, blocks, bitmap.data());
  const std::string_view rest = text.substr(blocks * 64);
  if (rest.empty()) return;
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    mask |= std::uint64_t{rest[i] == byte} << i;
  }
  bitmap[blocks] = mask;
}

}  // namespace bloomery
