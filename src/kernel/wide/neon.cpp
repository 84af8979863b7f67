// The kernels of wide.hpp for little-endian AArch64: plain C++, see eight_scalar.hpp.
#if defined(__aarch64__) && defined(__AARCH64EL__)

#include "eight_scalar.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

const wide_kernels wide_neon = wide_kernels_with<eight>;

}  // namespace bloomery::kernel

#endif
