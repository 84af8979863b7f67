// Many keys at a time for the ribbon filter: loop.hpp gives the answers of ribbon_view::contains.
#pragma once

#include <cstdint>
#include <span>

#include "bloomery/detail/bits/static_arrays.hpp"
#include "kernel/dispatch.hpp"

namespace bloomery::kernel {

struct ribbon_array {  // a payload whose directory has been checked
  const detail::static_directory& directory;
  std::uint32_t bits = 0;  // columns of the 64 slots of a group
};

struct ribbon_kernels {
  // Bit i % 64 of bitmap[i / 64] becomes the answer for hash i; bits after the last become 0.
  void (*contains)(const ribbon_array& array, std::span<const std::uint64_t> hashes,
                   std::uint64_t* bitmap) noexcept;
};

// Those of one instruction set; the portable ones where this build has no others.
[[nodiscard]] const ribbon_kernels& ribbon_kernels_of(level l) noexcept;
[[nodiscard]] const ribbon_kernels& ribbon_kernels_chosen() noexcept;

extern const ribbon_kernels ribbon_portable;
#if defined(__x86_64__)
extern const ribbon_kernels ribbon_avx2;
extern const ribbon_kernels ribbon_avx512;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
extern const ribbon_kernels ribbon_neon;
#endif

}  // namespace bloomery::kernel
