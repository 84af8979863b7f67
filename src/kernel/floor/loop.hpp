// The loop of the floor, the same for every instruction set: a rolling pipeline like that of the
// filters (blocked_loop.hpp). Included by each floor*.cpp after it has switched its instruction set
// on; Isa is a type of an anonymous name space, so what is compiled for one machine is never linked
// into the path of another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/hash/hash.hpp"
#include "floor.hpp"

namespace bloomery::kernel {

inline constexpr std::size_t floor_group = 8;
inline constexpr std::size_t floor_ring = 32;  // groups

struct floor_slots {
  alignas(64) std::uint64_t word[floor_ring * floor_group];  // the first of the line
};

template <int Write, int Locality>
[[gnu::always_inline]] inline void fetch_lines(const std::uint64_t* words,
                                               const std::uint64_t* slot) noexcept {
  for (std::size_t i = 0; i < floor_group; ++i)
    __builtin_prefetch(words + slot[i], Write, Locality);
  asm volatile("");  // or GCC 12 drops the call (batch.hpp)
}

// Counts or changes the lines of each key. A line is found Ahead groups before it is touched; with
// Far it is called to the second-level cache then, and to the first Near groups before, or never
// with 0.
template <std::size_t Ahead, bool Far, std::size_t Near, class Isa, class Visit>
[[gnu::always_inline]] inline void floor_roll(const Isa isa, const std::uint64_t* key,
                                              std::size_t count, Visit visit) noexcept {
  static_assert(Near < Ahead && Ahead < floor_ring);
  floor_slots ring;
  const std::size_t groups = count / floor_group;
  const auto slot = [&](std::size_t g) __attribute__((always_inline)) {
    return &ring.word[g % floor_ring * floor_group];
  };
  const auto stage = [&](std::size_t g) __attribute__((always_inline)) {
    isa.stage(key + g * floor_group, slot(g));
    if constexpr (Far) fetch_lines<0, 2>(visit.words, slot(g));
  };
  for (std::size_t g = 0; g < groups && g < Ahead; ++g) stage(g);
  for (std::size_t g = 0; g < groups; ++g) {
    if (g + Ahead < groups) stage(g + Ahead);
    if constexpr (Near > 0) {
      if (g + Near < groups) fetch_lines<Visit::write, 3>(visit.words, slot(g + Near));
    }
    visit(isa, slot(g), floor_group);
  }
  const std::size_t rest = count % floor_group;
  if (rest == 0) return;
  std::uint64_t last[floor_group] = {};
  for (std::size_t i = 0; i < rest; ++i) last[i] = key[groups * floor_group + i];
  isa.stage(last, slot(groups));
  visit(isa, slot(groups), rest);
}

struct floor_counting {
  static constexpr int write = 0;
  const std::uint64_t* words;
  std::uint64_t* sum;

  template <class Isa>
  [[gnu::always_inline]] void operator()(const Isa& isa, const std::uint64_t* slot,
                                         std::size_t count) const noexcept {
    for (std::size_t i = 0; i < count; ++i) *sum += isa.any(words + slot[i]);
  }
};

struct floor_inverting {
  static constexpr int write = 1;
  std::uint64_t* words;

  template <class Isa>
  [[gnu::always_inline]] void operator()(const Isa& isa, const std::uint64_t* slot,
                                         std::size_t count) const noexcept {
    for (std::size_t i = 0; i < count; ++i) isa.invert(words + slot[i]);
  }
};

template <class Isa, std::size_t Ahead, bool Far, std::size_t Near>
std::uint64_t floor_read(const std::uint64_t* words, std::uint64_t lines, const std::uint64_t* keys,
                         std::size_t count, std::uint64_t spread_seed) noexcept {
  std::uint64_t sum = 0;
  floor_roll<Ahead, Far, Near>(Isa(lines, spread_seed), keys, count, floor_counting{words, &sum});
  return sum;
}

template <class Isa, std::size_t Ahead, bool Far, std::size_t Near>
void floor_write(std::uint64_t* words, std::uint64_t lines, const std::uint64_t* keys,
                 std::size_t count, std::uint64_t spread_seed) noexcept {
  floor_roll<Ahead, Far, Near>(Isa(lines, spread_seed), keys, count, floor_inverting{words});
}

template <class Isa, std::size_t Ahead, bool Far, std::size_t Near>
constexpr floor_loops floor_row(const char* name) noexcept {
  return {name, floor_read<Isa, Ahead, Far, Near>, floor_write<Isa, Ahead, Far, Near>};
}

// Finds the lines one key at a time: what all use that cannot multiply vectors of 64-bit numbers.
class floor_stage {
 public:
  floor_stage(std::uint64_t lines, std::uint64_t spread_seed) noexcept
      : lines_(lines), spread_seed_(spread_seed) {}

  [[gnu::always_inline]] void stage(const std::uint64_t* keys, std::uint64_t* slot) const noexcept {
    for (std::size_t i = 0; i < floor_group; ++i) {
      slot[i] = detail::multiply_high(mix64(keys[i], spread_seed_), lines_) * 8;
    }
  }

 private:
  std::uint64_t lines_;
  std::uint64_t spread_seed_;
};

}  // namespace bloomery::kernel
