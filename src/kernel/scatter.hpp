// Many keys at a time for filters whose keys have bits in several random lines: classic and partitioned. All give
// the bits of classic_probes and partitioned_probes (hash/probe.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "key_run.hpp"

namespace bloomery::kernel {

// Position j of a key is j * step + high64((h c^j) * range): a classic filter has a step of 0. `Word` is const
// for asking.
template <class Word>
struct scatter_array {
  Word* words = nullptr;
  std::uint64_t range = 0;
  std::uint64_t step = 0;
  std::uint32_t probes = 0;
};

struct scatter_kernels {
  // Bit i % 64 of bitmap[i / 64] becomes the answer for hash i; the bits after the last one become 0.
  void (*contains)(const scatter_array<const std::uint64_t>& array, const hash_run& run,
                   std::uint64_t* bitmap) noexcept;
  void (*add)(const scatter_array<std::uint64_t>& array, const hash_run& run) noexcept;
};

}  // namespace bloomery::kernel
