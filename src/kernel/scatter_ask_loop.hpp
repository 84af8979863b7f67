// Asking many keys of classic and partitioned filters (scatter.hpp).
//
// In rounds over a piece of the keys: round j looks at probe j of those that are still in, and keeps the survivors
// in place, without a branch on the outcome. An absent key has two probes on average, and a branch on each of them
// would be mispredicted half of the time: 16 ns a key in the cache one at a time, 3 so. Out of the cache only the
// lines that are needed are called for.
//
// In the cache, eight keys at a time where there are vectors, and no prefetches. Out of it, one at a time is as fast
// as the memory: 4 ns a line on a Zen 4 with 120 MB, where eight at a time took 4.5. The lines come to the
// second-level cache, since the first has too few misses in flight at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/core/arithmetic.hpp"
#include "bloomery/hash/probe.hpp"
#include "scatter.hpp"

namespace bloomery::kernel {

template <class Eight>
class scatter_asking {
 public:
  // Bits of a bitmap for at most `piece` keys.
  static constexpr std::size_t piece = 1024;

  [[gnu::always_inline]] static void run(const scatter_array<const std::uint64_t>& array,
                                         const std::uint64_t* hashes, std::size_t count, bool near,
                                         std::uint64_t* bitmap) noexcept {
    survivors in;
    if (!near) {
      ask_far(array, hashes, count, in);
    } else if constexpr (Eight::is_vector) {
      ask_groups(array, hashes, count, in);
    } else {
      ask_near(array, hashes, count, in);
    }
    mark(in, count, bitmap);
  }

 private:
  // Out of the cache lines are called for so many before they are used; 64 takes a tenth longer.
  static constexpr std::size_t ahead = 128;

  // The keys of a piece that are still in: h c^j of each, and its place in the piece. Groups of eight may reach
  // over the end.
  struct survivors {
    std::size_t size;
    alignas(64) std::uint64_t hash[piece + 8];
    alignas(64) std::uint64_t index[piece + 8];
  };

  static void mark(const survivors& in, std::size_t count, std::uint64_t* bitmap) noexcept {
    for (std::size_t w = 0; w < (count + 63) / 64; ++w) bitmap[w] = 0;
    // They are in order. Gathered in a register, since a word that has just been stored is slow to read.
    std::uint64_t word = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < in.size; ++i) {
      const auto index = static_cast<std::size_t>(in.index[i]);
      if (index / 64 != at) {
        bitmap[at] = word;
        word = 0;
        at = index / 64;
      }
      word |= std::uint64_t{1} << (index % 64);
    }
    bitmap[at] = word;
  }

  // Where the keys of one round are looked for.
  struct probe {
    const std::uint64_t* words;
    std::uint64_t range;
    std::uint64_t base;

    [[nodiscard]] std::uint64_t of(std::uint64_t hash) const noexcept {
      return base + detail::multiply_high(hash, range);
    }
    [[nodiscard]] std::uint64_t test(std::uint64_t position) const noexcept {
      return (detail::little_endian(words[position >> 6U]) >> (position & 63U)) & 1U;
    }
  };

