// The blocked filter, the default: all bits of a key in one line (Putze, Sanders and Singler 2007).
//
// One miss a key instead of k. Blocks fill unevenly, which costs bits: 9.93 a key at 1 % against
// 9.59, 15.6 against 14.4 at 0.1 %. The layout inside a block (detail/core/block_geometry.hpp) is
// the best that we know of: 10.5 bits at 1 % are common for filters that touch one line.
#pragma once

#include "bloomery/detail/filter/bit_filter.hpp"

namespace bloomery {

using blocked_view = bit_view<blocked_probes>;
using blocked_filter = bit_filter<blocked_probes>;

extern template class bit_view<blocked_probes>;
extern template class bit_filter<blocked_probes>;

}  // namespace bloomery
