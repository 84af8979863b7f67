#include "blocked.hpp"

#include "bloomery/detail/hash/lane_calls.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

namespace kernel {

const blocked_kernels& blocked_kernels_of(level l) noexcept {
  switch (l) {
#if defined(__x86_64__)
    case level::avx2: return blocked_avx2;
    case level::avx512: return blocked_avx512;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
    case level::neon: return blocked_neon;
#endif
    default: return blocked_portable;
  }
}

const blocked_kernels& blocked_kernels_chosen() noexcept {
  static const blocked_kernels& kernels = blocked_kernels_of(chosen_level());
  return kernels;
}

}  // namespace kernel

const detail::lane_calls& detail::lane_calls_chosen() noexcept {
  return kernel::blocked_kernels_chosen().one_key;
}

void mix64_batch(const mixed_integers& keys, std::span<std::uint64_t> out) noexcept {
  kernel::blocked_kernels_chosen().mix(keys.keys.data(), keys.keys.size(), keys.spread_seed,
                                       out.data());
}

}  // namespace bloomery
