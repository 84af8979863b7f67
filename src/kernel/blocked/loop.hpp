// The loop of the blocked kernels, the same for every instruction set: a rolling pipeline of groups
// of eight keys. A group is staged (hashed, its blocks found) some groups before its blocks are
// touched; between the two its lines are on their way.
//
// Included by each blocked_*.cpp after it has switched its instruction set on, and everything here
// is in the including file's own name space (Isa is a type of an anonymous one), so that no
// function compiled for one machine can be linked into the path of another.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "blocked.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery::kernel {

inline constexpr std::size_t group = 8;

inline constexpr std::size_t ring_groups = 32;
// Out of the cache, a line comes to the second-level cache 14 groups ahead and to the first one
// ahead: the misses of the first alone are too few at a time (18 lines) to keep the memory busy. On
// a Zen 4 with 125 MB, 8 to 20 groups and 1 or 2 are within 3 % of each other.
inline constexpr std::size_t far_groups = 14;
inline constexpr std::size_t near_groups = 1;
// In the cache the second call alone is enough: 1.25 ns a key at 1.25 MB, 1.4 with none and 1.6
// with both. Being a few groups ahead keeps the loads of the ring from waiting for its stores (1
// ahead: 2.1). How large an array is still better off so depends on the instruction set, hence
// Isa::cached_bytes.
inline constexpr std::size_t close_groups = 4;

// What is known of the staged keys, group g in slot g % ring_groups.
struct key_ring {
  alignas(64) std::uint64_t hash[ring_groups * group];
  alignas(64) std::uint64_t word[ring_groups * group];  // the first of the block
  // Where the instruction set wants them: the lanes that a key uses, and those where it found no
  // bit.
  alignas(64) std::uint16_t lanes[ring_groups * group];
  alignas(64) std::uint16_t missing[ring_groups * group];
};

// GCC 12 takes what only prefetches for a function without effect and drops calls of it
// (batch.hpp).
template <int Write, int Locality>
[[gnu::always_inline]] inline void fetch_group(const std::uint64_t* words, const key_ring& ring,
                                               std::size_t slot) noexcept {
  for (std::size_t i = 0; i < group; ++i) {
    __builtin_prefetch(words + ring.word[slot * group + i], Write, Locality);
  }
  asm volatile("");
}

// The bitmap is written a byte for each group. Its words are numbers, so the first byte of a word
// is the last in memory on a big-endian machine.
[[gnu::always_inline]] inline void store_answers(std::uint64_t* bitmap, std::size_t g,
                                                 unsigned found) noexcept {
  constexpr std::size_t flip = std::endian::native == std::endian::little ? 0 : 7;
  reinterpret_cast<unsigned char*>(bitmap)[g ^ flip] = static_cast<unsigned char>(found);
}

// What is done with the blocks of a group: visit for a whole one, visit_some for the last, done
// after all.
template <class Isa>
struct asking {
  static constexpr int write = 0;
  const std::uint64_t* words;
  std::uint64_t* bitmap;

  [[gnu::always_inline]] void visit(const Isa& isa, key_ring& ring, std::size_t g) const noexcept {
    unsigned found = 0;
    for (std::size_t i = group; i-- > 0;) {
      const std::size_t at = g % ring_groups * group + i;
      found = found + found + unsigned{isa.covers(ring, at, words + ring.word[at])};
    }
    store_answers(bitmap, g, found);
  }
  [[gnu::always_inline]] void visit_some(const Isa& isa, key_ring& ring, std::size_t g,
                                         std::size_t count) const noexcept {
    unsigned found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = g % ring_groups * group + i;
      found |= unsigned{isa.covers(ring, at, words + ring.word[at])} << i;
    }
    store_answers(bitmap, g, found);
  }
  static void done(const Isa&, const key_ring&, std::size_t) noexcept {}
};

// each(isa, ring, at, block, key) for every key: `at` is its place in the ring, `key` its number in
// the run.
template <class Isa, class Word, class Each>
struct visiting {
  static constexpr int write = std::is_const_v<Word> ? 0 : 1;
  Word* words;
  Each each;

  [[gnu::always_inline]] void visit(const Isa& isa, const key_ring& ring,
                                    std::size_t g) const noexcept {
    visit_some(isa, ring, g, group);
  }
  [[gnu::always_inline]] void visit_some(const Isa& isa, const key_ring& ring, std::size_t g,
                                         std::size_t count) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = g % ring_groups * group + i;
      each(isa, ring, at, words + ring.word[at], g * group + i);
    }
  }
  static void done(const Isa&, const key_ring&, std::size_t) noexcept {}
};

// Takes the keys of one group and stages those that it took `delay` calls before: none, unless an
// instruction set does better with several groups on their way.
template <class Isa, bool Mixed>
class stager {
 public:
  static constexpr std::size_t delay = 0;

