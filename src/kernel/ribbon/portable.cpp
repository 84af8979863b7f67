// The ribbon kernels for every machine.
#include "columns.hpp"
#include "kernel/wide/one.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

const ribbon_kernels ribbon_portable = ribbon_kernels_with<one, scalar_columns>;

}  // namespace bloomery::kernel
