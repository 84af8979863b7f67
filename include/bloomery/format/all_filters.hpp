// Every filter and sketch of the library: the headers, and the types as a list for whoever must do
// something with each (the table behind any_filter, the benchmarks, tests).
#pragma once

#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/bloomier.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/counting.hpp"
#include "bloomery/filter/cuckoo.hpp"
#include "bloomery/filter/fuse.hpp"
#include "bloomery/filter/layered.hpp"
#include "bloomery/filter/partitioned.hpp"
#include "bloomery/filter/ribbon.hpp"
#include "bloomery/filter/scalable.hpp"
#include "bloomery/filter/shard.hpp"
#include "bloomery/filter/split_block.hpp"
#include "bloomery/filter/windowed.hpp"
#include "bloomery/sketch/count_min.hpp"
#include "bloomery/sketch/spectral.hpp"
#include "bloomery/sketch/top_k.hpp"

namespace bloomery {

template <class... Filters>
struct filter_list {};

// One type for each kind. A kind without its type here does not compile (filter_table.cpp).
using all_filters = filter_list<blocked_filter, split_block_filter,                // bits
                                classic_filter, partitioned_filter,                // bits
                                counting_filter, cuckoo_filter,                    // removable keys
                                scalable_filter, layered_filter, windowed_filter,  // growth, time
                                fuse_filter, ribbon_filter, bloomier_filter,       // built at once
                                count_min, spectral_filter, top_k                  // counts
                                >;

// Other filters of the same kinds: foreign digests instead of hashes, a slice of a larger filter.
using special_filters = filter_list<digest_filter, shard_filter, split_block_shard_filter>;

}  // namespace bloomery