  [[gnu::always_inline]] explicit stager(const Isa& isa) noexcept : isa_(isa) {}
  [[gnu::always_inline]] void operator()(const std::uint64_t* keys, key_ring& ring,
                                         std::size_t slot) noexcept {
    isa_.template stage<Mixed>(keys, ring, slot);
  }

 private:
  const Isa& isa_;
};

template <bool Mixed, bool Cached, class Isa, class Work>
[[gnu::always_inline]] inline void roll(const Isa isa, const Work work,
                                        const key_run& run) noexcept {
  constexpr std::size_t ahead = Cached ? close_groups : far_groups;
  const std::uint64_t* const keys = run.keys;
  const std::size_t groups = run.count / group;
  const std::size_t rest = run.count % group;
  key_ring ring;
  stager<Isa, Mixed> take(isa);
  constexpr std::size_t delay = stager<Isa, Mixed>::delay;
  // After the last group the first is taken again, and never comes out.
  const auto stage = [&](std::size_t g) __attribute__((always_inline)) {
    const std::size_t slot = g % ring_groups;
    take(keys + (g + delay < groups ? g + delay : 0) * group, ring, slot);
    if constexpr (!Cached) fetch_group<0, 2>(work.words, ring, slot);
  };
  if (groups > 0) {
    for (std::size_t g = 0; g < delay; ++g) take(keys + (g < groups ? g : 0) * group, ring, g);
  }
  for (std::size_t g = 0; g < groups && g < ahead; ++g) stage(g);
  for (std::size_t g = 0; g < groups; ++g) {
    if (g + ahead < groups) stage(g + ahead);
    if (g + near_groups < groups) {
      fetch_group<Work::write, 3>(work.words, ring, (g + near_groups) % ring_groups);
    }
    work.visit(isa, ring, g);
  }
  if (rest != 0) {
    std::uint64_t last[group] = {};
    for (std::size_t i = 0; i < rest; ++i) last[i] = keys[groups * group + i];
    isa.template stage<Mixed>(last, ring, groups % ring_groups);
    work.visit_some(isa, ring, groups, rest);
  }
  work.done(isa, ring, run.count);
}

template <class Isa, class Work>
[[gnu::always_inline]] inline void roll_any(const Isa& isa, const Work& work, const key_run& run,
                                            std::uint64_t lines) noexcept {
  const bool cached = lines <= Isa::cached_bytes / 64;
  if (run.mixed) {
    cached ? roll<true, true>(isa, work, run) : roll<true, false>(isa, work, run);
  } else {
    cached ? roll<false, true>(isa, work, run) : roll<false, false>(isa, work, run);
  }
}

template <class Isa, class Word, class Each>
[[gnu::always_inline]] inline void roll_each(const block_array<Word>& array, const key_run& run,
                                             const Each& each) noexcept {
  const Isa isa(array, run.spread_seed);
  roll_any(isa, visiting<Isa, Word, Each>{array.words, each}, run, array.lines());
}

// The calls, for the tables of the instruction sets.
template <class Isa, class Asking = asking<Isa>>
void contains_run(const const_blocks& array, const key_run& run, std::uint64_t* bitmap) noexcept {
  if (run.count == 0) return;
  bitmap[(run.count - 1) / 64] = 0;
  const Isa isa(array, run.spread_seed);
  roll_any(isa, Asking{array.words, bitmap}, run, array.lines());
}

template <class Isa>
void add_run(const changing_blocks& array, const key_run& run) noexcept {
  roll_each<Isa>(
      array, run,
      [](const Isa& isa, const key_ring& ring, std::size_t at, std::uint64_t* block, std::size_t)
          __attribute__((always_inline)) { isa.set(ring, at, block); });
}

template <class Isa>
std::size_t add_new_run(const changing_blocks& array, const key_run& run) noexcept {
  std::size_t added = 0;
  roll_each<Isa>(
      array, run,
      [&](const Isa& isa, const key_ring& ring, std::size_t at, std::uint64_t* block, std::size_t)
          __attribute__((always_inline)) { added += std::size_t{isa.set_new(ring, at, block)}; });
  return added;
}

template <class Isa>
std::size_t remove_run(const changing_blocks& array, const key_run& run) noexcept {
  std::size_t removed = 0;
  roll_each<Isa>(
      array, run,
      [&](const Isa& isa, const key_ring& ring, std::size_t at, std::uint64_t* block, std::size_t)
          __attribute__((always_inline)) { removed += std::size_t{isa.take(ring, at, block)}; });
  return removed;
}

template <class Isa>
void count_run(const const_blocks& array, const key_run& run, std::uint64_t* counts) noexcept {
  roll_each<Isa>(
      array, run,
      [counts](const Isa& isa, const key_ring& ring, std::size_t at, const std::uint64_t* block,
               std::size_t key)
          __attribute__((always_inline)) { counts[key] = isa.least(ring, at, block); });
}

}  // namespace bloomery::kernel
