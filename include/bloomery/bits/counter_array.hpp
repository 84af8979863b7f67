// Cells of a few bits, packed in words: counters and fingerprints.
//
// Cell i of an array of w-bit cells is bits [i w, i w + w) of the little-endian array:
//
//     bit    0        w       2w       3w                 64
//            +--------+--------+--------+-- ... ----------+--
//     word 0 | cell 0 | cell 1 | cell 2 |                 |  word 1 ...
//            +--------+--------+--------+-- ... ----------+--
//
// When w is a power of two no cell straddles two words, and whole words can be worked on at once:
// the second half of this file. Fingerprints have any width up to 64 bits: get_bits and set_bits.
// Functions and not a class, because the words belong to a filter, a mapped file or a message.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery::detail {

// The lowest `width` bits, 1 to 64.
[[nodiscard]] constexpr std::uint64_t low_mask(std::uint32_t width) noexcept {
  return ~std::uint64_t{0} >> (64U - width);
}

// ---- one cell, by the position of its first bit -----------------------------------------------

// Width a power of two, position a multiple of it.
[[nodiscard]] inline std::uint64_t get_cell(const std::uint64_t* words, std::uint64_t position,
                                            std::uint32_t width) noexcept {
  return (little_endian(words[position >> 6U]) >> (position & 63U)) & low_mask(width);
}

inline void set_cell(std::uint64_t* words, std::uint64_t position, std::uint32_t width,
                     std::uint64_t value) noexcept {
  std::uint64_t* const word = words + (position >> 6U);
  const std::uint64_t others = little_endian(*word) & ~(low_mask(width) << (position & 63U));
  *word = little_endian(others | value << (position & 63U));
}

// Counters of at most 32 bits, through the 32-bit half of the word that they are in. A key of a
// block has counters in neighbouring lanes, at random; through words those would be a store and a
// load of the same word, one waiting for the other (Zen 4: 7 % of an addition, 10 % of a removal).
[[nodiscard]] inline std::uint32_t load_half(const std::uint64_t* words,
                                             std::uint64_t position) noexcept {
  std::uint32_t half = 0;
  std::memcpy(&half, reinterpret_cast<const std::byte*>(words) + (position >> 5U) * 4, 4);
  return std::endian::native == std::endian::little ? half : __builtin_bswap32(half);
}

inline void store_half(std::uint64_t* words, std::uint64_t position, std::uint32_t half) noexcept {
  if constexpr (std::endian::native != std::endian::little) half = __builtin_bswap32(half);
  std::memcpy(reinterpret_cast<std::byte*>(words) + (position >> 5U) * 4, &half, 4);
}

[[nodiscard]] inline std::uint32_t get_counter(const std::uint64_t* words, std::uint64_t position,
                                               std::uint32_t width) noexcept {
  return (load_half(words, position) >> (position & 31U)) & (UINT32_MAX >> (32U - width));
}

// Adds one unless the counter is at its maximum, where it sticks. True when it was 0.
inline bool increment_counter(std::uint64_t* words, std::uint64_t position,
                              std::uint32_t width) noexcept {
  const std::uint32_t half = load_half(words, position);
  const bool room = ((~half >> (position & 31U)) & (UINT32_MAX >> (32U - width))) != 0;
  store_half(words, position, half + (std::uint32_t{room} << (position & 31U)));
  return ((half >> (position & 31U)) & (UINT32_MAX >> (32U - width))) == 0;
}

// Takes one away unless the counter sticks at its maximum. It must not be 0.
inline void decrement_counter(std::uint64_t* words, std::uint64_t position,
                              std::uint32_t width) noexcept {
  const std::uint32_t half = load_half(words, position);
  const bool free = ((~half >> (position & 31U)) & (UINT32_MAX >> (32U - width))) != 0;
  store_half(words, position, half - (std::uint32_t{free} << (position & 31U)));
}

// Any width from 1 to 64, anywhere. The second word is touched only when the cell reaches into it,
// as an array may end before. Reading has no branch: of 40-bit cells over half straddle, at random.
[[nodiscard]] inline std::uint64_t get_bits(const std::uint64_t* words, std::uint64_t position,
                                            std::uint32_t width) noexcept {
  const std::uint64_t* const word = words + (position >> 6U);
  const auto shift = static_cast<std::uint32_t>(position & 63U);
  const std::size_t next = shift + width > 64U ? 1 : 0;  // else the same again, above the mask
  const std::uint64_t high = (little_endian(word[next]) << 1U) << (63U - shift);
  return (little_endian(word[0]) >> shift | high) & low_mask(width);
}

inline void set_bits(std::uint64_t* words, std::uint64_t position, std::uint32_t width,
                     std::uint64_t value) noexcept {
  std::uint64_t* const word = words + (position >> 6U);
  const auto shift = static_cast<std::uint32_t>(position & 63U);
  const std::uint64_t mask = low_mask(width);
  word[0] = little_endian((little_endian(word[0]) & ~(mask << shift)) | value << shift);
  if (shift + width <= 64U) return;
  const std::uint32_t done = 64U - shift;
  word[1] = little_endian((little_endian(word[1]) & ~(mask >> done)) | value >> done);
}

// ---- all cells of a word at once; widths 1, 2, 4, ..., 32 -------------------------------------

// The lowest bit of every cell.
[[nodiscard]] constexpr std::uint64_t cell_ones(std::uint32_t width) noexcept {
  return ~std::uint64_t{0} / low_mask(width);
}

// A one in the lowest bit of each cell that is not 0; of each that is at its maximum.
[[nodiscard]] constexpr std::uint64_t nonzero_cells(std::uint64_t word,
                                                    std::uint32_t width) noexcept {
  for (std::uint32_t step = width / 2; step > 0; step /= 2) word |= word >> step;
  return word & cell_ones(width);
}

[[nodiscard]] constexpr std::uint64_t full_cells(std::uint64_t word, std::uint32_t width) noexcept {
  for (std::uint32_t step = width / 2; step > 0; step /= 2) word &= word >> step;
  return word & cell_ones(width);
}

// Every cell that is not 0, filled with ones.
[[nodiscard]] constexpr std::uint64_t spread_cells(std::uint64_t word,
                                                   std::uint32_t width) noexcept {
  return nonzero_cells(word, width) * low_mask(width);
}

// The saturating sum of each pair of cells, in fields of twice the width, with room for the carry.
[[nodiscard]] constexpr std::uint64_t add_cells(std::uint64_t a, std::uint64_t b,
                                                std::uint32_t width) noexcept {
  const std::uint64_t fields = cell_ones(2 * width) * low_mask(width);
  const auto add = [&](std::uint64_t x, std::uint64_t y) {
    const std::uint64_t sum = (x & fields) + (y & fields);
    const std::uint64_t carries = (sum >> width) & cell_ones(2 * width);
    return (sum | carries * low_mask(width)) & fields;
  };
  return add(a, b) | add(a >> width, b >> width) << width;
}

}  // namespace bloomery::detail
