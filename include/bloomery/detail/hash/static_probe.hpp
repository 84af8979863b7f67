// Hash + shard -> cells (fuse, bloomier) and equations (ribbon): the arithmetic that builders and
// lookups of the static kinds share. docs/format.md is its normative text.
#pragma once

#include <array>
#include <cstdint>

#include "bloomery/core/sizing_static.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery::detail {

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
// The lower half of a multiply-high's product is as good as a new hash; so any number and length of
// segments will do. With powers of two a million keys could not have just 1.13 cells each.
template <class Visit>
inline void fuse_cells(std::uint64_t mixed, const sizing::fuse_size& size, std::uint32_t probes,
                       Visit visit) noexcept {
  // Both halves of each product come from one multiplication.
  const uint128 start = static_cast<uint128>(mixed) * size.starts;
  std::uint64_t first = static_cast<std::uint64_t>(start >> 64U) * size.segment;
  auto rest = static_cast<std::uint64_t>(start);
  for (std::uint32_t j = 0; j < probes; ++j) {
    const uint128 product = static_cast<uint128>(rest) * size.segment;
    visit(first + static_cast<std::uint64_t>(product >> 64U));
    rest = static_cast<std::uint64_t>(product);
    first += size.segment;
  }
}

// The same cells, each after two multiplications, where fuse_cells needs one more for each probe:
// for who must have the cells of one key before the next key is known. `rest` is a product, too,
// of the mixed hash and a number that depends on the size alone.
template <std::uint32_t Probes>
class short_fuse_cells {
 public:
  explicit short_fuse_cells(const sizing::fuse_size& size) noexcept : size_(size) {
    std::uint64_t product = size.starts;
    for (std::uint64_t& factor : factors_) {
      factor = product;
      product *= size.segment;
    }
  }

  template <class Visit>
  void operator()(std::uint64_t mixed, Visit visit) const noexcept {
    std::uint64_t first = multiply_high(mixed, size_.starts) * size_.segment;
    for (const std::uint64_t factor : factors_) {
      visit(first + multiply_high(mixed * factor, size_.segment));
      first += size_.segment;
    }
  }

 private:
  sizing::fuse_size size_;
  std::array<std::uint64_t, Probes> factors_{};
};

// The bits that a key must find, the upper ones of a product: positions used those of the hash.
[[nodiscard]] constexpr std::uint64_t fuse_print(std::uint64_t mixed,
                                                 std::uint32_t width) noexcept {
  return (mixed * fuse_print_multiplier) >> (64U - width);
}

// ---- ribbon -------------------------------------------------------------------------------------

// A bucket of slots has a threshold, stored in two bits as an index into these. A key whose start
// lies below the threshold of its bucket is bumped: it is in the next layer.
inline constexpr std::array<std::uint32_t, 4> ribbon_thresholds = {0, 50, 110,
                                                                   sizing::ribbon_bucket_slots};

inline constexpr std::uint64_t ribbon_low_multiplier = 0xa0761d6478bd642fU;
inline constexpr std::uint64_t ribbon_high_multiplier = 0xe7037ed1a0b428dbU;
inline constexpr std::uint64_t ribbon_next_seed = 0x589965cc75374cc3U;

struct ribbon_equation {
  std::uint64_t low;  // coefficients 0 to 63; the first is always 1
  std::uint64_t high;

  explicit constexpr ribbon_equation(std::uint64_t mixed) noexcept
      : low(multiply_fold(mixed, ribbon_low_multiplier) | 1U),
        high(multiply_fold(mixed, ribbon_high_multiplier)) {}

  // All coefficients, without those beyond the last slot of a band of so many slots.
  [[nodiscard]] constexpr uint128 within(std::uint64_t slots) const noexcept {
    const uint128 all = static_cast<uint128>(high) << 64U | low;
    return slots >= sizing::ribbon_width ? all : all & ((static_cast<uint128>(1) << slots) - 1);
  }
};

[[nodiscard]] constexpr std::uint64_t ribbon_print(std::uint64_t mixed,
                                                   std::uint32_t bits) noexcept {
  return (mixed * fuse_print_multiplier) >> (64U - bits);
}

// The mixed hash of a key that was bumped, in the next layer.
[[nodiscard]] constexpr std::uint64_t ribbon_next(std::uint64_t mixed) noexcept {
  return mix64(mixed, ribbon_next_seed);
}

