// Values of other modules as filters and sketches of ours, where that is possible: a layer of
// RedisBloom's is a classic filter with another hash, and a list of items can be counted again.
// Cuckoo filters, counters and valkey-bloom's layers have no such form.
#pragma once

#include <memory>
#include <optional>

#include "bloomery/foreign/values.hpp"
#include "bloomery/format/any_filter.hpp"

namespace bloomery::foreign {

// The same bits; nothing for a layer that a file of ours cannot hold: one with 32-bit hashes, with
// over 64 probes or over 2^32 bits.
[[nodiscard]] std::optional<any_filter> to_filter(const bloom_layers& of,
                                                  const bloom_layers::layer& layer);

// Its items with their counts, and nothing of those that are not listed.
[[nodiscard]] any_filter to_filter(const top_list& list, std::shared_ptr<const any_hasher> hash);

}  // namespace bloomery::foreign
