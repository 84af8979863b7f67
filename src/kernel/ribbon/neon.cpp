// Ribbon kernels with NEON: eight columns are four vectors; keys go singly (no 64-bit multiply).
#if defined(__aarch64__) && defined(__AARCH64EL__)

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "columns.hpp"
#include "kernel/wide/one.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

namespace {

struct neon_columns : vector_columns<neon_columns> {
  static constexpr std::uint64_t cached_bytes = scalar_columns::cached_bytes;  // not measured

  [[gnu::always_inline]] static std::uint64_t odd_eight(const std::uint64_t* columns,
                                                        std::uint32_t bits, const ribbon_ring& ring,
                                                        std::size_t at) noexcept {
    const uint64x2_t first = vdupq_n_u64(ring.first[at]);
    const uint64x2_t second = vdupq_n_u64(ring.second[at]);
    const uint64x2_t third = vdupq_n_u64(ring.third[at]);
    const auto chosen = [&](std::size_t j) __attribute__((always_inline)) {
      const uint64x2_t a = vandq_u64(vld1q_u64(columns + j), first);
      const uint64x2_t b = vandq_u64(vld1q_u64(columns + bits + j), second);
      const uint64x2_t c = vandq_u64(vld1q_u64(columns + std::size_t{2} * bits + j), third);
      return vreinterpretq_u32_u64(veorq_u64(veorq_u64(a, b), c));
    };
    // The halves of each number onto each other, until it is a byte.
    const auto four = [&](std::size_t j) __attribute__((always_inline)) {
      const uint32x4_t a = chosen(j);
      const uint32x4_t b = chosen(j + 2);
      return vreinterpretq_u16_u32(veorq_u32(vuzp1q_u32(a, b), vuzp2q_u32(a, b)));
    };
    const uint16x8_t low = four(0);
    const uint16x8_t high = four(4);
    const uint16x8_t x = veorq_u16(vuzp1q_u16(low, high), vuzp2q_u16(low, high));
    const uint8x8_t bytes = veor_u8(vmovn_u16(x), vshrn_n_u16(x, 8));
    const int8x8_t places = {0, 1, 2, 3, 4, 5, 6, 7};
    return vaddv_u8(vshl_u8(vand_u8(vcnt_u8(bytes), vdup_n_u8(1)), places));
  }
};

}  // namespace

const ribbon_kernels ribbon_neon = ribbon_kernels_with<one, neon_columns>;

}  // namespace bloomery::kernel

#endif
