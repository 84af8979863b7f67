// Lines of short fingerprints that can double without their keys: the parts of a scalable filter.
//
//     line    [ 1011001 1 0000000 | 011000101100011 1 | ... ]   cells of 12, 16, 21 or 32 bits
//               fingerprint, a 1, zeros                         0 is an empty one
//
// The product of a hash and the number of lines has the line of the key in its upper half; the
// lower one, the fraction, tells keys of one line apart. A cell of w bits has its first w - 1 bits.
// When the lines double, the first of these bits sends the cells of line i to line 2i or 2i + 1 and
// is dropped. So a lookup reads one line, however often the lines have doubled (after Dayan,
// Bercea, Reviriego and Pagh 2023, who have fingerprints of several lengths in a quotient filter).
//
// The cells of a line are filled from the front. A key whose line has no room goes into the stash,
// a table of whole hashes with linear probing, which is asked for the keys of full lines only.
// Where the stash has no room near its slot, a fingerprint of the line is cut until it fits the key
// too.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/bits/cells_16.hpp"
#include "bloomery/detail/bits/hash_stash.hpp"
#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery::detail {

// How a word is cut into cells, from its low end. Bits that are left over at the top are 0. A word
// of a file may break every promise made here; then the answers are wrong, and nothing else.
struct word_cells {
  std::uint32_t width;
  std::uint32_t count;
  std::uint64_t ones = 0;  // the lowest bit of every cell
  std::uint64_t tops = 0;  // and the highest
  std::uint64_t last = 0;  // all bits of the last cell

  [[gnu::always_inline]] explicit constexpr word_cells(std::uint32_t cell_bits) noexcept
      : width(cell_bits), count(64 / cell_bits) {
    for (std::uint32_t i = 0; i < count; ++i) ones |= std::uint64_t{1} << (i * width);
    tops = ones << (width - 1);
    last = ~std::uint64_t{0} >> (64 - width) << ((count - 1) * width);
  }

  [[gnu::always_inline]] [[nodiscard]] constexpr std::uint32_t in_line() const noexcept {
    return count * (bits_per_block / 64);
  }
  // A fingerprint of length 0: every key of the line fits.
  [[gnu::always_inline]] [[nodiscard]] constexpr std::uint32_t no_bits() const noexcept {
    return std::uint32_t{1} << (width - 1);
  }
  // A key may be in the stash when its line is full.
  [[gnu::always_inline]] [[nodiscard]] bool is_full(const std::uint64_t* line) const noexcept {
    return (little_endian(line[bits_per_block / 64 - 1]) & last) != 0;
  }
  // Calls visit(cell) for all cells of a line, in use or not.
  template <class Visit>
  void each(const std::uint64_t* line, Visit visit) const {
    for (std::size_t w = 0; w < bits_per_block / 64; ++w) {
      std::uint64_t word = little_endian(line[w]);
      for (std::uint32_t i = 0; i < count; ++i, word >>= width) {
        visit(static_cast<std::uint32_t>(word & (~std::uint64_t{0} >> (64 - width))));
      }
    }
  }

  // The highest bits of empty cells of a word: all of them where the cells in use come first, and
  // the lowest in any case, since an empty cell borrows from those above it.
  [[gnu::always_inline]] [[nodiscard]] std::uint64_t empty_of(std::uint64_t word) const noexcept {
    return (word - ones) & ~word & tops;
  }
  // Puts a cell into the first empty one of a line that is not full. The search begins after as
  // many words as are full, which takes no branch, and ends there unless a file has holes.
  [[gnu::always_inline]] void append(std::uint64_t* line, std::uint64_t cell) const noexcept {
    if (width == 16) return append_16(line, static_cast<std::uint16_t>(cell));
    std::size_t i = 0;
    for (std::size_t w = 0; w < bits_per_block / 64; ++w) {
      i += std::size_t{(little_endian(line[w]) & last) != 0};
    }
    while (empty_of(little_endian(line[i])) == 0) ++i;
    const int top = std::countr_zero(empty_of(little_endian(line[i])));
    line[i] |= little_endian(cell << (static_cast<std::uint32_t>(top) + 1 - width));
  }

