// The loop of the ribbon kernels for every instruction set. Staging a key finds its place and
// shifts its coefficients; visiting checks parities over three words of each column, eight at once.
//
// Included by each file of an instruction set after it has switched that on. Number and Columns are
// types of that file: keys are staged with Number (kernel/wide), and Columns has
//     odd(columns, bits, ring, at)         bit j: whether column j of `bits`, at most seven, has an
//                                          odd number of ones under the coefficients of the key at
//                                          this place of the ring
//     odd_eight(columns, bits, ring, at)   the same for eight columns
//     words_read(bits)                     how many words from the first column on are read
//     cached_bytes                         larger arrays are prefetched
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernel/pipeline.hpp"
#include "place.hpp"
#include "ribbon.hpp"

namespace bloomery::kernel {

inline constexpr std::size_t ribbon_far_groups = 4;
inline constexpr std::size_t ribbon_close_groups = 2;

// Chunks are those of eight columns; fewer than eight columns are 0.
template <class Number, class Columns, unsigned Chunks, bool Cached>
class ribbon_pipeline {
 public:
  explicit ribbon_pipeline(const ribbon_array& array) noexcept
      : stage_(array), array_(array), words_(array.directory.words) {}

  // All keys of a piece through the first layer; those that it bumped, one in 25, one by one
  // afterwards. Looked up as they came, each cost 50 ns, for a branch that cannot be predicted.
  void ask(std::span<const std::uint64_t> hashes, std::uint64_t* bitmap) const noexcept {
    ribbon_rest<piece> rest;
    std::uint64_t answers[piece / 64];
    for (; !hashes.empty(); bitmap += piece / 64) {
      const auto now = hashes.first(hashes.size() < piece ? hashes.size() : piece);
      hashes = hashes.subspan(now.size());
      rest.count = 0;
      roll(
          now, bitmap,
          [&](const std::uint64_t* keys, std::size_t g, ribbon_ring& ring)
              __attribute__((always_inline)) { stage_(keys, g, ring, rest); });
      // The last group was filled up with zeroes, which are no keys of the caller.
      while (rest.count > 0 && rest.index[rest.count - 1] >= now.size()) --rest.count;
      roll(
          {rest.hash, rest.count}, answers,
          [&](const std::uint64_t* keys, std::size_t g, ribbon_ring& ring)
              __attribute__((always_inline)) { stage_one_by_one(keys, g, ring); });
      for (std::size_t i = 0; i < rest.count; ++i) {
        const std::uint64_t answer = (answers[i / 64] >> (i % 64)) & 1U;
        bitmap[rest.index[i] / 64] |= answer << (rest.index[i] % 64);
      }
    }
  }

 private:
  static constexpr std::size_t piece = 2048;

  template <class Stage>
  [[gnu::always_inline]] void roll(std::span<const std::uint64_t> hashes, std::uint64_t* bitmap,
                                   const Stage& stage) const noexcept {
    ribbon_ring ring;
    const auto stage_group = [&](const std::uint64_t* keys, std::size_t g, std::size_t)
        __attribute__((always_inline)) {
      stage(keys, g, ring);
    };
    const auto visit_group = [&](std::size_t g, std::size_t next) __attribute__((always_inline)) {
      const std::size_t slot = g % ribbon_ring_groups;
      unsigned found = 0;
      for (std::size_t i = group; i-- > 0;) {
        if constexpr (!Cached) fetch(ring, next % ribbon_ring_groups * group + i);
        found = found + found + unsigned{holds(ring, slot * group + i)};
      }
      return found & ~unsigned{ring.nowhere[slot]};
    };
    constexpr std::size_t ahead = Cached ? ribbon_close_groups : ribbon_far_groups;
    roll_answers(hashes.data(), hashes.size(), bitmap, ahead, stage_group, visit_group);
  }

  void stage_one_by_one(const std::uint64_t* hashes, std::size_t g,
                        ribbon_ring& ring) const noexcept {
    const std::size_t slot = g % ribbon_ring_groups;
    ring.nowhere[slot] = 0;
    for (std::size_t i = 0; i < group; ++i) {
      put_ribbon_key(array_, hashes[i], ring, slot * group + i);
    }
  }

  // The last eight columns overlap the ones before them where their number is no multiple of eight.
  [[gnu::always_inline]] [[nodiscard]] bool holds(const ribbon_ring& ring,
                                                  std::size_t at) const noexcept {
    const std::uint64_t* const columns = words_ + ring.word[at];
    const std::uint64_t print = ring.print[at];
    const std::uint32_t bits = array_.bits;
    if constexpr (Chunks == 0) return Columns::odd(columns, bits, ring, at) == print;
    const auto wrong = [&](std::uint32_t j) __attribute__((always_inline)) {
      return (Columns::odd_eight(columns + j, bits, ring, at) ^ (print >> j)) & 0xffU;
    };
    // One absent key in 256 gets past the first eight. Among present keys the branch saves nothing.
    for (unsigned chunk = 0; chunk + 1 < Chunks; ++chunk) {
      if (wrong(8 * chunk) != 0) return false;
    }
    return wrong(bits - 8) == 0;
  }

  [[gnu::always_inline]] void fetch(const ribbon_ring& ring, std::size_t at) const noexcept {
    constexpr std::size_t line_words = 8;
    const std::size_t words = Columns::words_read(array_.bits);
    const std::uint64_t* const columns = words_ + ring.word[at];
    for (std::size_t w = 0; w < words; w += line_words) __builtin_prefetch(columns + w, 0, 2);
    __builtin_prefetch(columns + words - 1, 0, 2);
    asm volatile("");  // GCC 12 would drop it, see pipeline.hpp
  }

  ribbon_stage<Number> stage_;
  ribbon_array array_;
  const std::uint64_t* words_;
};

template <class Number, class Columns>
struct ribbon_loop {
  template <unsigned Chunks>
  static void ask(const ribbon_array& array, std::span<const std::uint64_t> hashes,
                  std::uint64_t* bitmap) noexcept {
    if (array.directory.array_words * 8 <= Columns::cached_bytes) {
      ribbon_pipeline<Number, Columns, Chunks, true>(array).ask(hashes, bitmap);
    } else {
      ribbon_pipeline<Number, Columns, Chunks, false>(array).ask(hashes, bitmap);
    }
  }

  static void contains(const ribbon_array& array, std::span<const std::uint64_t> hashes,
                       std::uint64_t* bitmap) noexcept {
    if (array.directory.array_words == 0) {  // no shard has keys, and there is nothing to read
      for (std::size_t w = 0; w < (hashes.size() + 63) / 64; ++w) bitmap[w] = 0;
      return;
    }
    if (array.bits < 8) return ask<0>(array, hashes, bitmap);
    if (array.bits == 8) return ask<1>(array, hashes, bitmap);
    if (array.bits <= 16) return ask<2>(array, hashes, bitmap);
    if (array.bits <= 24) return ask<3>(array, hashes, bitmap);
    ask<4>(array, hashes, bitmap);
  }
};

template <class Number, class Columns>
inline constexpr ribbon_kernels ribbon_kernels_with = {.contains =
                                                           ribbon_loop<Number, Columns>::contains};

}  // namespace bloomery::kernel
