// The smallest filter that meets its target: a bracketed secant.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bloomery::sizing {

// The least number from 1 to `most` with excess(number) <= 0, for an excess that falls; 0 if there
// is none. It is near `guess`, and its excess at 0 is known.
template <class Excess>
std::uint64_t least_number(double guess, std::uint64_t most, double excess_of_none, Excess excess) {
  std::uint64_t low = 0;  // too few
  double low_excess = excess_of_none;
  auto high = guess < static_cast<double>(most)
                  ? std::max<std::uint64_t>(1, static_cast<std::uint64_t>(guess))
                  : most;
  double high_excess = excess(high);
  while (high_excess > 0) {
    if (high == most) return 0;
    low = high;
    low_excess = high_excess;
    high = std::min(most, high + high / 16 + 1);
    high_excess = excess(high);
  }
  for (bool halve = false; high - low > 1; halve = !halve) {
    const auto width = static_cast<double>(high - low);
    const double step = halve ? width / 2 : width * low_excess / (low_excess - high_excess);
    const std::uint64_t middle =
        std::clamp(low + static_cast<std::uint64_t>(step), low + 1, high - 1);
    const double middle_excess = excess(middle);
    (middle_excess > 0 ? low : high) = middle;
    (middle_excess > 0 ? low_excess : high_excess) = middle_excess;
  }
  return high;
}

}  // namespace bloomery::sizing
