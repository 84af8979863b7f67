// Solves a ribbon layer (Dillinger and Walzer 2021; thresholds as in Dillinger et al. 2022).
//
// The equations of a bucket are inserted from the last start to the first, by Gaussian elimination
// on the fly: an equation whose first slot is taken has the one there added to it, which moves its
// first coefficient on. It changes no other, so a group of equations can be taken back by emptying
// the slots that it took. A bucket has three groups: the starts from threshold 2 on, those from
// threshold 1 on, and the rest; the first group that fails is bumped with those after it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
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
    std::array<uint128, 32> after{};  // for each column, the solution from the current slot on
    for (std::size_t slot = rows_.size(); slot-- > 0;) {
      const row& r = rows_[slot];
      for (std::uint32_t j = 0; j < bits_; ++j) {
        after[j] <<= 1U;
        if (r.coefficients == 0) continue;
        const uint128 chosen = after[j] & r.coefficients;
        const auto folded =
            static_cast<std::uint64_t>(chosen) ^ static_cast<std::uint64_t>(chosen >> 64U);
        after[j] |= static_cast<std::uint32_t>(__builtin_parityll(folded)) ^ ((r.print >> j) & 1U);
      }
      if (slot % 64 != 0) continue;
      for (std::uint32_t j = 0; j < bits_; ++j) {
        columns[slot / 64 * bits_ + j] = little_endian(static_cast<std::uint64_t>(after[j]));
      }
    }
  }

 private:
  struct row {
    uint128 coefficients = 0;  // 0: an empty slot
    std::uint32_t print = 0;
  };

  void begin(std::uint64_t slots, std::uint32_t bits) {
    rows_.assign(static_cast<std::size_t>(slots), row{});
    bits_ = bits;
  }

  // A group: all of it or, when it returns false, nothing of it.
  bool insert(std::span<const std::uint64_t> mixed) {
    taken_.clear();
    for (std::size_t i = mixed.size(); i-- > 0;) {
      if (insert(mixed[i])) continue;
      for (const std::uint64_t slot : taken_) rows_[slot] = {};
      return false;
    }
    return true;
  }

  // An equation that follows from others is no failure when its fingerprint follows too.
  bool insert(std::uint64_t mixed) {
    uint128 coefficients = ribbon_equation(mixed).within(rows_.size());
    auto print = static_cast<std::uint32_t>(ribbon_print(mixed, bits_));
    std::uint64_t slot = multiply_high(mixed, sizing::ribbon_starts(rows_.size()));
    while (true) {
      row& r = rows_[slot];
      if (r.coefficients == 0) {
        r = {coefficients, print};
        taken_.push_back(slot);
        return true;
      }
      coefficients ^= r.coefficients;
      print ^= r.print;
      if (coefficients == 0) return print == 0;
      const auto low = static_cast<std::uint64_t>(coefficients);
      const int skip = low != 0
                           ? std::countr_zero(low)
                           : 64 + std::countr_zero(static_cast<std::uint64_t>(coefficients >> 64U));
      coefficients >>= static_cast<unsigned>(skip);
      slot += static_cast<std::uint64_t>(skip);
    }
  }

  std::vector<row> rows_;
  std::vector<std::uint64_t> taken_;
  std::uint32_t bits_ = 0;
};

}  // namespace bloomery::detail
