// The rank that a quantile asks for, in one place for all that answer them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bloomery/core/error.hpp"

namespace bloomery::sketch_detail {

// How many of `total` numbers may not be above the quantile at least: share * total, rounded up,
// but 7 of 100 for the double next to 0.07, whose product is a little more. Throws
// errc::bad_argument unless share is from 0 to 1.
[[nodiscard]] inline std::uint64_t rank_of(double share, std::uint64_t total) {
  if (!(share >= 0 && share <= 1)) detail::throw_bad_argument("the share", share, "from 0 to 1");
  const double exact = share * static_cast<double>(total);
  const double rank = std::ceil(exact - exact * 0x1p-50);
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(0.0, rank)), 1,
                                   std::max<std::uint64_t>(total, 1));
}

}  // namespace bloomery::sketch_detail
