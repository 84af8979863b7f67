// The ribbon kernels for every machine.
#include "one.hpp"
#include "ribbon_columns.hpp"
#include "ribbon_loop.hpp"

namespace bloomery::kernel {

const ribbon_kernels ribbon_portable = ribbon_kernels_with<one, scalar_columns>;

}  // namespace bloomery::kernel
