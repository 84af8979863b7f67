// The blocked kernels with NEON, four vectors a block. Big-endian machines have the portable ones.
#if defined(__aarch64__) && defined(__AARCH64EL__)

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/hash/vector_lanes.hpp"
#include "generic.hpp"

namespace bloomery::kernel {

namespace {

using lanes = detail::vector_lanes<16>;

// Not measured yet; second-level caches are of this order.
constexpr std::uint64_t cached = std::uint64_t{512} << 10U;
using bits = generic_bits<lanes, cached>;
using planes = generic_planes<lanes, cached>;
using counters = generic_counters<lanes, cached>;

}  // namespace

const blocked_kernels blocked_neon = {contains_run<bits>,   add_run<bits>,
                                      add_new_run<bits>,    contains_run<planes>,
                                      add_new_run<planes>,  contains_run<counters>,
                                      add_run<counters>,    remove_run<counters>,
                                      count_run<counters>,  mix_each,
                                      one_key<lanes>::calls};

}  // namespace bloomery::kernel

#endif
