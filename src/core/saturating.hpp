// Sums and shares of what files and callers say, which may be any number.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bloomery::detail {

[[nodiscard]] inline std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
  return a + std::min(b, ~a);
}

// a / b rounded up, also where the usual sum of both would be beyond 2^64.
[[nodiscard]] constexpr std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace bloomery::detail
