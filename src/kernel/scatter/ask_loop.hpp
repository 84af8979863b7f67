// Asking many keys of classic and partitioned filters (scatter.hpp).
//
// In rounds over a piece of the keys: round j tests probe j of the keys that passed all rounds
// before and moves those that pass to the front, without a branch. An absent key is tested twice on
// average, and branches would be mispredicted half of the time: 16 ns a key in the cache, 3 in
// rounds. Out of it only needed lines are prefetched: 9 ns with 120 MB on a Zen 4, 27 with all.
//
// Keys that are present gain nothing from rounds. When nearly all keys pass the first, each has the
// rest of its probes at once and stops at the first zero, a branch that is mostly predicted.
//
// In the cache, eight keys at a time where there are vectors, and no prefetches. Out of it, one at
// a time is as fast as the memory (eight at a time took 31 ns for a key that is there, one 24). The
// lines come to the second-level cache, since the first has too few misses in flight at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/probe.hpp"
#include "keys.hpp"
#include "scatter.hpp"

namespace bloomery::kernel {

namespace {

// The answers of a piece, a word at a time: places ascend, and a word just stored is slow to read.
class piece_marker {
 public:
  piece_marker(std::uint64_t* bitmap, std::size_t count) noexcept : bitmap_(bitmap) {
    for (std::size_t w = 0; w < (count + 63) / 64; ++w) bitmap[w] = 0;
  }
  void mark(std::uint64_t place) noexcept {
    if (place / 64 != at_) {
      bitmap_[at_] = word_;
      word_ = 0;
      at_ = static_cast<std::size_t>(place / 64);
    }
    word_ |= std::uint64_t{1} << (place % 64);
  }
  void finish() const noexcept { bitmap_[at_] = word_; }

 private:
  std::uint64_t* bitmap_;
  std::size_t at_ = 0;
  std::uint64_t word_ = 0;
};

}  // namespace

template <class Eight, bool Bits>
class scatter_asking {
 public:
  static constexpr std::size_t piece = 1024;  // bits of a bitmap for at most `piece` keys

  static void run(const scatter_array<const std::uint64_t>& array, const std::uint64_t* hashes,
                  std::size_t count, std::uint64_t* bitmap) noexcept {
    if (!keys::is_near(array)) {
      ask<false>(array, hashes, count, bitmap);
    } else if constexpr (Eight::is_vector) {
      ask_groups(array, hashes, count, bitmap);
    } else {
      ask<true>(array, hashes, count, bitmap);
    }
  }

 private:
  using keys = scatter_keys<Eight>;
  using probe = scatter_probe<Eight, Bits>;

  // ---- one at a time --------------------------------------------------------------------------

  // A key that has passed so far: h c^j, its position in this round and its place in the piece.
  struct survivor {
    std::uint64_t hash;
    std::uint64_t position;
    std::uint64_t place;
  };

  template <bool Near>
  static void ask(const scatter_array<const std::uint64_t>& array, const std::uint64_t* hashes,
                  std::size_t count, std::uint64_t* bitmap) noexcept {
    survivor in[piece];
    std::size_t left = round<Near>(
        probe(array, 0), in,
        count, [=](std::size_t i) __attribute__((always_inline)) { return hashes[i]; },
        [](std::size_t i) __attribute__((always_inline)) { return i; });
    std::uint32_t j = 1;
    if (left > count / 8 * 7) {
      left = remaining_probes<Near>(array, in, left);
      j = array.probes;
    }
    for (; j < array.probes && left > 0; ++j) {
      left = round<Near>(
          probe(array, j), in,
          left, [&](std::size_t i) __attribute__((always_inline)) { return in[i].hash; },
          [&](std::size_t i) __attribute__((always_inline)) { return in[i].place; });
    }
    piece_marker found(bitmap, count);
    for (std::size_t i = 0; i < left; ++i) found.mark(in[i].place);
    found.finish();
  }

  // Out of the cache lines are prefetched 128 keys before they are used; 64 takes a tenth longer.
  template <bool Near, class Hash, class Place>
  static std::size_t round(const probe p, survivor* in, std::size_t count, Hash hash,
                           Place place) noexcept {
    std::size_t kept = 0;
    const auto stage = [&](std::size_t i) __attribute__((always_inline)) {
      in[i].position = p.of(hash(i));
      p.prefetch(in[i].position);
    };
    const auto test = [&](std::size_t i) __attribute__((always_inline)) {
      const std::uint64_t passes = p.test(Near ? p.of(hash(i)) : in[i].position);
      in[kept].hash = hash(i) * next_probe_multiplier;
      in[kept].place = place(i);
      kept += passes;
    };
    if constexpr (Near) {
      for (std::size_t i = 0; i < count; ++i) test(i);
    } else {
      roll(count, 128, stage, test);
    }
    return kept;
  }

