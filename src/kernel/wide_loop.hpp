// All kernels of wide.hpp for one instruction set. Included by wide_*.cpp after that has been switched on and
// `eight` has been chosen.
#pragma once

#include "fuse_loop.hpp"
#include "scatter_loop.hpp"
#include "wide.hpp"

namespace bloomery::kernel {

template <class Eight>
inline constexpr wide_kernels wide_kernels_with = {
    .scatter = scatter_kernels_with<Eight>, .fuse = fuse_kernels_with<typename Eight::fitting>};

}  // namespace bloomery::kernel
