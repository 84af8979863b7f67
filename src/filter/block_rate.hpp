// The false-positive rate of blocks as they are, for every filter that is made of them.
#pragma once

#include <cstdint>
#include <span>

#include "bloomery/detail/hash/lane_tables.hpp"

namespace bloomery::detail {

// The mean over blocks of the chance that a random key finds its bits set. `stride` is the distance
// of blocks in words, for filters whose blocks alternate, and `plane` the part of the lanes that a
// generation has.
[[nodiscard]] double block_rate(std::span<const std::uint64_t> words, std::uint32_t probes,
                                std::size_t stride = 8, const lane_planes& plane = {}) noexcept;

// The same for split blocks, side by side.
[[nodiscard]] double split_block_rate(std::span<const std::uint64_t> words) noexcept;

}  // namespace bloomery::detail
