// What the payloads of the static kinds (fuse, ribbon, bloomier) have in common, and the arithmetic
// from a mixed hash to cells and equations, which builders and lookups share.
//
//     | arrays of shard 0 | arrays of shard 1 | ... | directory: an entry for each shard | footer |
//       from 64-byte boundaries                       4 or 8 words each                    8 words
//
// The key with hash h belongs to shard high64(h * shards). So shards are built one by one, by
// several threads or from a file that is larger than memory, and written as they come; what is
// known last stands last. Inside a shard the upper bits of h say nothing new, so it is mixed again,
// with a seed of the shard's own.
//
//     footer    word 0  number of shards
//               word 1  number of different keys
//               words 2 to 7  0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/arithmetic.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing_static.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery::detail {

// A payload whose footer and number of entries were checked; the entries are the kind's own
// business.
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

// Throws errc::bad_argument when the shape is not one of this kind or needs another number of
// words, and errc::corrupt when the footer contradicts itself, the words or the number of keys in
// the header.
[[nodiscard]] static_directory open_static(const plan& p, filter_kind kind,
                                           std::span<const std::uint64_t> words, std::uint64_t keys,
                                           std::uint64_t entry_words);
// Throws errc::bad_argument for a shape of another kind.
void check_static_kind(const shape& s, filter_kind kind);
[[noreturn]] void throw_bad_shard(filter_kind kind, std::uint64_t shard, const char* what);

// ---- packed cells -------------------------------------------------------------------------------

// Cell i of `width` bits is bits i * width and following. Widths that divide 64, so that no cell
// straddles words:
struct even_cells {
  std::uint32_t width;  // 8, 16 or 32

  [[nodiscard]] std::uint64_t mask() const noexcept { return ~std::uint64_t{0} >> (64U - width); }
  [[nodiscard]] std::uint64_t get(const std::uint64_t* words, std::uint64_t index) const noexcept {
    const std::uint64_t bit = index * width;
    return (little_endian(words[bit >> 6U]) >> (bit & 63U)) & mask();
  }
  void set(std::uint64_t* words, std::uint64_t index, std::uint64_t value) const noexcept {
    const std::uint64_t bit = index * width;
    const std::uint32_t shift = bit & 63U;
    std::uint64_t* const word = words + (bit >> 6U);
    *word = (*word & little_endian(~(mask() << shift))) | little_endian(value << shift);
  }
};

// Any width from 1 to 64. The second word that is read is the first one again unless the cell
// straddles: nothing behind the cell is touched, and no cache line that was not asked for.
struct packed_cells {
  std::uint32_t width;

