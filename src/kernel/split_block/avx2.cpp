// The split-block kernels with AVX2: a block is one of the compiler's vectors.
#if defined(__x86_64__)

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/detail/hash/block_arithmetic.hpp"
#include "bloomery/detail/hash/lane_tables.hpp"
#include "bloomery/hash/hash.hpp"
#include "split_block.hpp"

// With AVX2 from here on.
#include "kernel/target/avx2.hpp"
// These are compiled for it.
#include "generic.hpp"

namespace bloomery::kernel {

namespace {

using lanes = detail::vector_split_lanes<32>;

constexpr std::uint64_t cached = std::uint64_t{2} << 20U;
using bits = generic_split<lanes, cached>;

}  // namespace

const split_block_kernels split_block_avx2 = {contains_run<bits>, add_run<bits>,
                                              one_split_key<lanes>::calls};

}  // namespace bloomery::kernel

#include "kernel/target/end.hpp"

#endif
