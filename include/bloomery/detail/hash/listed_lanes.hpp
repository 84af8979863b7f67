// One key and its block of sixteen 32-bit lanes, lane by lane: block_lanes.hpp for every machine. A
// counter is the `width` bits (2, 4, 8, 16) around the key's bit, and sticks at its maximum.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/hash/lane_tables.hpp"

namespace bloomery::detail {

class listed_lanes {
 public:
  explicit listed_lanes(const lane_tables& tables) noexcept
      : steps_(tables.steps), probes_(tables.probes) {}

  // Whether test(lane, bit) is true for all lanes of the key. There is no branch on the outcome: it
  // would often be mispredicted, and cost more than the remaining lanes.
  template <class Test>
  [[gnu::always_inline]] bool all_of(std::uint64_t hash, Test test) const noexcept {
    return all_steps(hash, [&](const lane_step& s) {
      return test(std::size_t{s.lane}, lane_bit(hash, s.multiplier));
    });
  }

  [[gnu::always_inline]] [[nodiscard]] bool covered(std::uint64_t hash,
                                                    const std::uint64_t* block) const noexcept {
    std::uint32_t all = 1;
    all_of(hash, [&](std::size_t lane, std::uint32_t bit) {
      all &= load_lane(block, lane) >> bit;
      return true;
    });
    return all != 0;
  }
  // True when one of the bits was not set before.
  [[gnu::always_inline]] bool set(std::uint64_t hash, std::uint64_t* block) const noexcept {
    std::uint32_t all = 1;
    all_of(hash, [&](std::size_t lane, std::uint32_t bit) {
      const std::uint32_t there = load_lane(block, lane);
      all &= there >> bit;
      store_lane(block, lane, there | std::uint32_t{1} << bit);
      return true;
    });
    return all == 0;
  }

  // Whether one of the planes has all bits of the key.
  [[gnu::always_inline]] [[nodiscard]] bool covered_in(std::uint64_t hash,
                                                       const std::uint64_t* block,
                                                       const lane_planes& planes) const noexcept {
    std::uint32_t all = planes.first;
    all_steps(hash, [&](const lane_step& s) {
      all &= load_lane(block, s.lane) >> lane_place(hash, s.multiplier, planes.positions);
      return true;
    });
    return all != 0;
  }
  // Sets them in the one plane, and returns true when one was not set before.
  [[gnu::always_inline]] bool set_in(std::uint64_t hash, std::uint64_t* block,
                                     const lane_planes& planes) const noexcept {
    std::uint32_t missing = 0;
    all_steps(hash, [&](const lane_step& s) {
      const std::uint32_t there = load_lane(block, s.lane);
      const std::uint32_t one = planes.first << lane_place(hash, s.multiplier, planes.positions);
      missing |= one & ~there;
      store_lane(block, s.lane, there | one);
      return true;
    });
    return missing != 0;
  }

  // `counted` says whether none of the key's counters is 0, `least` which value the least has.
  [[gnu::always_inline]] [[nodiscard]] bool counted(std::uint64_t hash, const std::uint64_t* block,
                                                    const counter_cells& cells) const noexcept {
    return all_of(hash, [&](std::size_t lane, std::uint32_t bit) {
      return value(load_lane(block, lane), bit, cells.width) != 0;
    });
  }
  [[gnu::always_inline]] [[nodiscard]] std::uint32_t least(
      std::uint64_t hash, const std::uint64_t* block, const counter_cells& cells) const noexcept {
    std::uint32_t smallest = UINT32_MAX;
    all_of(hash, [&](std::size_t lane, std::uint32_t bit) {
      const std::uint32_t count = value(load_lane(block, lane), bit, cells.width);
      smallest = count < smallest ? count : smallest;
      return true;
    });
    return smallest;
  }
  // True when one of the counters was 0.
  [[gnu::always_inline]] bool increment(std::uint64_t hash, std::uint64_t* block,
                                        const counter_cells& cells) const noexcept {
    const bool counted_before = all_of(hash, [&](std::size_t lane, std::uint32_t bit) {
      const std::uint32_t there = load_lane(block, lane);
      store_lane(block, lane, there + step(there, bit, cells.width));
      return value(there, bit, cells.width) != 0;
    });
    return !counted_before;
  }
  // Returns false, and changes nothing, when one of the counters is 0.
  [[gnu::always_inline]] bool decrement(std::uint64_t hash, std::uint64_t* block,
                                        const counter_cells& cells) const noexcept {
    if (!counted(hash, block, cells)) return false;
    all_of(hash, [&](std::size_t lane, std::uint32_t bit) {
      const std::uint32_t there = load_lane(block, lane);
      store_lane(block, lane, there - step(there, bit, cells.width));
      return true;
    });
    return true;
  }

 private:
  template <class Test>
  [[gnu::always_inline]] bool all_steps(std::uint64_t hash, Test test) const noexcept {
    const lane_step* const steps = steps_[rotation_of(hash)].data();
    bool all = true;
    for (std::size_t j = 0; j < probes_; ++j) {
      all &= test(steps[j]);
      // Keeps GCC from making vectors of this loop, which takes longer (13 against 9 ns).
      asm volatile("");
    }
    return all;
  }

  static constexpr std::uint32_t shift_of(std::uint32_t bit, std::uint32_t width) noexcept {
    return bit & ~(width - 1);
  }
  // The value of a counter in the lane `there`.
  static constexpr std::uint32_t value(std::uint32_t there, std::uint32_t bit,
                                       std::uint32_t width) noexcept {
    return (there >> shift_of(bit, width)) & (UINT32_MAX >> (32U - width));
  }
  // What adds one to a counter: 0 when the counter sticks.
  static constexpr std::uint32_t step(std::uint32_t there, std::uint32_t bit,
                                      std::uint32_t width) noexcept {
    const std::uint32_t room = value(~there, bit, width) != 0 ? 1 : 0;
    return room << shift_of(bit, width);
  }

  const lane_steps* steps_;
  std::uint32_t probes_;
};

}  // namespace bloomery::detail
