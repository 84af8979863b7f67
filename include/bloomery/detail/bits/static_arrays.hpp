// Arrays of the static kinds (fuse, ribbon, bloomier): where those of a shard are, and cells of a
// few bits in them. detail/filter/static_layout.hpp has the whole payload.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery::detail {

// A payload whose footer and number of entries were checked; the kind checks the entries.
struct static_directory {
  const std::uint64_t* words = nullptr;    // of the payload
  const std::uint64_t* entries = nullptr;  // of the directory
  std::uint64_t shards = 0;
  std::uint64_t keys = 0;
  std::uint64_t array_words = 0;  // before the directory

  // The entry of the shard that a hash belongs to.
  [[nodiscard]] const std::uint64_t* entry_of(std::uint64_t hash,
                                              std::uint64_t entry_words) const noexcept {
    return entries + multiply_high(hash, shards) * entry_words;
  }
};

// ---- packed cells -------------------------------------------------------------------------------

// Cell i is bits i * width and following. Widths that divide 64, so no cell straddles words:
struct even_cells {
  std::uint32_t width;  // 8, 16 or 32

  [[nodiscard]] std::uint64_t mask() const noexcept { return ~std::uint64_t{0} >> (64U - width); }
  // With whatever stands above it.
  [[nodiscard]] std::uint64_t shifted(const std::uint64_t* words,
                                      std::uint64_t index) const noexcept {
    const std::uint64_t bit = index * width;
    return little_endian(words[bit >> 6U]) >> (bit & 63U);
  }
  [[nodiscard]] std::uint64_t get(const std::uint64_t* words, std::uint64_t index) const noexcept {
    return shifted(words, index) & mask();
  }
  void set(std::uint64_t* words, std::uint64_t index, std::uint64_t value) const noexcept {
    const std::uint64_t bit = index * width;
    const std::uint32_t shift = bit & 63U;
    std::uint64_t* const word = words + (bit >> 6U);
    *word = (*word & little_endian(~(mask() << shift))) | little_endian(value << shift);
  }
};

// The same for one of these widths, on a machine that is little-endian itself: loads and stores of
// just the cell, so that a load need not wait for the store of a neighbour.
template <class Cell>
struct plain_cells {
  [[nodiscard]] static std::uint64_t get(const std::uint64_t* words, std::uint64_t index) noexcept {
    Cell value{};
    std::memcpy(&value, at(words, index), sizeof value);
    return value;
  }
  static void set(std::uint64_t* words, std::uint64_t index, std::uint64_t value) noexcept {
    const auto cell = static_cast<Cell>(value);
    std::memcpy(at(words, index), &cell, sizeof cell);
  }

 private:
  template <class Word>
  static auto at(Word* words, std::uint64_t index) noexcept {
    using byte = std::conditional_t<std::is_const_v<Word>, const unsigned char, unsigned char>;
    return reinterpret_cast<byte*>(words) + index * sizeof(Cell);
  }
};

// Any width from 1 to 64. The second word that is read is the first one again unless the cell
// straddles: nothing behind the cell is touched, and no cache line that was not asked for.
struct packed_cells {
  std::uint32_t width;

  [[nodiscard]] std::uint64_t mask() const noexcept { return ~std::uint64_t{0} >> (64U - width); }
  [[nodiscard]] std::uint64_t get(const std::uint64_t* words, std::uint64_t index) const noexcept {
    return get_at(words, index * width);
  }
  // The cell that begins at this bit.
  [[nodiscard]] std::uint64_t get_at(const std::uint64_t* words, std::uint64_t bit) const noexcept {
    const std::uint32_t shift = bit & 63U;
    const std::uint64_t low = little_endian(words[bit >> 6U]) >> shift;
    const std::uint64_t last = little_endian(words[(bit + width - 1) >> 6U]);
    return (low | (last << 1U) << (63U - shift)) & mask();
  }
  void set(std::uint64_t* words, std::uint64_t index, std::uint64_t value) const noexcept {
    const std::uint64_t bit = index * width;
    const std::uint32_t shift = bit & 63U;
    std::uint64_t* const word = words + (bit >> 6U);
    word[0] = (word[0] & little_endian(~(mask() << shift))) | little_endian(value << shift);
    if (shift + width <= 64) return;
    const std::uint32_t done = 64 - shift;
    word[1] = (word[1] & little_endian(~(mask() >> done))) | little_endian(value >> done);
  }
};

}  // namespace bloomery::detail
