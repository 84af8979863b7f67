// Solves a ribbon layer (Dillinger and Walzer 2021; thresholds as in Dillinger et al. 2022).
//
// The equations of a bucket are inserted from the last start to the first, by Gaussian elimination
// on the fly: an equation whose first slot is taken has the one there added to it, which moves its
// first coefficient on. It changes no other, so a group of equations can be taken back by emptying
// the slots that it took. A bucket has three groups: the starts from threshold 2 on, those from
// threshold 1 on, and the rest; the first group that fails is bumped with those after it.
//
// Which slots get an equation, and the solution with 0 in the others, depend on the set of the
// equations alone. So does whether a group fails. The order within a group is a matter of speed:
// from the last start to the first, most equations find their first slot empty.
//
// The coefficients of a row lie over three words, as those of a lookup do (ribbon_cover), from the
// multiple of 64 slots that it starts in. Adding a row then needs no shift, which would be most of
// the time from one row to the next.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bloomery/core/sizing_static.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/filter/static_layout.hpp"

namespace bloomery::detail {

class ribbon_band {
 public:
  // Inserts the sorted mixed hashes. Moves those that were bumped to the front; returns how many.
  // `codes` takes the thresholds: zeroed words.
  std::size_t insert_bumping(std::span<std::uint64_t> mixed, std::uint64_t slots,
                             std::uint32_t bits, std::uint64_t* codes) {
    begin(slots, bits);
    std::size_t bumped = 0;
    std::size_t first = 0;
    const std::uint64_t starts = sizing::ribbon_starts(slots);
    for (std::uint64_t bucket = 0; first < mixed.size(); ++bucket) {
      const auto start_in_bucket = [&](std::size_t i) {
        return multiply_high(mixed[i], starts) - bucket * sizing::ribbon_bucket_slots;
      };
      std::size_t end = first;
      while (end < mixed.size() && start_in_bucket(end) < sizing::ribbon_bucket_slots) ++end;
      std::size_t kept = end;  // from here on
      std::uint32_t code = 3;
      for (; code > 0; --code) {
        std::size_t group = kept;
        while (group > first && start_in_bucket(group - 1) >= ribbon_thresholds[code - 1]) --group;
        if (!insert(mixed.subspan(group, kept - group))) break;
        kept = group;
      }
      codes[bucket / 32] |= little_endian(std::uint64_t{code} << (bucket % 32 * 2));
      for (; first < kept; ++first) mixed[bumped++] = mixed[first];
      first = end;
    }
    return bumped;
  }

  // Inserts all, or returns false. Any number of slots will do here.
  bool insert_all(std::span<const std::uint64_t> mixed, std::uint64_t slots, std::uint32_t bits) {
    begin(slots, bits);
    return insert(mixed);
  }

  // From the last slot to the first: its equation and the next 127 slots make a slot; 0 without.
  void solve(std::uint64_t* columns) const {
    using words = std::array<std::uint64_t, 32>;  // one for each column
    words here{};                                 // the solution for 64 slots,
    words second{};                               // for the 64 after them,
    words third{};                                // and for the 64 after those
    for (std::size_t slot = rows_.size(); slot-- > 0;) {
      const row& r = rows_[slot];
      for (std::uint32_t j = 0; !r.is_empty() && j < bits_; ++j) {
        const std::uint64_t chosen =
            (here[j] & r.front[0]) ^ (second[j] & r.front[1]) ^ (third[j] & r.back[0]);
        const auto parity = static_cast<std::uint64_t>(__builtin_parityll(chosen));
        here[j] |= ((parity ^ (r.back[1] >> j)) & 1U) << (slot % 64);
      }
      if (slot % 64 != 0) continue;
      for (std::uint32_t j = 0; j < bits_; ++j) {
        columns[slot / 64 * bits_ + j] = little_endian(here[j]);
      }
      third = second;
      second = here;
      here = {};
    }
  }

 private:
  using two_words [[gnu::vector_size(16)]] = std::uint64_t;

  struct alignas(32) row {  // never in two cache lines
    two_words front{};      // the first two words of coefficients; the first is 0 in an empty slot
    two_words back{};       // the third, and the fingerprint

