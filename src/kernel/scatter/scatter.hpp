// Many keys at a time for filters with cells in several random lines: classic, partitioned and,
// with counters that are not zero for bits, count-min and spectral. All agree with one-key calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/key_run.hpp"

namespace bloomery::kernel {

// Position j of a key is j * step + high64((h c^j) * range): with a step of 0 all probes share the
// array. It is that of a cell of 2^cell_log bits (0: a bit). `Word` is const for asking.
template <class Word>
struct scatter_array {
  Word* words = nullptr;
  std::uint64_t range = 0;
  std::uint64_t step = 0;
  std::uint32_t probes = 0;
  std::uint32_t cell_log = 0;

  // Inlined always: these are compiled for several instruction sets.
  [[gnu::always_inline]] [[nodiscard]] std::uint64_t bytes() const noexcept {
    return ((step == 0 ? range : step * probes) << cell_log) / 8;
  }
  [[gnu::always_inline]] [[nodiscard]] Word* word_of(std::uint64_t position) const noexcept {
    return words + (position >> (6U - cell_log));
  }
};

struct scatter_kernels {
  // Bit i % 64 of bitmap[i / 64]: whether no cell of hash i is zero. Bits after the last become 0.
  void (*contains)(const scatter_array<const std::uint64_t>& array, const hash_run& run,
                   std::uint64_t* bitmap) noexcept;
  // Sets the bits; cells must be bits.
  void (*add)(const scatter_array<std::uint64_t>& array, const hash_run& run) noexcept;
};

}  // namespace bloomery::kernel
