// The partitioned filter: k slices of m/k bits, one bit of a key in each (Mullin 1983, Broder and
// Mitzenmacher 2004, section 2.1).
//
//     | slice 0        | slice 1        |     | slice k-1      |
//     |....1...........|..........1.....| ... |1...............|
//
// Never fewer false positives than classic at equal size, but each slice is an independent array:
// it can be read by hardware of its own, and the fill of a slice is easy to reason about.
#pragma once

#include "bloomery/detail/filter/bit_filter.hpp"

namespace bloomery {

using partitioned_view = bit_view<partitioned_probes>;
using partitioned_filter = bit_filter<partitioned_probes>;

extern template class bit_view<partitioned_probes>;
extern template class bit_filter<partitioned_probes>;

}  // namespace bloomery
