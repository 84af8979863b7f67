// The little-endian words before a cuckoo filter's layers. docs/format.md is the normative text.
#pragma once

#include <cstddef>

#include "bloomery/detail/core/cuckoo_geometry.hpp"

namespace bloomery::cuckoo_preamble {

enum header_word : std::size_t { layers_word = 0, max_layers_word = 1, expansion_word = 2 };

[[nodiscard]] constexpr std::size_t buckets_word(std::size_t layer) noexcept {
  return cuckoo_geometry::header_words + cuckoo_geometry::entry_words * layer;
}
[[nodiscard]] constexpr std::size_t used_word(std::size_t layer) noexcept {
  return buckets_word(layer) + 1;
}

}  // namespace bloomery::cuckoo_preamble
