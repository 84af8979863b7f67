// The geometry of a cuckoo filter's payload: what the filter stores and the planner must count.
//
//     word 0                 8                            8 + 8 ceil(L/4)
//          +-----------------+------------------------------+---------+---------+-- ... --+
//          | header, 8 words | directory: 2 words a layer,  | layer 0 | layer 1 |         |
//          |                 | zeros up to 8 words          |         |         |         |
//          +-----------------+------------------------------+---------+---------+-- ... --+
//
// Everything begins on a 64-byte line. Frozen: files depend on every number here but those of
// planned_slots, which only say how far a table is filled before another one is wiser.
#pragma once

#include <algorithm>
#include <array>
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

// Of a layer of `buckets` buckets; the product is at most 2^48.
[[nodiscard]] constexpr std::uint64_t layer_words(std::uint64_t buckets,
                                                  std::uint64_t bucket_bits) noexcept {
  return whole_lines((buckets * bucket_bits + 63) / 64);
}

// Slots that a table of this many buckets may be planned to fill. The share is about one percent below
// where the first insertion of a large table fails (b = 1: 0.49, 2: 0.87, 3: 0.94, 4: 0.97, 8: 0.99);
// small tables scatter and get one bucket and two roots less.
[[nodiscard]] constexpr std::uint64_t planned_slots(std::uint64_t buckets,
                                                    std::uint32_t cells) noexcept {
  constexpr std::array<std::uint64_t, 5> per_thousand = {0, 450, 850, 930, 960};
  const std::uint64_t share = cells < per_thousand.size() ? per_thousand[cells] : 970;
  const std::uint64_t slots = buckets * cells;
  return slots / 1000 * share + slots % 1000 * share / 1000;
}

}  // namespace bloomery::cuckoo_geometry
