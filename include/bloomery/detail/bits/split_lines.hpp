// Lines of short fingerprints that can double without their keys: what a scalable filter of the
// split rule is made of.
//
//     line    [ 1011001 1 0000000 | 011000101100011 1 | ... ]   32 cells of 16 bits; 0 is an empty one
//               fingerprint, a 1, zeros
//
// The product of a hash and the number of lines has the line of the key in its upper half, and what
// stands behind the point, in the lower one, is what is left to tell keys of one line apart. A cell
// has the first 15 bits of it. Twice as many lines take the first bit of them: the cells of line i
// go to lines 2i and 2i + 1 by it and are one bit shorter. So a lookup reads one line, however
// often the lines have doubled (after Dayan, Bercea, Reviriego and Pagh 2023, who have fingerprints
// of several lengths in a quotient filter).
//
// The cells of a line are filled from the front. A key whose line has no room goes into the stash,
// a table of whole hashes with linear probing, which is asked for the keys of full lines only.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/core/arithmetic.hpp"

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
  // Whether its slot is taken, by whatever; of a stash that has slots.
  [[gnu::always_inline]] [[nodiscard]] bool may_contain(std::uint64_t hash) const noexcept {
    return slots[slot_of(stored(hash), count)] != 0;
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

  // The first empty cell of a line that is not full.
  [[gnu::always_inline]] static std::size_t first_free(const std::uint64_t* line) noexcept {
#if defined(__SSE2__)
    using pairs [[gnu::vector_size(16)]] = short;
    using bytes [[gnu::vector_size(16)]] = char;
    const auto free_of = [&](std::size_t word) __attribute__((always_inline)) {
      const auto a = reinterpret_cast<pairs>(load(line + word) == 0);
      const auto b = reinterpret_cast<pairs>(load(line + word + 2) == 0);
      return static_cast<unsigned>(
          __builtin_ia32_pmovmskb128(reinterpret_cast<bytes>(__builtin_ia32_packsswb128(a, b))));
    };
    return static_cast<std::size_t>(std::countr_zero(free_of(0) | free_of(4) << 16U));
#else
    // The highest bits of the cells that are 0; exact for the lowest such cell of a word, and that
    // is the one.
    const auto free_in = [](std::uint64_t word) {
      return (word - 0x0001000100010001U) & ~word & 0x8000800080008000U;
    };
    std::size_t i = 0;
    while (free_in(little_endian(line[i])) == 0) ++i;
    return i * 4 + static_cast<std::size_t>(std::countr_zero(free_in(little_endian(line[i])))) / 16;
#endif
  }

  // Whether a fingerprint in the line is how `rest` begins.
  [[gnu::always_inline]] static bool fits(const std::uint64_t* line, std::uint16_t rest) noexcept {
    const auto marked = static_cast<std::uint16_t>(rest | 1U);
    part found{};
    for (std::size_t i = 0; i < words_per_line; i += sizeof(part) / 8) {
      const part cells = load(line + i);
      // The bits of a cell from the 1 behind its fingerprint on, none of an empty one; above them
      // it must be the same. The last bit is never part of a fingerprint, and being set it keeps
      // empty cells from fitting.
      const part below = cells ^ one_less(cells);
      found |= ((cells ^ marked) & ~below) == 0 ? ~part{} : part{};
    }
    return is_any(found);
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

  // 0 stays 0.
  [[gnu::always_inline]] static part one_less(part cells) noexcept {
#if defined(__SSE2__)
    using signed_part [[gnu::vector_size(16)]] = short;
    return reinterpret_cast<part>(
        __builtin_ia32_psubusw128(reinterpret_cast<signed_part>(cells), signed_part{} + 1));
#else
    return cells - (cells != 0 ? part{} + 1 : part{});
#endif
  }
  [[gnu::always_inline]] static bool is_any(part found) noexcept {
#if defined(__SSE2__)
    using bytes [[gnu::vector_size(16)]] = char;
    return __builtin_ia32_pmovmskb128(reinterpret_cast<bytes>(found)) != 0;
#else
    using halves [[gnu::vector_size(16)]] = unsigned long long;
    const auto any = reinterpret_cast<halves>(found);
    return (any[0] | any[1]) != 0;
#endif
  }

  [[gnu::always_inline]] static part load(const std::uint64_t* from) noexcept {
    part cells;
    std::memcpy(&cells, from, sizeof(part));
    if constexpr (std::endian::native == std::endian::big) cells = (cells << 8U) | (cells >> 8U);
    return cells;
  }
};

}  // namespace bloomery::detail