    [[nodiscard]] bool is_empty() const noexcept { return front[0] == 0; }
  };

  struct equation {       // on its way to a slot
    row sum;              // of it and of the rows that it has met
    std::uint64_t first;  // the first word of that, where the next step has it at once
    row* rows;            // the slot of its first bit
  };
  enum class progress : std::uint8_t { moved, placed, failed };

  void begin(std::uint64_t slots, std::uint32_t bits) {
    rows_.assign(static_cast<std::size_t>(slots), row{});
    bits_ = bits;
  }

  // A group: all of it or, when it returns false, nothing of it.
  bool insert(std::span<const std::uint64_t> mixed) {
    if (taken_.size() < mixed.size()) taken_.resize(mixed.size());
    row** taken = taken_.data();
    if (place(mixed, taken)) return true;
    while (taken != taken_.data()) **--taken = {};
    return false;
  }

  // Ends with false at the first equation that fails. From one row to the next an equation waits
  // for a load; so six are on their way at a time, in turn: half the time of one after the other.
  bool place(std::span<const std::uint64_t> mixed, row**& taken) {
    constexpr std::size_t at_once = 6;
    const auto finish = [&taken](equation& e) {  // alone
      progress now = progress::moved;
      while (now == progress::moved) now = step(e, taken);
      return now == progress::placed;
    };
    std::size_t left = mixed.size();
    if (left >= at_once) {
      std::array<equation, at_once> some{};
      for (equation& e : some) e = equation_of(mixed[--left]);
      for (bool more = true; more;) {
#pragma GCC unroll 6
        for (std::size_t i = 0; i < at_once; ++i) {
          const progress now = step(some[i], taken);
          if (now == progress::moved) [[likely]]
            continue;
          if (now == progress::failed) return false;
          more = left > 0;
          if (!more) {
            std::swap(some[i], some.back());
            break;
          }
          some[i] = equation_of(mixed[--left]);
        }
      }
      if (!std::all_of(some.begin(), some.end() - 1, finish)) return false;
    }
    while (left > 0) {
      equation e = equation_of(mixed[--left]);
      if (!finish(e)) return false;
    }
    return true;
  }

  [[gnu::always_inline]] equation equation_of(std::uint64_t mixed) noexcept {
    ribbon_equation all(mixed);
    if (rows_.size() < sizing::ribbon_width) {
      const uint128 within = all.within(rows_.size());
      all.low = static_cast<std::uint64_t>(within);
      all.high = static_cast<std::uint64_t>(within >> 64U);
    }
    const std::uint64_t start = multiply_high(mixed, sizing::ribbon_starts(rows_.size()));
    const ribbon_cover cover(all, static_cast<std::uint32_t>(start % 64));
    return {row{two_words{cover.first, cover.second},
                two_words{cover.third, ribbon_print(mixed, bits_)}},
            cover.first, rows_.data() + start / 64 * 64};
  }

  // Into the slot of its first coefficient, or on by adding the row that is there.
  [[gnu::always_inline]] static progress step(equation& e, row**& taken) noexcept {
    // Not std::countr_zero, which asks for 0 where the instruction may be an older one.
    row& there = e.rows[__builtin_ctzll(e.first)];
    const std::uint64_t first = there.front[0];
    if (first == 0) {
      there = e.sum;
      *taken++ = &there;
      return progress::placed;
    }
    e.first ^= first;
    e.sum.front ^= there.front;
    e.sum.back ^= there.back;
    return e.first != 0 ? progress::moved : next_word(e);
  }

  // An equation that follows from others is no failure when its fingerprint follows too.
  [[gnu::always_inline]] static progress next_word(equation& e) noexcept {
    do {
      if ((e.sum.front[1] | e.sum.back[0]) == 0) {
        return e.sum.back[1] == 0 ? progress::placed : progress::failed;
      }
      e.sum = row{two_words{e.sum.front[1], e.sum.back[0]}, two_words{0, e.sum.back[1]}};
      e.first = e.sum.front[0];
      e.rows += 64;
    } while (e.first == 0);
    return progress::moved;
  }

  std::vector<row> rows_;
  std::vector<row*> taken_;  // by the group
  std::uint32_t bits_ = 0;
};

}  // namespace bloomery::detail