[[nodiscard]] inline bool ribbon_is_bumped(const std::uint64_t* thresholds,
                                           std::uint64_t start) noexcept {
  const std::uint64_t bucket = start / sizing::ribbon_bucket_slots;
  const std::uint64_t word = little_endian(thresholds[bucket / 32]);
  return start % sizing::ribbon_bucket_slots < ribbon_thresholds[(word >> (bucket % 32 * 2)) & 3U];
}

// Where a key is to be looked up.
struct ribbon_place {
  // The columns of the 64 slots that hold the key's start; null when the filter has no such key.
  const std::uint64_t* columns = nullptr;
  std::uint64_t mixed = 0;  // the hash, mixed for the layer that has the key
  std::uint32_t shift = 0;  // the number of the start among the 64 slots

  // An entry of the directory of a ribbon filter:
  //     word 0        first word of the shard
  //     word 1        seed that the hashes of the shard are mixed with
  //     words 2 to 5  slots of each layer
  //     word 6        words of all columns, which is where the thresholds begin
  //     word 7        0
  [[nodiscard]] static ribbon_place of(std::uint64_t hash, const std::uint64_t* words,
                                       const std::uint64_t* entry, std::uint32_t bits) noexcept {
    const std::uint64_t* columns = words + little_endian(entry[0]);
    const std::uint64_t* thresholds = columns + little_endian(entry[6]);
    std::uint64_t mixed = mix64(hash, little_endian(entry[1]));
    for (std::uint32_t layer = 0; layer < sizing::ribbon_layers; ++layer) {
      const std::uint64_t slots = little_endian(entry[2 + layer]);
      if (slots == 0) continue;
      const std::uint64_t start = multiply_high(mixed, sizing::ribbon_starts(slots));
      if (layer + 1 == sizing::ribbon_layers || !ribbon_is_bumped(thresholds, start)) {
        return {columns + start / 64 * bits, mixed, static_cast<std::uint32_t>(start % 64)};
      }
      columns += slots / 64 * bits;
      thresholds += sizing::ribbon_threshold_words(slots);
      mixed = ribbon_next(mixed);
    }
    return {};
  }
};

// The coefficients of a key as they lie over three words of a column.
struct ribbon_cover {
  std::uint64_t first;
  std::uint64_t second;
  std::uint64_t third;

  ribbon_cover(const ribbon_equation& e, std::uint32_t shift) noexcept
      : first(e.low << shift),
        second(e.high << shift | (e.low >> 1U) >> (63U - shift)),
        third((e.high >> 1U) >> (63U - shift)) {}

  // The slots of column j, of `bits` columns, that have a coefficient of 1.
  [[nodiscard]] std::uint64_t chosen(const std::uint64_t* columns, std::uint32_t bits,
                                     std::uint32_t j) const noexcept {
    return (little_endian(columns[j]) & first) ^ (little_endian(columns[bits + j]) & second) ^
           (little_endian(columns[2 * bits + j]) & third);
  }
};

// Both numbers consist of units of 2 * by bits, each of which becomes the XOR of its two halves:
// those of `a` in the lower halves of the result, those of `b` in the upper. `low` masks the lower.
[[nodiscard]] constexpr std::uint64_t fold_two(std::uint64_t a, std::uint64_t b, std::uint32_t by,
                                               std::uint64_t low) noexcept {
  return ((a & low) | ((b & low) << by)) ^ (((a >> by) & low) | (b & ~low));
}

// Bit j of the answer: whether number(j) has an odd number of ones, for eight numbers. They are
// folded until the parities of all are those of the bytes of one word.
template <class Numbers>
[[nodiscard]] [[gnu::always_inline]] inline std::uint64_t odd_of_eight(
    const Numbers& number) noexcept {
  constexpr std::uint64_t low32 = 0x00000000ffffffffU;
  constexpr std::uint64_t low16 = 0x0000ffff0000ffffU;
  constexpr std::uint64_t low8 = 0x00ff00ff00ff00ffU;
  const std::uint64_t even = fold_two(fold_two(number(0), number(4), 32, low32),
                                      fold_two(number(2), number(6), 32, low32), 16, low16);
  const std::uint64_t odd = fold_two(fold_two(number(1), number(5), 32, low32),
                                     fold_two(number(3), number(7), 32, low32), 16, low16);
  std::uint64_t bytes = fold_two(even, odd, 8, low8);
  bytes ^= bytes >> 4U;
  bytes ^= bytes >> 2U;
  bytes ^= bytes >> 1U;
  return ((bytes & 0x0101010101010101U) * 0x0102040810204080U) >> 56U;
}

}  // namespace bloomery::detail
