#include "ribbon.hpp"

namespace bloomery::kernel {

const ribbon_kernels& ribbon_kernels_of(level l) noexcept {
  switch (l) {
#if defined(__x86_64__)
    case level::avx2: return ribbon_avx2;
    case level::avx512: return ribbon_avx512;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
    case level::neon: return ribbon_neon;
#endif
    default: return ribbon_portable;
  }
}

const ribbon_kernels& ribbon_kernels_chosen() noexcept {
  static const ribbon_kernels& kernels = ribbon_kernels_of(chosen_level());
  return kernels;
}

}  // namespace bloomery::kernel
