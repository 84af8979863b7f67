// Sums of what files say of themselves, which may be any number.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bloomery::detail {

[[nodiscard]] inline std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
  return a + std::min(b, ~a);
}

}  // namespace bloomery::detail
