// Counters of 8, 16, 32 or 64 bits in little-endian words, and the checks that the sketches share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bloomery/bits/counter_array.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "core/saturating.hpp"

namespace bloomery::sketch_detail {

// The width of a counter is a power of two up to 64, so that none straddles words. Shifts address
// it alike on every byte order, as fast as narrow loads: the cache miss is what costs.
class cell_format {
 public:
  explicit cell_format(std::uint32_t cell_bits) noexcept
      : shift_(static_cast<std::uint32_t>(std::countr_zero(cell_bits))),
        most_(cell_bits < 64 ? (std::uint64_t{1} << cell_bits) - 1 : ~std::uint64_t{0}) {}

  [[nodiscard]] std::uint64_t get(const std::uint64_t* words, std::uint64_t index) const noexcept {
    const std::uint64_t bit = index << shift_;
    return (detail::little_endian(words[bit >> 6U]) >> (bit & 63U)) & most_;
  }
  void set(std::uint64_t* words, std::uint64_t index, std::uint64_t value) const noexcept {
    const std::uint64_t bit = index << shift_;
    std::uint64_t word = detail::little_endian(words[bit >> 6U]);
    word = (word & ~(most_ << (bit & 63U))) | (value << (bit & 63U));
    words[bit >> 6U] = detail::little_endian(word);
  }

  [[nodiscard]] std::uint64_t most() const noexcept { return most_; }
  // value + count, or the most that a counter holds.
  [[nodiscard]] std::uint64_t sum(std::uint64_t value, std::uint64_t count) const noexcept {
    return value + std::min(count, most_ - value);
  }
  // Whether `count` can be taken from a counter: a saturated one stands for any number.
  [[nodiscard]] bool covers(std::uint64_t value, std::uint64_t count) const noexcept {
    return value == most_ || value >= count;
  }
  [[nodiscard]] std::uint64_t difference(std::uint64_t value, std::uint64_t count) const noexcept {
    return value == most_ ? value : value - count;
  }

 private:
  std::uint32_t shift_;
  std::uint64_t most_;
};

// How many of these counters, in whole words, are at the most that they hold.
[[nodiscard]] inline std::uint64_t count_saturated(std::span<const std::uint64_t> words,
                                                   std::uint32_t cell_bits) noexcept {
  std::uint64_t full = 0;
  for (const std::uint64_t word : words) {
    full += static_cast<std::uint64_t>(std::popcount(detail::full_cells(word, cell_bits)));
  }
  return full;
}

using detail::saturating_sum;

// Throws errc::mismatch, with the first difference, unless counters of the two can be summed.
inline void check_mergeable(const shape& a, const shape& b) {
  const auto check = [](std::string_view what, std::uint64_t left, std::uint64_t right) {
    if (left == right) return;
    detail::fail(errc::mismatch, "the sketches cannot be merged: their " + std::string(what) +
                                     " differ, " + detail::to_text(left) + " and " +
                                     detail::to_text(right));
  };
  check("numbers of probes", a.probes, b.probes);
  check("bits in a cell", a.cell_bits, b.cell_bits);
  check("variants", a.variant, b.variant);
  check("numbers of bits", a.bits, b.bits);
}

}  // namespace bloomery::sketch_detail
