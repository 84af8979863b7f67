// Wide multiplication and byte order: the two places where portable C++20 needs a hand.
#pragma once

#include <bit>
#include <cstdint>

#include "bloomery/detail/core/host_device.hpp"

namespace bloomery::detail {

__extension__ using uint128 = unsigned __int128;
__extension__ using int128 = __int128;

// The upper 64 bits of a * b. With a uniform over 64 bits this maps it to [0, b) without the bias
// and the division of a modulo, and for every b, not only for powers of two.
[[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint64_t multiply_high(std::uint64_t a,
                                                                         std::uint64_t b) noexcept {
  return static_cast<std::uint64_t>((static_cast<uint128>(a) * b) >> 64U);
}

// The two halves of a * b, XORed.
[[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint64_t multiply_fold(std::uint64_t a,
                                                                         std::uint64_t b) noexcept {
  const uint128 product = static_cast<uint128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

// Arrays are little-endian in memory as they are in files, so that a mapped file is a filter on
// every machine. A little-endian machine pays nothing for it.
[[nodiscard]] BLOOMERY_HOST_DEVICE constexpr std::uint64_t little_endian(
    std::uint64_t value) noexcept {
  if constexpr (std::endian::native == std::endian::little) {
    return value;
  } else {
    return __builtin_bswap64(value);
  }
}

}  // namespace bloomery::detail
