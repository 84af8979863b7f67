// One shard of a filter of blocks that is larger than a machine or a key of a store: the keys with
// shard_of(hash, count) == index, at the same bits as in the whole. So the shards' words, one after
// the other, are the words of the whole (format/shard_files.hpp).
//
//     whole   | block 0 ... B-1 | B ... 2B-1 | ...            |
//             shard 0           shard 1        ... shard n-1
//
// A key of another shard is absent, and adding it does nothing.
#pragma once

#include "bloomery/detail/filter/bit_filter.hpp"
#include "bloomery/detail/hash/shard_probe.hpp"

namespace bloomery {

using shard_view = bit_view<shard_probes>;
using shard_filter = bit_filter<shard_probes>;
using split_block_shard_view = bit_view<split_block_shard_probes>;
using split_block_shard_filter = bit_filter<split_block_shard_probes>;

extern template class bit_view<shard_probes>;
extern template class bit_filter<shard_probes>;
extern template class bit_view<split_block_shard_probes>;
extern template class bit_filter<split_block_shard_probes>;

}  // namespace bloomery
