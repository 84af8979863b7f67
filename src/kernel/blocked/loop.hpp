// The loop of the blocked kernels for every instruction set: the rolling pipeline of pipeline.hpp
// over groups of eight keys. Staging hashes them and finds their blocks; visiting uses the blocks.
//
// Included after the instruction set has been switched on. Isa is a type of that file's anonymous
// name space, so no function compiled for one machine can be linked into the path of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "blocked.hpp"
#include "bloomery/hash/hash.hpp"
#include "kernel/pipeline.hpp"

namespace bloomery::kernel {

inline constexpr std::size_t ring_groups = 32;
// Out of the cache, a line is prefetched twice: 14 groups ahead to the second-level cache, one
// group ahead to the first. The first level alone takes too few misses at a time (18 lines) to keep
// the memory busy. On a Zen 4 with 125 MB, 8 to 20 groups and 1 or 2 are within 3 % of each other.
inline constexpr std::size_t far_groups = 14;
inline constexpr std::size_t near_groups = 1;
// In the cache the second prefetch alone is enough: 1.25 ns a key at 1.25 MB, 1.4 with none, 1.6
// with both. A few groups ahead keep the ring's loads from waiting for its stores (1 ahead: 2.1).
// The size up to which this is better is Isa::cached_bytes.
inline constexpr std::size_t close_groups = 4;

struct key_ring {  // what is known of the staged keys, group g in slot g % ring_groups
  alignas(64) std::uint64_t hash[ring_groups * group];
  alignas(64) std::uint64_t word[ring_groups * group];  // the first of the block
  // Where the instruction set wants them: the lanes that a key uses, and those without its bit.
  alignas(64) std::uint16_t lanes[ring_groups * group];
  alignas(64) std::uint16_t missing[ring_groups * group];
};

// What is done with blocks: visit for each group (the last may have fewer keys), done after all.
template <class Isa>
struct asking {
  static constexpr int write = 0;
  const std::uint64_t* words;
  std::uint64_t* bitmap;

  [[gnu::always_inline]] void visit(const Isa& isa, key_ring& ring, std::size_t g,
                                    std::size_t size) const noexcept {
    unsigned found = 0;
    for (std::size_t i = size; i-- > 0;) {
      const std::size_t at = g % ring_groups * group + i;
      found = found + found + unsigned{isa.covers(ring, at, words + ring.word[at])};
    }
    store_answers(bitmap, g, found);
  }
  static void done(const Isa&, const key_ring&, std::size_t) noexcept {}
};

// each(isa, ring, at, block, key) for every key: its place in the ring, its number in the run.
template <class Isa, class Word, class Each>
struct visiting {
  static constexpr int write = std::is_const_v<Word> ? 0 : 1;
  Word* words;
  Each each;

  [[gnu::always_inline]] void visit(const Isa& isa, const key_ring& ring, std::size_t g,
                                    std::size_t size) const noexcept {
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t at = g % ring_groups * group + i;
      each(isa, ring, at, words + ring.word[at], g * group + i);
    }
  }
  static void done(const Isa&, const key_ring&, std::size_t) noexcept {}
};

// Takes the keys of a group and puts into the ring the group of `delay` calls ago (AVX-512 has 2).
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
[[gnu::always_inline]] inline void roll_blocks(const Isa isa, const Work work,
                                               const key_run& run) noexcept {
  constexpr std::size_t ahead = Cached ? close_groups : far_groups;
  constexpr std::size_t delay = stager<Isa, Mixed>::delay;
  const std::uint64_t* const keys = run.keys;
  const std::size_t groups = run.count / group;
  key_ring ring;
  stager<Isa, Mixed> take(isa);
  const auto first_of = [&](std::size_t slot) __attribute__((always_inline)) {
    return &ring.word[slot % ring_groups * group];
  };
  // A delayed stager is given the first group again after the last, and these never come out.
  const auto keys_of = [&](std::size_t g) __attribute__((always_inline)) {
    return keys + (g < groups ? g : 0) * group;
  };
  for (std::size_t g = 0; g < delay && groups > 0; ++g) take(keys_of(g), ring, g);
  roll_groups(
      keys, run.count, ahead,
      [&](const std::uint64_t* own, std::size_t g, std::size_t size)
          __attribute__((always_inline)) {
            if (size < group) return isa.template stage<Mixed>(own, ring, g % ring_groups);
            take(keys_of(g + delay), ring, g % ring_groups);
            if constexpr (!Cached) prefetch_group<0, 2>(work.words, first_of(g));
          },
      [&](std::size_t g, std::size_t size) __attribute__((always_inline)) {
        if (g + near_groups < groups) {
          prefetch_group<Work::write, 3>(work.words, first_of(g + near_groups));
        }
        work.visit(isa, ring, g, size);
      });
  work.done(isa, ring, run.count);
}

template <class Isa, class Work>
[[gnu::always_inline]] inline void roll_any(const Isa& isa, const Work& work, const key_run& run,
                                            std::uint64_t lines) noexcept {
  const bool cached = lines <= Isa::cached_bytes / 64;
  if (run.mixed) {
    cached ? roll_blocks<true, true>(isa, work, run) : roll_blocks<true, false>(isa, work, run);
  } else {
    cached ? roll_blocks<false, true>(isa, work, run) : roll_blocks<false, false>(isa, work, run);
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
