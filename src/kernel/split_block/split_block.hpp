// Many keys at a time for filters of split blocks: the pipeline of kernel/blocked over blocks of 32
// bytes. All do what split_lanes does for one key.
#pragma once

#include "bloomery/detail/hash/lane_calls.hpp"
#include "kernel/blocked/blocked.hpp"
#include "kernel/dispatch.hpp"

namespace bloomery::kernel {

// Of arrays with a stride of 4 words; the other numbers of a block_array are those of other kinds.
struct split_block_kernels {
  blocked_kernels::contains_call* contains;
  blocked_kernels::add_call* add;
  detail::split_lane_calls one_key;
};

// Those of one instruction set; the portable ones where this build has no others.
[[nodiscard]] const split_block_kernels& split_block_kernels_of(level l) noexcept;
[[nodiscard]] const split_block_kernels& split_block_kernels_chosen() noexcept;

extern const split_block_kernels split_block_portable;
#if defined(__x86_64__)
extern const split_block_kernels split_block_avx2;
extern const split_block_kernels split_block_avx512;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
extern const split_block_kernels split_block_neon;
#endif

}  // namespace bloomery::kernel
