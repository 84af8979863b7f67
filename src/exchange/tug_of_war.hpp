// How many elements two sets differ in, from 128 sums (Alon, Matias and Szegedy 1996, on sets).
//
// Each element pulls each sum up or down by one, as a bit of its hash says. Equal elements pull
// both parties' sums alike, so two sums differ by a sum of +1 or -1 for each differing element: its
// mean square is their number. 128 squares have a standard error of sqrt(2/128) = 1/8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bloomery/hash/hash.hpp"

namespace bloomery {

class tug_of_war {
 public:
  static constexpr std::size_t sums = 128;

  void add(std::uint64_t hash) noexcept {
    const std::uint64_t other = splitmix64(hash);
    for (std::size_t i = 0; i < 64; ++i) {
      sums_[i] += static_cast<std::int64_t>((hash >> i) & 1U);
      sums_[i + 64] += static_cast<std::int64_t>((other >> i) & 1U);
    }
    ++added_;
  }

  // Sum i: how many pulled up, less how many down.
  [[nodiscard]] std::int64_t sum(std::size_t i) const noexcept { return 2 * sums_[i] - added_; }

 private:
  std::array<std::int64_t, sums> sums_{};
  std::int64_t added_ = 0;
};

using tug_sums = std::array<std::int64_t, tug_of_war::sums>;

// The estimate. A set that is larger than the other by n differs from it in at least n.
inline double tug_difference(const tug_sums& a, const tug_sums& b) noexcept {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    squares += apart * apart;
  }
  return squares / static_cast<double>(a.size());
}

}  // namespace bloomery
