// The loop of the floor for every instruction set: the pipeline of the filters (pipeline.hpp) that
// only touches lines. Included after the instruction set has been switched on; Isa is of an
// anonymous name space, so that no code for one machine is linked into the path of another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"
#include "floor.hpp"
#include "kernel/pipeline.hpp"

namespace bloomery::kernel {

inline constexpr std::size_t floor_ring = 32;  // groups

// Counts or changes the lines of each key. A line is found Ahead groups before it is touched, and
// with Far prefetched to the second level; Near groups before, unless 0, to the first level.
template <std::size_t Ahead, bool Far, std::size_t Near, class Isa, class Visit>
[[gnu::always_inline]] inline void floor_roll(const Isa isa, const std::uint64_t* keys,
                                              std::size_t count, Visit visit) noexcept {
  static_assert(Near < Ahead && Ahead < floor_ring);
  alignas(64) std::uint64_t ring[floor_ring * group];  // the first word of each line
  const std::size_t groups = count / group;
  const auto slot = [&](std::size_t g) __attribute__((always_inline)) {
    return &ring[g % floor_ring * group];
  };
  roll_groups(
      keys, count, Ahead,
      [&](const std::uint64_t* own, std::size_t g, std::size_t) __attribute__((always_inline)) {
        isa.stage(own, slot(g));
        if constexpr (Far) prefetch_group<0, 2>(visit.words, slot(g));
      },
      [&](std::size_t g, std::size_t size) __attribute__((always_inline)) {
        if constexpr (Near > 0) {
          if (g + Near < groups) prefetch_group<Visit::write, 3>(visit.words, slot(g + Near));
        }
        visit(isa, slot(g), size);
      });
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
    for (std::size_t i = 0; i < group; ++i) {
      slot[i] = detail::multiply_high(mix64(keys[i], spread_seed_), lines_) * 8;
    }
  }

 private:
  std::uint64_t lines_;
  std::uint64_t spread_seed_;
};

}  // namespace bloomery::kernel
