// The sizes of fuse, ribbon and bloomier, for planner and builders: how many shards a set of keys
// is cut into, and how many cells or slots a shard of so many different keys gets.
//
// All in integers, because the sizes decide the words: a logarithm that differs in its last bit on
// another machine would build another filter. docs/math.md says where the tables come from.
#pragma once

#include <array>
#include <cstdint>

#include "bloomery/core/shape.hpp"

namespace bloomery::sizing {

// ---- shards -------------------------------------------------------------------------------------

// A shard has from 2^20 to 2^21 keys: enough that a larger one would save no space, few enough that
// its arrays stay near the third-level cache while it is built.
inline constexpr std::uint32_t log2_shard_keys = 20;
inline constexpr std::uint64_t max_static_shards = std::uint64_t{1} << 24U;
// Of one shard. Hashes that are not uniform can put all into one; cell numbers have 32 bits.
inline constexpr std::uint64_t max_shard_keys = std::uint64_t{1} << 31U;

[[nodiscard]] std::uint64_t static_shards(std::uint64_t keys) noexcept;

// Words of an array of so many bits in a payload: arrays start at multiples of 64 bytes.
[[nodiscard]] constexpr std::uint64_t array_words(std::uint64_t bits) noexcept {
  return (bits + 511) / 512 * 8;
}

inline constexpr std::uint64_t footer_words = 8;
inline constexpr std::uint64_t fuse_entry_words = 4;
inline constexpr std::uint64_t ribbon_entry_words = 8;

// ---- fuse and bloomier --------------------------------------------------------------------------

// `starts` segments that a key may begin in, probes - 1 more behind them, each of `segment` cells.
struct fuse_size {
  std::uint64_t starts = 0;
  std::uint64_t segment = 0;

  [[nodiscard]] constexpr std::uint64_t cells(std::uint32_t probes) const noexcept {
    return starts == 0 ? 0 : (starts + probes - 1) * segment;
  }
  friend bool operator==(const fuse_size&, const fuse_size&) = default;
};

// For a shard of this many different keys, at most max_shard_keys. No keys, no cells.
[[nodiscard]] fuse_size fuse_size_for(std::uint64_t keys, std::uint32_t probes) noexcept;

// Bloomier has two tables of such cells. A tag: the check bits and two that number the own cell.
inline constexpr std::uint32_t max_check_bits = 32;
[[nodiscard]] constexpr std::uint32_t bloomier_tag_bits(const shape& s) noexcept {
  return s.cell_bits - s.variant + 2;
}
[[nodiscard]] constexpr std::uint64_t bloomier_tag_words(const shape& s,
                                                         const fuse_size& size) noexcept {
  return array_words(size.cells(s.probes) * bloomier_tag_bits(s));
}
[[nodiscard]] constexpr std::uint64_t bloomier_value_words(const shape& s,
                                                           const fuse_size& size) noexcept {
  return array_words(size.cells(s.probes) * s.variant);
}
// Throws errc::bad_argument for more check bits than max_check_bits.
void check_bloomier(const shape& s);

// ---- ribbon -------------------------------------------------------------------------------------

inline constexpr std::uint32_t ribbon_width = 128;         // coefficients of an equation
inline constexpr std::uint32_t ribbon_bucket_slots = 512;  // starts that share a threshold
inline constexpr std::uint32_t ribbon_layers = 4;

// Slots of each layer, multiples of 64; 0 where a layer is left out. The last one bumps nothing.
using ribbon_size = std::array<std::uint64_t, ribbon_layers>;

// For a shard of this many different keys, at most max_shard_keys. No keys, no slots.
[[nodiscard]] ribbon_size ribbon_size_for(std::uint64_t keys) noexcept;

// Where an equation of a layer may start, and the words of the layer's thresholds, 2 bits for each
// bucket. A band shorter than an equation (format/compact.hpp) has one start.
[[nodiscard]] constexpr std::uint64_t ribbon_starts(std::uint64_t slots) noexcept {
  if (slots == 0) return 0;
  return slots > ribbon_width ? slots - ribbon_width : 1;
}
[[nodiscard]] constexpr std::uint64_t ribbon_threshold_words(std::uint64_t slots) noexcept {
  constexpr std::uint64_t starts_per_word = std::uint64_t{32} * ribbon_bucket_slots;
  return (ribbon_starts(slots) + starts_per_word - 1) / starts_per_word;
}
// Words of the columns of all layers; then come the thresholds of all layers but the last.
[[nodiscard]] constexpr std::uint64_t ribbon_column_words(const ribbon_size& size,
                                                          std::uint32_t cell_bits) noexcept {
  return (size[0] + size[1] + size[2] + size[3]) / 64 * cell_bits;
}
[[nodiscard]] constexpr std::uint64_t ribbon_array_words(const ribbon_size& size,
                                                         std::uint32_t cell_bits) noexcept {
  return array_words(64 * (ribbon_column_words(size, cell_bits) + ribbon_threshold_words(size[0]) +
                           ribbon_threshold_words(size[1]) + ribbon_threshold_words(size[2])));
}

// ---- whole filters ------------------------------------------------------------------------------

// Bits of the payload for this many different keys: exact for one shard, and for more an
// expectation but for roundings. Only kind, probes, cell_bits and variant of the shape count.
[[nodiscard]] std::uint64_t static_bits(const shape& s, std::uint64_t keys);

}  // namespace bloomery::sizing
