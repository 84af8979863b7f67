// One key and its block with AVX2, in programs that are built for any x86-64.
//
// Most programs are: their compiler may use SSE2 alone, where a lookup takes 9 ns. No compiler inlines a function for
// another machine, and a call costs as much as the lookup. So these are a few lines of assembly, which is inlined, behind a
// branch that always goes the same way: 3 ns. All that block_lanes.hpp has for AVX2 is still the compiler's where
// the program is built for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/core/block_geometry.hpp"
#include "bloomery/hash/lane_tables.hpp"

// Sanitizers do not see what assembly reads and writes.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BLOOMERY_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BLOOMERY_SANITIZED 1
#endif

#if defined(__x86_64__) && !defined(__AVX2__) && !defined(BLOOMERY_SANITIZED)
#define BLOOMERY_AVX2_LANES 1

namespace bloomery::detail {

// Half a block, as the constraints of assembly name memory.
struct [[gnu::may_alias]] half_line {
  unsigned char bytes[32];
};

// The numbers of the key's bits in both halves of its block come to ymm0 and ymm1.
#define BLOOMERY_BITS_OF_KEY          \
  "vmovd %[x], %%xmm0\n\t"            \
  "vpbroadcastd %%xmm0, %%ymm0\n\t"   \
  "vpmulld %[m1], %%ymm0, %%ymm1\n\t" \
  "vpmulld %[m0], %%ymm0, %%ymm0\n\t" \
  "vpsrld $27, %%ymm1, %%ymm1\n\t"    \
  "vpsrld $27, %%ymm0, %%ymm0\n\t"

class avx2_lanes {
 public:
  [[gnu::always_inline]] static bool covered(const lane_tables& tables, std::uint64_t hash,
                                             const std::uint64_t* block) noexcept {
    const half_line* const there = halves_of(block);
    const half_line* const ones = halves_of(tables.ones[rotation_of(hash)].lanes.data());
    const half_line* const multipliers = halves_of(block_geometry::lane_multiplier.data());
    bool none_missing = false;
    asm(BLOOMERY_BITS_OF_KEY
        "vmovdqu %[b0], %%ymm2\n\t"
        "vmovdqu %[b1], %%ymm3\n\t"
        "vpsrlvd %%ymm0, %%ymm2, %%ymm0\n\t"
        "vpsrlvd %%ymm1, %%ymm3, %%ymm1\n\t"
        "vpandn %[o0], %%ymm0, %%ymm0\n\t"
        "vpandn %[o1], %%ymm1, %%ymm1\n\t"
        "vpor %%ymm1, %%ymm0, %%ymm0\n\t"
        "vptest %%ymm0, %%ymm0\n\t"
        "vzeroupper"
        : "=@ccz"(none_missing)
        : [x] "r"(static_cast<std::uint32_t>(hash)), [m0] "m"(multipliers[0]),
          [m1] "m"(multipliers[1]), [o0] "m"(ones[0]), [o1] "m"(ones[1]), [b0] "m"(there[0]),
          [b1] "m"(there[1])
        : "xmm0", "xmm1", "xmm2", "xmm3");
    return none_missing;
  }

  [[gnu::always_inline]] static void set(const lane_tables& tables, std::uint64_t hash,
                                         std::uint64_t* block) noexcept {
    auto* const there = reinterpret_cast<half_line*>(block);
    const half_line* const ones = halves_of(tables.ones[rotation_of(hash)].lanes.data());
    const half_line* const multipliers = halves_of(block_geometry::lane_multiplier.data());
    asm(BLOOMERY_BITS_OF_KEY
        "vmovdqu %[o0], %%ymm2\n\t"
        "vmovdqu %[o1], %%ymm3\n\t"
        "vpsllvd %%ymm0, %%ymm2, %%ymm0\n\t"
        "vpsllvd %%ymm1, %%ymm3, %%ymm1\n\t"
        "vpor %[b0], %%ymm0, %%ymm0\n\t"
        "vpor %[b1], %%ymm1, %%ymm1\n\t"
        "vmovdqu %%ymm0, %[b0]\n\t"
        "vmovdqu %%ymm1, %[b1]\n\t"
        "vzeroupper"
        : [b0] "+m"(there[0]), [b1] "+m"(there[1])
        : [x] "r"(static_cast<std::uint32_t>(hash)), [m0] "m"(multipliers[0]),
          [m1] "m"(multipliers[1]), [o0] "m"(ones[0]), [o1] "m"(ones[1])
        : "xmm0", "xmm1", "xmm2", "xmm3");
  }

 private:
  static const half_line* halves_of(const void* line) noexcept {
    return static_cast<const half_line*>(line);
  }
};

#undef BLOOMERY_BITS_OF_KEY

}  // namespace bloomery::detail

#endif
#undef BLOOMERY_SANITIZED
