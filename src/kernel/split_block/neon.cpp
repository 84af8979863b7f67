// The split-block kernels with NEON, two vectors a block. Big-endian machines have the portable
// ones.
#if defined(__aarch64__) && defined(__AARCH64EL__)

#include <cstdint>

#include "generic.hpp"
#include "split_block.hpp"

namespace bloomery::kernel {

namespace {

using lanes = detail::vector_split_lanes<16>;

// Not measured yet; second-level caches are of this order.
constexpr std::uint64_t cached = std::uint64_t{512} << 10U;
using bits = generic_split<lanes, cached>;

}  // namespace

const split_block_kernels split_block_neon = {contains_run<bits>, add_run<bits>,
                                              one_split_key<lanes>::calls};

}  // namespace bloomery::kernel

#endif
