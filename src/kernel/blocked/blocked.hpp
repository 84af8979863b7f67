// Many keys at a time for filters of blocks: hash (if integers), find the block, ask or change it.
// One file for each instruction set around loop.hpp. All do what block_lanes does for one key.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/hash/lane_calls.hpp"
#include "kernel/dispatch.hpp"
#include "kernel/key_run.hpp"

namespace bloomery::kernel {

// The words of a filter of blocks that begin `stride` words apart (split blocks 4, others a
// multiple of 8); `width` is that of a counter.
template <class Word>
struct block_array {
  Word* words = nullptr;
  std::uint64_t blocks = 0;
  std::uint32_t probes = 0;
  std::uint32_t width = 1;
  std::uint64_t stride = 8;
  detail::lane_planes planes = {};  // of the lanes that generations share

  // From the first block to the last, those of other filters between them included.
  [[gnu::always_inline]] [[nodiscard]] std::uint64_t lines() const noexcept {
    return blocks * stride / 8;
  }
};

using const_blocks = block_array<const std::uint64_t>;
using changing_blocks = block_array<std::uint64_t>;

struct blocked_kernels {
  // Bit i % 64 of bitmap[i / 64] becomes the answer for key i; bits after the last key become 0.
  using contains_call = void(const const_blocks& array, const key_run& run,
                             std::uint64_t* bitmap) noexcept;
  using add_call = void(const changing_blocks& array, const key_run& run) noexcept;

  contains_call* contains;
  add_call* add;
  // How many of the keys changed a bit: those that were not contained when it was their turn.
  std::size_t (*add_new)(const changing_blocks& array, const key_run& run) noexcept;
  contains_call* contains_in;  // in one of array.planes
  std::size_t (*add_new_in)(const changing_blocks& array, const key_run& run) noexcept;
  contains_call* contains_counted;  // the same with counters of array.width bits, 2, 4, 8 or 16
  add_call* add_counted;
  // How many were removed: those none of whose counters was 0.
  std::size_t (*remove_counted)(const changing_blocks& array, const key_run& run) noexcept;
  // counts[i] becomes the least of the counters of key i.
  void (*count)(const const_blocks& array, const key_run& run, std::uint64_t* counts) noexcept;
  // out[i] = mix64(keys[i], spread_seed); may be in place.
  void (*mix)(const std::uint64_t* keys, std::size_t count, std::uint64_t spread_seed,
              std::uint64_t* out) noexcept;
  detail::lane_calls one_key;
};

// Those of one instruction set; the portable ones where this build has no others.
[[nodiscard]] const blocked_kernels& blocked_kernels_of(level l) noexcept;
[[nodiscard]] const blocked_kernels& blocked_kernels_chosen() noexcept;

extern const blocked_kernels blocked_portable;
#if defined(__x86_64__)
extern const blocked_kernels blocked_avx2;
extern const blocked_kernels blocked_avx512;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
extern const blocked_kernels blocked_neon;
#endif

}  // namespace bloomery::kernel
