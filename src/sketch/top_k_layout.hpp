// The image of a top-k sketch, for writer and reader. docs/format.md is the normative text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/probe.hpp"
#include "bloomery/sketch/top_k.hpp"
#include "cells.hpp"

namespace bloomery::top_k_layout {

inline constexpr std::size_t width_word = 0;
inline constexpr std::size_t random_word = 1;
inline constexpr std::size_t decay_word = 2;
inline constexpr std::size_t total_word = 3;
inline constexpr std::size_t entries_word = 4;
inline constexpr std::size_t key_bytes_word = 5;  // words 6 and 7 are zero
inline constexpr std::size_t entry_words = 3;     // hash, count, length of the key

inline constexpr std::uint32_t counter_bits = 32;
inline constexpr std::uint32_t most_decay_ratio = 4252017623U;  // floor(0.99 * 2^32)

[[nodiscard]] constexpr std::uint32_t fingerprint_of(std::uint64_t hash_or_bucket) noexcept {
  return static_cast<std::uint32_t>(hash_or_bucket);
}
[[nodiscard]] constexpr std::uint64_t counter_of(std::uint64_t bucket) noexcept {
  return bucket >> counter_bits;
}
// With the fingerprint of a hash or of a bucket, and as much of the count as a counter holds.
[[nodiscard]] constexpr std::uint64_t bucket_of(std::uint64_t hash_or_bucket,
                                                std::uint64_t count) noexcept {
  return (std::min<std::uint64_t>(count, UINT32_MAX) << counter_bits) |
         fingerprint_of(hash_or_bucket);
}

// Bucket j * width + high64((h c^j) * width) of row j.
template <class Visit>
[[gnu::always_inline]] inline void for_each_bucket(const detail::bucket_rows& rows,
                                                   std::uint64_t hash, Visit visit) noexcept {
  std::uint64_t row = 0;
  for (std::uint32_t j = 0; j < rows.depth; ++j) {
    visit(row + detail::multiply_high(hash, rows.width));
    hash *= next_probe_multiplier;
    row += rows.width;
  }
}

// The order of the list. Keys compare as bytes.
[[nodiscard]] inline bool before(const top_k_entry& a, const top_k_entry& b) noexcept {
  if (a.count != b.count) return a.count > b.count;
  const int order = a.key.compare(b.key);
  return order != 0 ? order < 0 : a.hash < b.hash;
}

inline void check_top_k(const shape& s) {
  detail::check_kind(s, filter_kind::top_k);
  if (s.cell_bits != counter_bits) {
    detail::throw_bad_argument("the number of bits in a cell", std::uint64_t{s.cell_bits},
                               "32 in a top-k filter");
  }
}

inline void check_key(std::string_view key) {
  if (key.size() > top_k_longest_key) {
    detail::throw_bad_argument("the length of a key", std::uint64_t{key.size()},
                               "at most 65536 bytes in a top-k filter");
  }
}

}  // namespace bloomery::top_k_layout
