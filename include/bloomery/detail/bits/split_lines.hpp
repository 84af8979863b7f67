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
#if defined(__SSE2__)
    if (width == 16) {  // the default, a fifth faster so
      const std::size_t at = first_empty_16(line);
      line[at / 4] |= cell << (at % 4 * 16);
      return;
    }
#endif
    std::size_t i = 0;
    for (std::size_t w = 0; w < bits_per_block / 64; ++w) {
      i += std::size_t{(little_endian(line[w]) & last) != 0};
    }
    while (empty_of(little_endian(line[i])) == 0) ++i;
    const int top = std::countr_zero(empty_of(little_endian(line[i])));
    line[i] |= little_endian(cell << (static_cast<std::uint32_t>(top) + 1 - width));
  }

#if defined(__SSE2__)
 private:
  [[gnu::always_inline]] static std::size_t first_empty_16(const std::uint64_t* line) noexcept {
    using cells_16 [[gnu::vector_size(16)]] = short;
    using bytes [[gnu::vector_size(16)]] = char;
    const auto empty_in = [line](std::size_t word) __attribute__((always_inline)) {
      cells_16 low;
      cells_16 high;
      std::memcpy(&low, line + word, sizeof low);
      std::memcpy(&high, line + word + 2, sizeof high);
      const auto packed = __builtin_ia32_packsswb128(low == 0, high == 0);
      return static_cast<unsigned>(__builtin_ia32_pmovmskb128(reinterpret_cast<bytes>(packed)));
    };
    return static_cast<std::size_t>(std::countr_zero(empty_in(0) | empty_in(4) << 16U));
  }
#endif
};

// Whole hashes in a table of a power of two slots, or of none; a slot that is 0 is free. At most
// half of them are taken, so a hash is rarely 100 slots away from its own, even among 2^40. Keys
// can be made to have one slot; those that find none within most_steps become fingerprints of their
// line.
struct hash_stash {
  static constexpr std::uint64_t most_steps = 256;

  const std::uint64_t* slots = nullptr;
  std::uint64_t count = 0;

  // 0 means that a slot is free. Two hashes of 2^64 are one.
  [[gnu::always_inline]] static std::uint64_t stored(std::uint64_t hash) noexcept {
    return hash == 0 ? 1 : hash;
  }
  [[gnu::always_inline]] static std::uint64_t slot_of(std::uint64_t stored,
                                                      std::uint64_t count) noexcept {
    return (stored * 0x9e3779b97f4a7c15U) >> (64 - std::countr_zero(count));
  }

  // Brings the hash's slot nearer.
  [[gnu::always_inline]] void fetch(std::uint64_t hash) const noexcept {
    __builtin_prefetch(slots + slot_of(stored(hash), count));
  }
  // Whether its slot is taken, by whatever; of a stash that has slots.
  [[gnu::always_inline]] [[nodiscard]] bool may_contain(std::uint64_t hash) const noexcept {
    return slots[slot_of(stored(hash), count)] != 0;
  }
  [[gnu::always_inline]] [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    if (count == 0) return false;
    const std::uint64_t x = little_endian(stored(hash));
    std::uint64_t at = slot_of(stored(hash), count);
    for (std::uint64_t i = 0; i < most_steps && slots[at] != 0; ++i) {
      if (slots[at] == x) return true;
      at = (at + 1) & (count - 1);
    }
    return false;
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
    if (cells.width == 16) return fits_16(line, static_cast<std::uint16_t>(cell));
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

  // No branch on the outcome where a line is not full: it would be mispredicted.
  [[gnu::always_inline]] [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    const std::uint64_t* const line = line_of(hash);
    const bool found = fits(line, cell_of(hash));
    if (cells.is_full(line)) [[unlikely]]
      return found || stash.contains(hash);
    return found;
  }

 private:
  using part_16 [[gnu::vector_size(16)]] = std::uint16_t;

  // Cells of 16 bits, which machines have instructions for, each on its own. Being set, the last
  // bit of the new one keeps empty cells from fitting.
  [[gnu::always_inline]] static bool fits_16(const std::uint64_t* line,
                                             std::uint16_t cell) noexcept {
    part_16 found{};
    for (std::size_t i = 0; i < words_per_line; i += sizeof(part_16) / 8) {
      const part_16 there = load_16(line + i);
      const part_16 below = there ^ one_less(there);
      found |= ((there ^ cell) & ~below) == 0 ? ~part_16{} : part_16{};
    }
    return is_any(found);
  }
  // 0 stays 0.
  [[gnu::always_inline]] static part_16 one_less(part_16 cells) noexcept {
#if defined(__SSE2__)
    using signed_part [[gnu::vector_size(16)]] = short;
    return reinterpret_cast<part_16>(
        __builtin_ia32_psubusw128(reinterpret_cast<signed_part>(cells), signed_part{} + 1));
#else
    return cells - (cells != 0 ? part_16{} + 1 : part_16{});
#endif
  }
  [[gnu::always_inline]] static bool is_any(part_16 found) noexcept {
#if defined(__SSE2__)
    using bytes [[gnu::vector_size(16)]] = char;
    return __builtin_ia32_pmovmskb128(reinterpret_cast<bytes>(found)) != 0;
#else
    using halves [[gnu::vector_size(16)]] = unsigned long long;
    const auto any = reinterpret_cast<halves>(found);
    return (any[0] | any[1]) != 0;
#endif
  }

  [[gnu::always_inline]] static part_16 load_16(const std::uint64_t* from) noexcept {
    part_16 cells;
    std::memcpy(&cells, from, sizeof(part_16));
    if constexpr (std::endian::native == std::endian::big) cells = (cells << 8U) | (cells >> 8U);
    return cells;
  }
};

}  // namespace bloomery::detail
