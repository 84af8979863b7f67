// Lines of short fingerprints that can double without their keys: what a scalable filter of the split rule is made of.
//
//     line    [ 1011001 1 0000000 | 011000101100011 1 | ... ]   32 cells of 16 bits; 0 is an empty one
//               fingerprint, a 1, zeros
//
// The product of a hash and the number of lines has the line of the key in its upper half, and what stands behind the
// point, in the lower one, is what is left to tell keys of one line apart. A cell has the first 15 bits of it. Twice as many
// lines take the first bit of them: the cells of line i go to lines 2i and 2i + 1 by it and are one bit shorter. So a
// lookup reads one line, however often the lines have doubled (after Dayan, Bercea, Reviriego and Pagh 2023, who have
// fingerprints of several lengths in a quotient filter).
//
// The cells of a line are filled from the front. A key whose line has no room goes into the stash, a table of whole
// hashes with linear probing, which is asked for the keys of full lines only.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bloomery/core/arithmetic.hpp"
#include "bloomery/core/shape.hpp"

namespace bloomery::detail {

inline constexpr std::size_t cells_per_line = bits_per_block / 16;

// Whole hashes in a table of a power of two slots, or of none; a slot that is 0 is free.
struct hash_stash {
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
  [[gnu::always_inline]] [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    if (count == 0) return false;
    const std::uint64_t x = little_endian(stored(hash));
    std::uint64_t at = slot_of(stored(hash), count);
    // A table that was read from somewhere may have no free slot.
    for (std::uint64_t i = 0; i < count && slots[at] != 0; ++i) {
      if (slots[at] == x) return true;
      at = (at + 1) & (count - 1);
    }
    return false;
  }
};

struct split_lines {
  const std::uint64_t* words = nullptr;
  std::uint64_t lines = 0;
  hash_stash stash{};

  static constexpr std::size_t words_per_line = bits_per_block / 64;

  [[gnu::always_inline]] [[nodiscard]] const std::uint64_t* line_of(
      std::uint64_t hash) const noexcept {
    return words + multiply_high(hash, lines) * words_per_line;
  }
  // The first 16 bits behind the point.
  [[gnu::always_inline]] [[nodiscard]] std::uint16_t rest_of(std::uint64_t hash) const noexcept {
    return static_cast<std::uint16_t>((hash * lines) >> 48U);
  }

  [[gnu::always_inline]] static std::uint16_t cell(const std::uint64_t* line,
                                                   std::size_t i) noexcept {
    return static_cast<std::uint16_t>(little_endian(line[i / 4]) >> (i % 4 * 16));
  }
  // A key may be in the stash when its line is.
  [[gnu::always_inline]] static bool is_full(const std::uint64_t* line) noexcept {
    return cell(line, cells_per_line - 1) != 0;
  }

  // Whether a fingerprint in the line is how `rest` begins.
  [[gnu::always_inline]] static bool fits(const std::uint64_t* line, std::uint16_t rest) noexcept {
    part found{};
    for (std::size_t i = 0; i < words_per_line; i += sizeof(part) / 8) {
      const part cells = load(line + i);
      // All bits of a cell up to the 1 behind its fingerprint; what is above them must be the same.
      const part below = cells ^ (cells - 1);
      found |= ((((cells ^ rest) & ~below) == 0) & (cells != 0)) ? ~part{} : part{};
    }
    using words_of_part [[gnu::vector_size(16)]] = unsigned long long;
    const auto any = reinterpret_cast<words_of_part>(found);
    return (any[0] | any[1]) != 0;
  }

  // No branch on the outcome where a line is not full: it would be mispredicted.
  [[gnu::always_inline]] [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    const std::uint64_t* const line = line_of(hash);
    const bool found = fits(line, rest_of(hash));
    if (is_full(line)) [[unlikely]]
      return found || stash.contains(hash);
    return found;
  }

 private:
  using part [[gnu::vector_size(16)]] = std::uint16_t;

  [[gnu::always_inline]] static part load(const std::uint64_t* from) noexcept {
    part cells;
    std::memcpy(&cells, from, sizeof(part));
    if constexpr (std::endian::native == std::endian::big) cells = (cells << 8U) | (cells >> 8U);
    return cells;
  }
};

}  // namespace bloomery::detail
