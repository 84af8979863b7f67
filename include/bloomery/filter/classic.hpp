// The classic filter (Bloom 1970): k bits anywhere in one array of m.
//
// The least space of the three kinds (9.59 bits a key at 1 %), for k cache misses a key: for a
// filter that is small, travels, is folded by odd factors, or has an fpr below 1e-9.
//
// digest_filter is the same array with positions from a foreign digest, for filters that other
// programs wrote or will read; crypto/digest.hpp makes the digests.
#pragma once

#include "bloomery/detail/filter/bit_filter.hpp"

namespace bloomery {

using classic_view = bit_view<classic_probes>;
using classic_filter = bit_filter<classic_probes>;

using digest_view = bit_view<digest_probes>;
using digest_filter = bit_filter<digest_probes>;

extern template class bit_view<classic_probes>;
extern template class bit_filter<classic_probes>;
extern template class bit_view<digest_probes>;
extern template class bit_filter<digest_probes>;

}  // namespace bloomery
