// A pairwise independent family, for the sketches whose proofs ask for one.
//
// Dietzfelbinger 1996, "Universal hashing and k-wise independent random variables via integer
// arithmetic without primes": h(x) = ((a x + b) mod 2^128) div 2^64, with a and b uniform over 128
// bits, is pairwise independent from 64-bit keys to 64-bit values. For every two different keys the
// pair of values is uniform over the choice of the function; nothing stronger is promised, so a
// single function may well map an arithmetic progression to something regular.
#pragma once

#include <cstdint>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

class pairwise_hash {
 public:
  // The function number `index` of the family that `seed` chooses.
  constexpr pairwise_hash(std::uint64_t seed, std::uint32_t index) noexcept
      : multiplier_(draw(seed, 4 * std::uint64_t{index})),
        offset_(draw(seed, 4 * std::uint64_t{index} + 2)) {}

  [[nodiscard]] constexpr std::uint64_t operator()(std::uint64_t key) const noexcept {
    return static_cast<std::uint64_t>((multiplier_ * key + offset_) >> 64U);
  }

 private:
  static constexpr detail::uint128 draw(std::uint64_t seed, std::uint64_t counter) noexcept {
    const std::uint64_t stream = splitmix64(seed);
    const std::uint64_t high = splitmix64(stream ^ splitmix64(counter));
    const std::uint64_t low = splitmix64(stream ^ splitmix64(counter + 1));
    return (static_cast<detail::uint128>(high) << 64U) | low;
  }

  detail::uint128 multiplier_;
  detail::uint128 offset_;
};

}  // namespace bloomery
