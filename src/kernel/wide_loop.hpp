// All kernels of wide.hpp for one instruction set. Included by wide_*.cpp after that has been switched on and
// `eight` has been chosen.
#pragma once

#include "count_min_loop.hpp"
#include "fuse_loop.hpp"
#include "scatter_loop.hpp"
#include "wide.hpp"

namespace bloomery::kernel {

template <class Eight>
inline constexpr wide_kernels wide_kernels_with = {
    .scatter = scatter_kernels_with<Eight>,
    .fuse = fuse_kernels_with<typename Eight::fitting>,
    .count_min = count_min_kernels_with<Eight>};

}  // namespace bloomery::kernel
