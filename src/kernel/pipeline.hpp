// The rolling pipeline of all loops over many keys: a key, or a group of eight, is staged (its
// places found and prefetched) turns before it is visited, so that many cache misses are in flight.
//
//     turn        0     1     2   ...  ahead  ahead + 1
//     staged    0..a   a+1   a+2        2a      2a + 1       a = ahead
//     visited     0     1     2         a       a + 1
//
// Far from the cache lines come to the second level first (the hint is 2): the first level has room
// for some 20 misses, and then everything waits.
//
// Included after the instruction set has been switched on (target/). Everything here is always
// inlined: what is compiled for one machine must not be linked into the path of another.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace bloomery::kernel {

// stage(i) for each i below count, `ahead` turns before visit(i).
template <class Stage, class Visit>
[[gnu::always_inline]] inline void roll(std::size_t count, std::size_t ahead, const Stage& stage,
                                        const Visit& visit) noexcept {
  for (std::size_t i = 0; i < ahead && i < count; ++i) stage(i);
  for (std::size_t i = 0; i < count; ++i) {
    // Without the hint GCC 12 moves the stage out of line: 4.0 against 3.5 ns a count with AVX-512.
    if (i + ahead < count) [[likely]] {
      stage(i + ahead);
    }
    visit(i);
  }
}

inline constexpr std::size_t group = 8;

// The same for groups of keys: stage(keys, g, size) and visit(g, size). Only the last may have
// fewer than eight; zeroes, hashes as good as any, fill it up. It is staged just before its visit.
template <class Stage, class Visit>
[[gnu::always_inline]] inline void roll_groups(const std::uint64_t* keys, std::size_t count,
                                               std::size_t ahead, const Stage& stage,
                                               const Visit& visit) noexcept {
  const std::size_t groups = count / group;
  roll(
      groups, ahead,
      [&](std::size_t g) __attribute__((always_inline)) { stage(keys + g * group, g, group); },
      [&](std::size_t g) __attribute__((always_inline)) { visit(g, group); });
  const std::size_t rest = count % group;
  if (rest == 0) return;
  std::uint64_t last[group] = {};
  for (std::size_t i = 0; i < rest; ++i) last[i] = keys[groups * group + i];
  stage(last, groups, rest);
  visit(groups, rest);
}

// The answers of a group are a byte of a bitmap, whose words are numbers on either byte order.
[[gnu::always_inline]] inline void store_answers(std::uint64_t* bitmap, std::size_t g,
                                                 unsigned found) noexcept {
  constexpr std::size_t flip = std::endian::native == std::endian::little ? 0 : 7;
  reinterpret_cast<unsigned char*>(bitmap)[g ^ flip] = static_cast<unsigned char>(found);
}

// Groups of hashes whose answers fill a bitmap; bits after the last one become 0. visit(g, next)
// returns the byte of group g. `next` is the group that was staged in this turn, or g when all are:
// its lines can be prefetched one by one between the keys of g.
template <class Stage, class Visit>
[[gnu::always_inline]] inline void roll_answers(const std::uint64_t* hashes, std::size_t count,
                                                std::uint64_t* bitmap, std::size_t ahead,
                                                const Stage& stage, const Visit& visit) noexcept {
  if (count == 0) return;
  bitmap[(count - 1) / 64] = 0;
  const std::size_t groups = count / group;
  roll_groups(
      hashes, count, ahead,
      stage, [&](std::size_t g, std::size_t size) __attribute__((always_inline)) {
        const std::size_t next = g + ahead < groups ? g + ahead : g;
        store_answers(bitmap, g, visit(g, next) & ((1U << size) - 1));
      });
}

// The lines where words[first[0]] to words[first[7]] are.
template <int Write, int Locality>
[[gnu::always_inline]] inline void prefetch_group(const std::uint64_t* words,
                                                  const std::uint64_t* first) noexcept {
  for (std::size_t i = 0; i < group; ++i) __builtin_prefetch(words + first[i], Write, Locality);
  // GCC 12 takes a function that only prefetches for one without effect and drops calls that it
  // does not inline early: lookups of 12 ns took 60. An empty asm counts as an effect and is free.
  asm volatile("");
}

}  // namespace bloomery::kernel
