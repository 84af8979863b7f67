// Many keys at a time for the blocked filter: hash (if they are integers), find the block, ask or set its
// bits. One file for each instruction set (blocked_*.cpp), the loop around them in blocked_loop.hpp. All
// give the bits of blocked_probes (hash/probe.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dispatch.hpp"
#include "key_run.hpp"

namespace bloomery::kernel {

// The words of a blocked filter. `Word` is const for asking.
template <class Word>
struct block_array {
  Word* words = nullptr;
  std::uint64_t blocks = 0;
  std::uint32_t probes = 0;
};

struct blocked_kernels {
  // Bit i % 64 of bitmap[i / 64] becomes the answer for key i; the bits after the last key become 0.
  void (*contains)(const block_array<const std::uint64_t>& array, const key_run& run,
                   std::uint64_t* bitmap) noexcept;
  void (*add)(const block_array<std::uint64_t>& array, const key_run& run) noexcept;
  // out[i] = mix64(keys[i], spread_seed); may be in place.
  void (*mix)(const std::uint64_t* keys, std::size_t count, std::uint64_t spread_seed,
              std::uint64_t* out) noexcept;
};

// Those of one instruction set; the portable ones where this build has no others.
[[nodiscard]] const blocked_kernels& blocked_kernels_of(level l) noexcept;
// Those that this process uses.
[[nodiscard]] const blocked_kernels& blocked_kernels_chosen() noexcept;

extern const blocked_kernels blocked_portable;
#if defined(__x86_64__)
extern const blocked_kernels blocked_avx2;
extern const blocked_kernels blocked_avx512;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
extern const blocked_kernels blocked_neon;
#endif

}  // namespace bloomery::kernel
