#include "scalable.hpp"

namespace bloomery::kernel {

const scalable_kernels& scalable_kernels_of(level l) noexcept {
  switch (l) {
#if defined(__x86_64__)
    case level::avx2: return scalable_avx2;
    case level::avx512: return scalable_avx512;
#endif
    default: return scalable_portable;
  }
}

const scalable_kernels& scalable_kernels_chosen() noexcept {
  static const scalable_kernels& kernels = scalable_kernels_of(chosen_level());
  return kernels;
}

}  // namespace bloomery::kernel
