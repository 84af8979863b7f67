#include "split_block.hpp"

namespace bloomery {

namespace kernel {

const split_block_kernels& split_block_kernels_of(level l) noexcept {
  switch (l) {
#if defined(__x86_64__)
    case level::avx2: return split_block_avx2;
    case level::avx512: return split_block_avx512;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
    case level::neon: return split_block_neon;
#endif
    default: return split_block_portable;
  }
}

const split_block_kernels& split_block_kernels_chosen() noexcept {
  static const split_block_kernels& kernels = split_block_kernels_of(chosen_level());
  return kernels;
}

}  // namespace kernel

const detail::split_lane_calls& detail::split_lane_calls_chosen() noexcept {
  return kernel::split_block_kernels_chosen().one_key;
}

}  // namespace bloomery
