// From hashes to cells for the fuse kernels: detail/hash/static_probe.hpp's arithmetic, as many
// keys at a time as a Number has places. And how cells are read, by byte or as tags of any width.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bloomery/core/sizing_static.hpp"
#include "bloomery/detail/bits/static_arrays.hpp"
#include "bloomery/detail/hash/static_probe.hpp"

namespace bloomery::kernel {

// The shards of some keys, as detail::fuse_shard.
template <class Number>
struct fuse_shards {
  Number first_word;
  Number seed;
  Number starts;
  Number segment;
};

template <class Number>
class fuse_directory {
 public:
  explicit fuse_directory(const detail::static_directory& d) noexcept
      : first_(at(d.entries, Number::all(0))), entries_(d.entries), shards_(d.shards) {}

  // A filter of up to 2 million keys has one shard, and then there is nothing to look up.
  [[gnu::always_inline]] [[nodiscard]] fuse_shards<Number> of(const Number& hash) const noexcept {
    if (shards_ == 1) return first_;
    static_assert(sizing::fuse_entry_words == 4);
    return at(entries_, multiply_high_short(hash, Number::all(shards_)) << 2U);
  }

 private:
  [[gnu::always_inline]] static fuse_shards<Number> at(const std::uint64_t* entries,
                                                       const Number& word) noexcept {
    Number row[4];
    Number::gather_rows(entries, word, row);
    return {row[0], row[1], row[2], row[3]};
  }

  fuse_shards<Number> first_;
  const std::uint64_t* entries_;
  std::uint64_t shards_;
};

// Calls visit(j, cell) for each probe. The sizes of a shard are below 2^31.
template <std::uint32_t Probes, class Number, class Visit>
[[gnu::always_inline]] inline void visit_fuse_cells(const Number& mixed,
                                                    const fuse_shards<Number>& shard,
                                                    const Visit& visit) noexcept {
  Number rest;
  Number first = multiply_short(mixed, shard.starts, rest) * shard.segment;
  for (std::uint32_t j = 0; j < Probes; ++j) {
    visit(j, first + multiply_short(rest, shard.segment, rest));
    first = first + shard.segment;
  }
}

template <class Number>
[[gnu::always_inline]] inline Number fuse_prints(const Number& mixed,
                                                 std::uint32_t width) noexcept {
  return (mixed * Number::all(detail::fuse_print_multiplier)) >> (64U - width);
}

namespace {

// A number of a few bytes from anywhere in the payload, which is little-endian.
template <class Value>
[[gnu::always_inline]] inline Value load_bytes(const std::uint64_t* words,
                                               std::uint64_t byte) noexcept {
  Value value;
  std::memcpy(&value, reinterpret_cast<const unsigned char*>(words) + byte, sizeof value);
  if constexpr (std::endian::native == std::endian::little || sizeof value == 1) return value;
  if constexpr (sizeof value == 2) return static_cast<Value>(__builtin_bswap16(value));
  if constexpr (sizeof value == 4) return static_cast<Value>(__builtin_bswap32(value));
  return static_cast<Value>(__builtin_bswap64(value));
}

}  // namespace

// How the cells of a fuse filter are read. A place is the number of a byte.
template <class Number, class Cell>
struct whole_cells {
  using cell_type = Cell;
  explicit whole_cells(std::uint32_t) noexcept {}

  static constexpr std::uint32_t width = 8 * sizeof(Cell);
  [[gnu::always_inline]] [[nodiscard]] Number place(const Number& first_word,
                                                    const Number& cell) const noexcept {
    constexpr auto log2 = static_cast<unsigned>(std::countr_zero(sizeof(Cell)));
    return (first_word << 3U) + (cell << log2);
  }
  [[gnu::always_inline]] static std::uint64_t byte_of(std::uint64_t place) noexcept {
    return place;
  }
  [[gnu::always_inline]] static Cell read(const std::uint64_t* words,
                                          std::uint64_t place) noexcept {
    return load_bytes<Cell>(words, place);
  }
};

// How the tags of a bloomier filter are read. A place is the number of a byte, times 64, and the
// shift of the tag. The byte is a multiple of 8, or of 4 for a tag in two words: eight bytes from
// there hold all of it (at most 34 bits, at even places) and touch no line that the tag does not.
template <class Number>
struct tag_cells {
  using cell_type = std::uint64_t;
  explicit tag_cells(std::uint32_t bits) noexcept : width(bits) {}

  std::uint32_t width;
  [[gnu::always_inline]] [[nodiscard]] Number place(const Number& first_word,
                                                    const Number& cell) const noexcept {
    const Number bit = cell * Number::all(width);
    const Number shift = bit & Number::all(63);
    const Number half = (shift + Number::all(width - 1)) >> 6U;  // 1 when it lies in two words
    const Number byte = ((first_word + (bit >> 6U)) << 3U) + (half << 2U);
    return (byte << 6U) | (shift - (half << 5U));
  }
  [[gnu::always_inline]] static std::uint64_t byte_of(std::uint64_t place) noexcept {
    return place >> 6U;
  }
  // The tag, and above it bits that the caller masks away.
  [[gnu::always_inline]] static std::uint64_t read(const std::uint64_t* words,
                                                   std::uint64_t place) noexcept {
    return load_bytes<std::uint64_t>(words, place >> 6U) >> (place & 63U);
  }
};

}  // namespace bloomery::kernel
