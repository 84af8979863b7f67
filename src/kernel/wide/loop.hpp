// All kernels of wide.hpp. Included after the instruction set is on and `eight` is chosen.
#pragma once

#include "kernel/count_min/loop.hpp"
#include "kernel/cuckoo/loop.hpp"
#include "kernel/fuse/loop.hpp"
#include "kernel/scatter/loop.hpp"
#include "wide.hpp"

namespace bloomery::kernel {

// Vectors: the type for kernels that need few operations, if there are vectors for those.
template <class Eight, class Vectors = Eight>
inline constexpr wide_kernels wide_kernels_with = {
    .scatter = scatter_kernels_with<Vectors>,
    .fuse = fuse_kernels_with<typename Eight::fitting>,
    .count_min = count_min_kernels_with<Vectors>,
    .cuckoo = cuckoo_kernels_with<typename Eight::fitting>};

}  // namespace bloomery::kernel
