// The kernels of wide.hpp for every machine.
#include "eight_scalar.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

const wide_kernels wide_portable = wide_kernels_with<eight>;

}  // namespace bloomery::kernel
