// One key and its block with AVX2 or AVX-512, in programs that are built for any x86-64.
//
// Most programs are: their compiler may use SSE2 alone, where a lookup takes 9 ns. No compiler
// inlines a function for another machine, and a call costs as much as the lookup. So these are a
// few lines of assembly, which is inlined, behind a branch that always goes the same way. They are
// short, too, and that counts: when blocks come from the second or third cache, a machine works on
// as many keys at a time as it can hold the instructions of, about 25 for each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/detail/hash/lane_tables.hpp"

// Sanitizers do not see what assembly reads and writes.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BLOOMERY_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BLOOMERY_SANITIZED 1
#endif

#if defined(__x86_64__) && !defined(BLOOMERY_SANITIZED)

// A compiler must be told of all registers that change, since it may put these lines into a
// function that it translates for AVX-512. GCC can be told of those of AVX-512 only in programs
// that are built for it.
#if defined(__AVX512F__) || defined(__clang__)
#define BLOOMERY_AVX512_LANES 1
#endif
#if !defined(__AVX2__)
#define BLOOMERY_AVX2_LANES 1
#endif

namespace bloomery::detail {

// So many bytes, as the constraints of assembly name memory.
template <std::size_t Size>
struct [[gnu::may_alias]] x86_bytes {
  unsigned char bytes[Size];
};
using x86_line = x86_bytes<64>;
using x86_half = x86_bytes<32>;
using x86_array = x86_bytes<std::size_t{1} << 40U>;  // some of it

#if defined(BLOOMERY_AVX512_LANES)
// The upper sixteen vectors leave nothing behind that SSE instructions would have to wait for.
#define BLOOMERY_AVX512_REGISTERS "xmm16", "xmm17", "k1"

// The key's bit in every lane comes to zmm16, and the lanes that it uses to k1.
#define BLOOMERY_AVX512_BITS           \
  "vpbroadcastd %[x], %%zmm16\n\t"     \
  "vpbroadcastd %[one], %%zmm17\n\t"   \
  "vpmulld %[m], %%zmm16, %%zmm16\n\t" \
  "kmovw %[lanes], %%k1\n\t"           \
  "vpsrld $27, %%zmm16, %%zmm16\n\t"

class avx512_lanes {
 public:
  // That can run a program that is built like this.
#if defined(__AVX512VBMI2__) && defined(__BMI2__)
  static constexpr bool in_every_machine = true;
#else
  static constexpr bool in_every_machine = false;
#endif

  // Not 0 when the block lacks a bit of the key.
  [[gnu::always_inline]] static std::uint64_t missing(const lane_tables& tables, std::uint64_t hash,
                                                      const std::uint64_t* block) noexcept {
    std::uint64_t lanes = 0;
    asm(BLOOMERY_AVX512_BITS
        "vpsllvd %%zmm16, %%zmm17, %%zmm16\n\t"
        "vptestnmd %[block], %%zmm16, %%k1%{%%k1%}\n\t"
        "kmovw %%k1, %k[found]"
        : [found] "=r"(lanes)
        : [x] "r"(static_cast<std::uint32_t>(hash)), [one] "m"(one),
          [m] "m"(reinterpret_cast<const x86_line&>(block_geometry::lane_multiplier)),
          [lanes] "m"(lanes_of(tables, hash)),
          [block] "m"(*reinterpret_cast<const x86_line*>(block))
        : BLOOMERY_AVX512_REGISTERS);
    return lanes;
  }

  [[gnu::always_inline]] static void set(const lane_tables& tables, std::uint64_t hash,
                                         std::uint64_t* block) noexcept {
    auto* const there = reinterpret_cast<x86_line*>(block);
    asm(BLOOMERY_AVX512_BITS
        "vpsllvd %%zmm16, %%zmm17, %%zmm16%{%%k1%}%{z%}\n\t"
        "vpord %[block], %%zmm16, %%zmm16\n\t"
        "vmovdqu64 %%zmm16, %[block]"
        : [block] "+m"(*there)
        : [x] "r"(static_cast<std::uint32_t>(hash)), [one] "m"(one),
          [m] "m"(reinterpret_cast<const x86_line&>(block_geometry::lane_multiplier)),
          [lanes] "m"(lanes_of(tables, hash))
        : BLOOMERY_AVX512_REGISTERS);
  }

 private:
  static constexpr std::uint32_t one = 1;
  static constexpr std::uint32_t rotation_bits = 0xf0000;

