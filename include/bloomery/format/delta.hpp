// From one version of a filter to the next, in about as few bytes as the change itself.
//
// The receiver has the old bits, so the sender tells which of the old zeros became ones and which
// ones zeros: two sparse strings of bits, coded near their entropy. When the new version packed is
// smaller, or the shape is another, that is sent instead.
//
// A delta names both versions by their checksums and is refused on any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/format/codec.hpp"
#include "bloomery/format/image.hpp"

namespace bloomery {

// A filter as its header and words, wherever they are.
struct filter_version {
  image_header header;
  std::span<const std::uint64_t> words;
};

[[nodiscard]] std::vector<std::byte> diff(const filter_version& from, const filter_version& to);

[[nodiscard]] bool is_delta(std::span<const std::byte> bytes) noexcept;

// The version that the delta leads to. Throws errc::mismatch when it starts from another version,
// and errc::corrupt for anything that diff did not make.
[[nodiscard]] unpacked_filter patch(const filter_version& from, std::span<const std::byte> delta,
                                    std::uint64_t most_bits = default_unpack_bits);

}  // namespace bloomery