  // Of 16 bits, the default: a fifth faster so.
  [[gnu::always_inline]] static void append_16(std::uint64_t* line, std::uint16_t cell) noexcept {
    cell = std::endian::native == std::endian::little ? cell : __builtin_bswap16(cell);
    std::memcpy(reinterpret_cast<unsigned char*>(line) + 2 * first_empty_cell(line), &cell, 2);
  }
};

struct split_lines {
  const std::uint64_t* words = nullptr;
  std::uint64_t lines = 0;
  word_cells cells{16};
  hash_stash stash{};

  static constexpr std::size_t words_per_line = bits_per_block / 64;

  [[gnu::always_inline]] [[nodiscard]] const std::uint64_t* line_of(
      std::uint64_t hash) const noexcept {
    return words + multiply_high(hash, lines) * words_per_line;
  }
  // The cell of a key that was just added: the first bits of the fraction, the last of them set.
  [[gnu::always_inline]] [[nodiscard]] std::uint32_t cell_of(std::uint64_t hash) const noexcept {
    return static_cast<std::uint32_t>((hash * lines) >> (64 - cells.width)) | 1U;
  }

  // Whether a fingerprint in the line is how that of a new cell begins.
  //
  // word ^ (word - ones) has the bits of a cell from the 1 after its fingerprint on; above them it
  // must be the same as the new one. The last bit is never part of a fingerprint. What is left is 0
  // in a cell that fits, and such a cell is the one that borrows in the second subtraction. Empty
  // cells seem to fit; they are above all others, so that nothing is hidden by what they borrow.
  [[gnu::always_inline]] [[nodiscard]] bool fits(const std::uint64_t* line,
                                                 std::uint32_t cell) const noexcept {
    if (cells.width == 16) return fits_cells(line, static_cast<std::uint16_t>(cell));
    using part [[gnu::vector_size(16)]] = std::uint64_t;
    const std::uint64_t wanted = cells.ones * cell;
    part found{};
    for (std::size_t i = 0; i < words_per_line; i += 2) {
      const part word = {little_endian(line[i]), little_endian(line[i + 1])};
      const part less = word - cells.ones;
      const part left = (word ^ wanted) & ~(word ^ less);
      found |= (left - cells.ones) & ~left & (word | ~less);
    }
    return ((found[0] | found[1]) & cells.tops) != 0;
  }

  // The line and the cell of a key in cells of 16 bits, the default: both halves of one product.
  struct place_16 {
    [[gnu::always_inline]] place_16(const split_lines& table, std::uint64_t hash) noexcept
        : place_16(table, static_cast<uint128>(hash) * table.lines) {}
    // Whether the stash must be asked: one branch, since two would be mispredicted twice as often.
    [[gnu::always_inline]] [[nodiscard]] bool is_open() const noexcept {
      return (unsigned{is_full} & ~unsigned{fits}) != 0;
    }
    std::uint64_t line;  // its first word
    std::uint16_t cell;
    bool fits;
    bool is_full;

   private:
    [[gnu::always_inline]] place_16(const split_lines& table, uint128 product) noexcept
        : line(static_cast<std::uint64_t>(product >> 64U) * words_per_line),
          cell(static_cast<std::uint16_t>(static_cast<std::uint64_t>(product) >> 48U | 1U)),
          fits(fits_cells(table.words + line, cell)),
          is_full((little_endian(table.words[line + words_per_line - 1]) >> 48U) != 0) {}
  };

  // No branch on the outcome where a line is not full: it would be mispredicted.
  [[gnu::always_inline]] [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    if (cells.width != 16) return contains_any(hash);
    const place_16 place(*this, hash);
    if (place.is_open()) [[unlikely]]
      return in_stash(hash);
    return place.fits;
  }

 private:
  // No part of the caller, whose registers they would take; pure, so that it may keep what it has.
  [[gnu::pure]] [[nodiscard]] bool contains_any(std::uint64_t hash) const noexcept;
  [[gnu::pure]] [[nodiscard]] bool in_stash(std::uint64_t hash) const noexcept;
};

}  // namespace bloomery::detail
