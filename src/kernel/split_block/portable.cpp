// The split-block kernels for every machine: the calls for one key, in the loop for many.
#include <cstdint>

#include "bloomery/detail/hash/split_lanes.hpp"
#include "generic.hpp"
#include "split_block.hpp"

namespace bloomery::kernel {

namespace {

// As the blocked ones, whose array and arithmetic are alike.
constexpr std::uint64_t cached = std::uint64_t{256} << 10U;
using bits = generic_split<detail::built_split_lanes, cached>;

}  // namespace

const split_block_kernels split_block_portable = {contains_run<bits>, add_run<bits>,
                                                  one_split_key<detail::built_split_lanes>::calls};

}  // namespace bloomery::kernel
