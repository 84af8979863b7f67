// All kernels of wide.hpp for one instruction set. Included by wide_*.cpp after that has been switched on and
// `eight` has been chosen.
#pragma once

#include "scatter_loop.hpp"
#include "wide.hpp"

namespace bloomery::kernel {

template <class Eight>
inline constexpr wide_kernels wide_kernels_with = {.scatter = scatter_kernels_with<Eight>};

}  // namespace bloomery::kernel