  [[nodiscard]] std::uint64_t mask() const noexcept { return ~std::uint64_t{0} >> (64U - width); }
  [[nodiscard]] std::uint64_t get(const std::uint64_t* words, std::uint64_t index) const noexcept {
    const std::uint64_t bit = index * width;
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

// ---- fuse ---------------------------------------------------------------------------------------

inline constexpr std::uint64_t fuse_print_multiplier = 0x9e6c63d0876a9a47U;

// An entry of the directory of a fuse or bloomier filter:
//     word 0  first word of the shard's arrays
//     word 1  seed that the hashes of the shard are mixed with
//     word 2  segments that a key may begin in; 0 in a shard without keys
//     word 3  cells of a segment
struct fuse_shard {
  std::uint64_t first_word;
  std::uint64_t seed;
  sizing::fuse_size size;

  explicit fuse_shard(const std::uint64_t* entry) noexcept
      : first_word(little_endian(entry[0])),
        seed(little_endian(entry[1])),
        size{.starts = little_endian(entry[2]), .segment = little_endian(entry[3])} {}

  [[nodiscard]] std::uint64_t mixed(std::uint64_t hash) const noexcept { return mix64(hash, seed); }
};

// The cells of a mixed hash: one in each of `probes` neighbouring segments (Graf and Lemire 2022).
// What is left of a multiply-high, the lower half of the product, is as good as a new hash; so any
// number of segments and any length will do. With lengths of powers of two a million keys could not
// have just 1.13 cells each.
template <class Visit>
inline void fuse_cells(std::uint64_t mixed, const sizing::fuse_size& size, std::uint32_t probes,
                       Visit visit) noexcept {
  std::uint64_t first = multiply_high(mixed, size.starts) * size.segment;
  std::uint64_t rest = mixed * size.starts;
  for (std::uint32_t j = 0; j < probes; ++j) {
    visit(first + multiply_high(rest, size.segment));
    rest *= size.segment;
    first += size.segment;
  }
}

// The bits that a key must find: the upper ones of a product, since the positions used the upper
// bits of the mixed hash itself.
[[nodiscard]] constexpr std::uint64_t fuse_print(std::uint64_t mixed,
                                                 std::uint32_t width) noexcept {
  return (mixed * fuse_print_multiplier) >> (64U - width);
}

// Bloomier: the cell that holds the value of a key, or all ones when the tags say that there is
// none.
[[nodiscard]] inline std::uint64_t bloomier_own_cell(const std::uint64_t* words,
                                                     const packed_cells& tags, std::uint64_t mixed,
                                                     const sizing::fuse_size& size,
                                                     std::uint32_t probes) noexcept {
  std::uint64_t tag = fuse_print(mixed, tags.width);
  std::array<std::uint64_t, 4> cells{};
  std::size_t next = 0;
  fuse_cells(mixed, size, probes, [&](std::uint64_t cell) {
    tag ^= tags.get(words, cell);
    cells[next++] = cell;
  });
  return tag < probes ? cells[tag] : UINT64_MAX;
}

// Checks the entries of a directory of fuse shards whose arrays together have array_words(size)
// words.
template <class ArrayWords>
void check_fuse_shards(const static_directory& d, const shape& s, ArrayWords array_words) {
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < d.shards; ++i) {
    const fuse_shard shard(d.entries + i * sizing::fuse_entry_words);
    if (shard.first_word != next) throw_bad_shard(s.kind, i, "begins where it must not");
    if ((shard.size.starts == 0) != (shard.size.segment == 0)) {
      throw_bad_shard(s.kind, i, "has segments without cells");
    }
    // Below 2^31 each, so that their product does not overflow, with the last segments and all.
    if (shard.size.starts >> 31U != 0 || shard.size.segment >> 31U != 0 ||
        shard.size.cells(s.probes) > max_bits) {
      throw_bad_shard(s.kind, i, "has too many cells");
    }
    next += array_words(shard.size);
    if (next > d.array_words) throw_bad_shard(s.kind, i, "is longer than the payload");
  }
  if (next != d.array_words) throw_bad_shard(s.kind, d.shards - 1, "ends before the directory");
}

// ---- ribbon -------------------------------------------------------------------------------------

// Bumped are the starts in a bucket below the threshold that its two bits stand for.
inline constexpr std::array<std::uint32_t, 4> ribbon_thresholds = {0, 50, 110,
                                                                   sizing::ribbon_bucket_slots};

struct ribbon_equation {
  std::uint64_t low;  // coefficients 0 to 63; the first is always 1
  std::uint64_t high;

  explicit constexpr ribbon_equation(std::uint64_t mixed) noexcept
      : low(multiply_fold(mixed, 0xa0761d6478bd642fU) | 1U),
        high(multiply_fold(mixed, 0xe7037ed1a0b428dbU)) {}
};

[[nodiscard]] constexpr std::uint64_t ribbon_print(std::uint64_t mixed,
                                                   std::uint32_t bits) noexcept {
  return (mixed * fuse_print_multiplier) >> (64U - bits);
}

// The mixed hash of a key that was bumped, in the next layer.
[[nodiscard]] constexpr std::uint64_t ribbon_next(std::uint64_t mixed) noexcept {
  return mix64(mixed, 0x589965cc75374cc3U);
}

}  // namespace bloomery::detail