  // tables.patterns[rotation_of(hash)]. In memory, since a mask comes faster from there than from
  // another register.
  [[gnu::always_inline]] static const std::uint16_t& lanes_of(const lane_tables& tables,
                                                              std::uint64_t hash) noexcept {
    std::uint64_t rotation = 0;
    asm("pext %[bits], %k[x], %k[rotation]"
        : [rotation] "=r"(rotation)
        : [x] "r"(hash), [bits] "m"(rotation_bits));
    return tables.patterns[rotation];
  }
};

#undef BLOOMERY_AVX512_BITS
#undef BLOOMERY_AVX512_REGISTERS
#endif

#if defined(BLOOMERY_AVX2_LANES)
// In a function for AVX, vzeroupper changes all of them.
#define BLOOMERY_AVX2_REGISTERS                                                            \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

// The numbers of the key's bits in both halves of its block come to ymm0 and ymm1.
#define BLOOMERY_AVX2_BITS            \
  "vmovd %[x], %%xmm0\n\t"            \
  "vpbroadcastd %%xmm0, %%ymm0\n\t"   \
  "vpmulld %[m1], %%ymm0, %%ymm1\n\t" \
  "vpmulld %[m0], %%ymm0, %%ymm0\n\t" \
  "vpsrld $27, %%ymm1, %%ymm1\n\t"    \
  "vpsrld $27, %%ymm0, %%ymm0\n\t"

class avx2_lanes {
 public:
  // Not 0 when the block at words[at] lacks a bit of the key. Addresses have two registers each,
  // which takes fewer instructions than sums; the last operand says what is read.
  [[gnu::always_inline]] static std::uint64_t missing(const lane_tables& tables, std::uint64_t hash,
                                                      const std::uint64_t* words,
                                                      std::uint64_t at) noexcept {
    const x86_half* const multipliers = halves_of(block_geometry::lane_multiplier.data());
    std::uint64_t lanes = 0;
    asm(BLOOMERY_AVX2_BITS
        "vmovdqu (%[words],%[at],8), %%ymm2\n\t"
        "vmovdqu 32(%[words],%[at],8), %%ymm3\n\t"
        "vpsrlvd %%ymm0, %%ymm2, %%ymm0\n\t"
        "vpsrlvd %%ymm1, %%ymm3, %%ymm1\n\t"
        "vpandn (%[ones],%[row]), %%ymm0, %%ymm0\n\t"
        "vpandn 32(%[ones],%[row]), %%ymm1, %%ymm1\n\t"
        "vpor %%ymm1, %%ymm0, %%ymm0\n\t"
        "vpslld $31, %%ymm0, %%ymm0\n\t"
        "vmovmskps %%ymm0, %k[lanes]\n\t"
        "vzeroupper"
        : [lanes] "=r"(lanes)
        : [x] "r"(static_cast<std::uint32_t>(hash)), [m0] "m"(multipliers[0]),
          [m1] "m"(multipliers[1]), [ones] "r"(tables.ones), [row] "r"(row_of(hash)),
          [words] "r"(words), [at] "r"(at), "m"(*reinterpret_cast<const x86_array*>(words))
        : BLOOMERY_AVX2_REGISTERS);
    return lanes;
  }

  [[gnu::always_inline]] static void set(const lane_tables& tables, std::uint64_t hash,
                                         std::uint64_t* block) noexcept {
    auto* const there = reinterpret_cast<x86_half*>(block);
    const auto* const ones =
        halves_of(reinterpret_cast<const unsigned char*>(tables.ones) + row_of(hash));
    const x86_half* const multipliers = halves_of(block_geometry::lane_multiplier.data());
    asm(BLOOMERY_AVX2_BITS
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
        : BLOOMERY_AVX2_REGISTERS);
  }

 private:
  static const x86_half* halves_of(const void* line) noexcept {
    return static_cast<const x86_half*>(line);
  }
  // Where tables.ones[rotation_of(hash)] begins, in bytes.
  [[gnu::always_inline]] static std::uint64_t row_of(std::uint64_t hash) noexcept {
    static_assert(sizeof(lane_numbers) == 64 && rotations == 16);
    std::uint64_t row = 0;
    asm("rorx $10, %[x], %[row]" : [row] "=r"(row) : [x] "r"(hash));
    return row & 0x3c0U;
  }
};

#undef BLOOMERY_AVX2_BITS
#undef BLOOMERY_AVX2_REGISTERS
#endif

}  // namespace bloomery::detail

#endif
#undef BLOOMERY_SANITIZED
