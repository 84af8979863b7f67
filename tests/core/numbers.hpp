// Numbers that the tests of sizes share.
#pragma once

#include <cstdint>
#include <limits>

namespace bloomery::sizing {

inline constexpr std::uint64_t million = 1'000'000;
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

}  // namespace bloomery::sizing
