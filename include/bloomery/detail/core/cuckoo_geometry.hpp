// The geometry of a cuckoo filter's payload: what the filter stores and the planner must count.
//
//     word 0                 8                            8 + 8 ceil(L/4)
//          +-----------------+------------------------------+---------+---------+-- ... --+
//          | header, 8 words | directory: 2 words a layer,  | layer 0 | layer 1 |         |
//          |                 | zeros up to 8 words          |         |         |         |
//          +-----------------+------------------------------+---------+---------+-- ... --+
//
// Everything begins on a 64-byte line. Frozen: files depend on every number here, those of
// planned_slots included, which decide when and how a filter grows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace bloomery::cuckoo_geometry {

inline constexpr std::uint32_t max_layers = 32;
inline constexpr std::uint32_t max_bucket_cells = 255;
inline constexpr std::uint32_t default_bucket_cells = 4;
inline constexpr std::uint64_t header_words = 8;
inline constexpr std::uint64_t entry_words = 2;
inline constexpr std::uint64_t line_words = 8;

[[nodiscard]] constexpr std::uint64_t whole_lines(std::uint64_t words) noexcept {
  return (words + line_words - 1) / line_words * line_words;
}

[[nodiscard]] constexpr std::uint64_t preamble_words(std::uint64_t layers) noexcept {
  return header_words + whole_lines(entry_words * layers);
}

// Words of the preamble.
enum header_word : std::size_t { layers_word = 0, max_layers_word = 1, expansion_word = 2 };
[[nodiscard]] constexpr std::size_t buckets_word(std::size_t layer) noexcept {
  return header_words + entry_words * layer;
}
[[nodiscard]] constexpr std::size_t used_word(std::size_t layer) noexcept {
  return buckets_word(layer) + 1;
}

// What the last bucket of a layer takes: eight bytes can be read from where it begins, so that no
// lookup asks if it is the last.
[[nodiscard]] constexpr std::uint64_t last_bucket_bits(std::uint64_t bucket_bits) noexcept {
  return std::max<std::uint64_t>(bucket_bits, 64);
}

// Of a layer of `buckets` buckets, which is not 0; the product is at most 2^48.
[[nodiscard]] constexpr std::uint64_t layer_words(std::uint64_t buckets,
                                                  std::uint64_t bucket_bits) noexcept {
  return whole_lines(((buckets - 1) * bucket_bits + last_bucket_bits(bucket_bits) + 63) / 64);
}

// The most buckets of a layer of so many bits.
[[nodiscard]] constexpr std::uint64_t buckets_in(std::uint64_t bits,
                                                 std::uint64_t bucket_bits) noexcept {
  const std::uint64_t last = last_bucket_bits(bucket_bits);
  return bits < last ? 0 : (bits - last) / bucket_bits + 1;
}

// Cells that a table of this many buckets may be planned to fill: a little below where the first
// insertion fails, measured with filter/cuckoo.hpp's search from 100,000 buckets on: b = 1: 0.44,
// 2: 0.878, 3: 0.948, 4: 0.972, 5: 0.984, 6: 0.991, 8: 0.996, 16: 0.999. Small tables scatter: some
// cells less make failures rare there too (b = 4: below 2 %).
[[nodiscard]] constexpr std::uint64_t planned_slots(std::uint64_t buckets,
                                                    std::uint32_t cells) noexcept {
  constexpr std::array<std::uint64_t, 9> per_thousand = {0, 450, 850, 935, 960, 970, 975, 980, 985};
  const std::uint64_t share = per_thousand[std::min<std::size_t>(cells, per_thousand.size() - 1)];
  const std::uint64_t slots = buckets * cells;
  const std::uint64_t full = slots / 1000 * share + slots % 1000 * share / 1000;
  return full - std::min<std::uint64_t>(32 / (cells * cells), slots / 8);
}

}  // namespace bloomery::cuckoo_geometry
