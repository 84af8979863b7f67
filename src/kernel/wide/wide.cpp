#include "wide.hpp"

namespace bloomery::kernel {

const wide_kernels& wide_kernels_of(level l) noexcept {
  switch (l) {
#if defined(__x86_64__)
    case level::avx2: return wide_avx2;
    case level::avx512: return wide_avx512;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
    case level::neon: return wide_neon;
#endif
    default: return wide_portable;
  }
}

const wide_kernels& wide_kernels_chosen() noexcept {
  static const wide_kernels& kernels = wide_kernels_of(chosen_level());
  return kernels;
}

}  // namespace bloomery::kernel