  static void start(const std::uint64_t* hashes, std::size_t count, survivors& in) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      in.hash[i] = hashes[i];
      in.index[i] = i;
    }
    in.size = count;
  }
  [[gnu::always_inline]] static void keep(survivors& in, std::size_t i, std::size_t& kept,
                                          std::uint64_t passes) noexcept {
    in.hash[kept] = in.hash[i] * next_probe_multiplier;
    in.index[kept] = in.index[i];
    kept += passes;
  }

  // ---- out of the cache ------------------------------------------------------------------------------

  static void ask_far(const scatter_array<const std::uint64_t>& array, const std::uint64_t* hashes,
                      std::size_t count, survivors& in) noexcept {
    start(hashes, count, in);
    for (std::uint32_t j = 0; j < array.probes && in.size > 0; ++j) {
      far_round({array.words, array.range, j * array.step}, in);
    }
  }

  static void far_round(const probe p, survivors& in) noexcept {
    std::uint64_t position[piece];
    const std::size_t count = in.size;
    std::size_t kept = 0;
    const auto call = [&](std::size_t i) __attribute__((always_inline)) {
      position[i] = p.of(in.hash[i]);
      __builtin_prefetch(p.words + (position[i] >> 6U), 0, 2);
    };
    const auto test = [&](std::size_t i) __attribute__((always_inline)) {
      keep(in, i, kept, p.test(position[i]));
    };
    for (std::size_t i = 0; i < ahead && i < count; ++i) call(i);
    std::size_t i = 0;
    for (; i + ahead < count; ++i) {
      call(i + ahead);
      test(i);
    }
    for (; i < count; ++i) test(i);
    in.size = kept;
  }

  // ---- in the cache, one at a time -------------------------------------------------------------------

  static void ask_near(const scatter_array<const std::uint64_t>& array, const std::uint64_t* hashes,
                       std::size_t count, survivors& in) noexcept {
    start(hashes, count, in);
    std::uint32_t j = 0;
    do {
      const probe p{array.words, array.range, j * array.step};
      std::size_t kept = 0;
      for (std::size_t i = 0; i < in.size; ++i) keep(in, i, kept, p.test(p.of(in.hash[i])));
      in.size = kept;
    } while (++j < array.probes && in.size > 0 && in.size < count / 8 * 7);
    // Keys of which so many pass are mostly there, and so is the rest of their bits: a branch that leaves at
    // the first zero is mostly right and takes less than the lists (9 against 14 ns a key).
    if (j < array.probes) finish(array, j, in);
  }

  static void finish(const scatter_array<const std::uint64_t>& array, std::uint32_t first,
                     survivors& in) noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < in.size; ++i) {
      std::uint64_t hash = in.hash[i];
      probe p{array.words, array.range, first * array.step};
      std::uint32_t j = first;
      while (j < array.probes && p.test(p.of(hash))) {
        ++j;
        hash *= next_probe_multiplier;
        p.base += array.step;
      }
      in.index[kept] = in.index[i];
      kept += j == array.probes ? 1U : 0U;
    }
    in.size = kept;
  }

  // ---- in the cache, eight at a time -----------------------------------------------------------------

  static void ask_groups(const scatter_array<const std::uint64_t>& array,
                         const std::uint64_t* hashes, std::size_t count, survivors& in) noexcept {
    constexpr std::uint64_t places[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const probe p{array.words, array.range, 0};
    in.size = 0;
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
      keep_group(p, Eight::load(hashes + i), Eight::load(places) + Eight::all(i), 0xff, in);
    }
    if (i < count) {
      std::uint64_t rest[8] = {};
      for (std::size_t n = 0; i + n < count; ++n) rest[n] = hashes[i + n];
      keep_group(p, Eight::load(rest), Eight::load(places) + Eight::all(i), (1U << (count - i)) - 1,
                 in);
    }
    for (std::uint32_t j = 1; j < array.probes && in.size > 0; ++j) {
      near_round({array.words, array.range, j * array.step}, in);
    }
  }

  static void near_round(const probe p, survivors& in) noexcept {
    const std::size_t count = in.size;
    Eight::all(0).store(in.hash + count);
    Eight::all(0).store(in.index + count);
    in.size = 0;
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
      keep_group(p, Eight::load(in.hash + i), Eight::load(in.index + i), 0xff, in);
    }
    if (i < count) {
      keep_group(p, Eight::load(in.hash + i), Eight::load(in.index + i), (1U << (count - i)) - 1,
                 in);
    }
  }

  // Those of the eight that are in the mask and whose bit is set go to the end of the list.
  [[gnu::always_inline]] static void keep_group(const probe p, const Eight& hash,
                                                const Eight& index, unsigned mask,
                                                survivors& in) noexcept {
    const Eight position = Eight::all(p.base) + multiply_high_short(hash, Eight::all(p.range));
    const Eight word = Eight::gather(p.words, position >> 6);
    const unsigned set = mask & meet(word, Eight::all(1) << (position & Eight::all(63)));
    (hash * Eight::all(next_probe_multiplier)).store_some(set, in.hash + in.size);
    index.store_some(set, in.index + in.size);
    in.size += static_cast<unsigned>(__builtin_popcount(set));
  }
};

}  // namespace bloomery::kernel
