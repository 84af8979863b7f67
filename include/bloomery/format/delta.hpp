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

// What a delta says of itself, without the version that it starts from.
struct delta_description {
  std::uint64_t from = 0;  // the name (image_name) of the version that it starts from,
  std::uint64_t to = 0;    // and of the one that it leads to
  image_header header;     // of that one
  bool whole = false;      // it holds that version packed, and not its changes
};
// Throws errc::corrupt unless the delta is as diff wrote it.
[[nodiscard]] delta_description describe_delta(std::span<const std::byte> delta);

// The version that the delta leads to. Throws errc::mismatch when it starts from another version,
// errc::corrupt for anything that diff did not make, and
// errc::no_memory for one that is larger than the limit of format/opening.hpp.
[[nodiscard]] unpacked_filter patch(const filter_version& from, std::span<const std::byte> delta,
                                    const opening& how = {});

}  // namespace bloomery
