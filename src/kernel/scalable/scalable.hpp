// Many keys at a time for lines of fingerprints (detail/bits/split_lines.hpp): hash (if they are
// integers), find the line, look for a fingerprint that fits. One file for each instruction set,
// the loop around them in loop.hpp. All give the answers of split_lines::contains, and the lines of
// split_table::put_in_line.
#pragma once

#include <cstdint>

#include "bloomery/detail/bits/split_lines.hpp"
#include "kernel/dispatch.hpp"
#include "kernel/key_run.hpp"

namespace bloomery::kernel {

struct scalable_kernels {
  // Bit i % 64 of bitmap[i / 64] becomes the answer for key i; bits after the last become 0.
  void (*contains)(const detail::split_lines& table, const key_run& run,
                   std::uint64_t* bitmap) noexcept;
  // Appends the cells of keys that fit no fingerprint to their lines, which are `words`, one after
  // the other; returns how many. These keys get a bit in `fresh`, and those whose line is full get
  // one in `open` instead.
  std::uint64_t (*add)(const detail::split_lines& table, std::uint64_t* words, const key_run& run,
                       std::uint64_t* open, std::uint64_t* fresh) noexcept;
};

// Those of an instruction set; where this build has none, portable ones in compiler vectors.
[[nodiscard]] const scalable_kernels& scalable_kernels_of(level l) noexcept;
[[nodiscard]] const scalable_kernels& scalable_kernels_chosen() noexcept;

extern const scalable_kernels scalable_portable;
#if defined(__x86_64__)
extern const scalable_kernels scalable_avx2;
extern const scalable_kernels scalable_avx512;
#endif

}  // namespace bloomery::kernel