  // All probes from the second on, for keys of which most are there.
  template <bool Near>
  static std::size_t remaining_probes(const scatter_array<const std::uint64_t>& array, survivor* in,
                                      std::size_t count) noexcept {
    const auto for_each_probe = [&](std::uint64_t hash, auto visit) __attribute__((always_inline)) {
      probe p(array, 1);
      for (std::uint32_t j = 1; j < array.probes; ++j) {
        if (!visit(p, p.of(hash))) return false;
        hash *= next_probe_multiplier;
        p.base += array.step;
      }
      return true;
    };
    const auto stage = [&](std::size_t i) __attribute__((always_inline)) {
      for_each_probe(in[i].hash, [](const probe& p, std::uint64_t position) {
        p.prefetch(position);
        return true;
      });
    };
    std::size_t kept = 0;
    const auto test = [&](std::size_t i) __attribute__((always_inline)) {
      const bool all = for_each_probe(
          in[i].hash, [](const probe& p, std::uint64_t position) { return p.test(position) != 0; });
      in[kept].place = in[i].place;
      kept += all ? 1U : 0U;
    };
    if constexpr (Near) {
      for (std::size_t i = 0; i < count; ++i) test(i);
    } else {
      roll(count, keys::keys_ahead(array.probes), stage, test);
    }
    return kept;
  }

  // ---- in the cache, eight at a time ----------------------------------------------------------

  // Hashes and places of the keys that have passed so far. The lists have room for a last group
  // that is not full. passes[i] has a bit for each key of group i that passes this round.
  struct survivors {
    std::size_t size;
    alignas(64) std::uint64_t hash[piece + 8];
    alignas(64) std::uint64_t place[piece + 8];
    unsigned passes[piece / 8];
  };

  static void ask_groups(const scatter_array<const std::uint64_t>& array,
                         const std::uint64_t* hashes, std::size_t count,
                         std::uint64_t* bitmap) noexcept {
    constexpr std::uint64_t first_places[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const Eight first = Eight::load(first_places);
    std::uint64_t rest[8] = {};
    for (std::size_t i = count / 8 * 8; i < count; ++i) rest[i % 8] = hashes[i];
    survivors in;
    in.size = count;
    round_of_groups(
        probe(array, 0),
        [&](std::size_t i) __attribute__((always_inline)) {
          return Eight::load(count - i < 8 ? rest : hashes + i);
        },
        [&](std::size_t i) __attribute__((always_inline)) { return first + Eight::all(i); }, in);
    for (std::uint32_t j = 1; j < array.probes && in.size > 0; ++j) {
      Eight::all(0).store(in.hash + in.size);
      Eight::all(0).store(in.place + in.size);
      round_of_groups(
          probe(array, j),
          [&](std::size_t i) __attribute__((always_inline)) { return Eight::load(in.hash + i); },
          [&](std::size_t i) __attribute__((always_inline)) { return Eight::load(in.place + i); },
          in);
    }
    piece_marker found(bitmap, count);
    for (std::size_t i = 0; i < in.size; ++i) found.mark(in.place[i]);
    found.finish();
  }

  // First all tests, then all moves. In one loop the place of a store would depend on words from
  // memory, and later loads may have to wait until it is known: 8 ns a key could become 20.
  template <class Hashes, class Places>
  [[gnu::always_inline]] static void round_of_groups(const probe p, Hashes hashes, Places places,
                                                     survivors& in) noexcept {
    for (std::size_t i = 0; i < in.size; i += 8) {
      in.passes[i / 8] = p.test(p.of(hashes(i)));
    }
    if (in.size % 8 != 0) in.passes[in.size / 8] &= (1U << (in.size % 8)) - 1;
    const Eight multiplier = Eight::all(next_probe_multiplier);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < in.size; i += 8) {
      const unsigned passes = in.passes[i / 8];
      const Eight place = places(i);
      (hashes(i) * multiplier).store_some(passes, in.hash + kept);
      place.store_some(passes, in.place + kept);
      kept += static_cast<unsigned>(__builtin_popcount(passes));
    }
    in.size = kept;
  }
};

}  // namespace bloomery::kernel
