// One 64-bit number with the face of eight_avx512.hpp: a loop over a type `Number` with
// Number::width places is written once for both. For kernels with so many numbers to a key that
// eight_scalar.hpp's would not fit into registers. Included after the instruction set is on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery::kernel {

namespace {

struct one {
  static constexpr std::size_t width = 1;
  std::uint64_t n;

  [[gnu::always_inline]] static one load(const std::uint64_t* from) noexcept { return {*from}; }
  [[gnu::always_inline]] static one all(std::uint64_t value) noexcept { return {value}; }
  [[gnu::always_inline]] static one gather(const std::uint64_t* words, one index) noexcept {
    return {detail::little_endian(words[index.n])};
  }
  // The eight bytes from there on.
  [[gnu::always_inline]] static one gather_bytes(const std::uint64_t* words,
                                                 const std::uint64_t* byte) noexcept {
    std::uint64_t eight_bytes = 0;
    std::memcpy(&eight_bytes, reinterpret_cast<const unsigned char*>(words) + *byte, 8);
    return {detail::little_endian(eight_bytes)};
  }
  // Four words from there: row[j] is words[index + j].
  [[gnu::always_inline]] static void gather_rows(const std::uint64_t* words, one index,
                                                 one (&row)[4]) noexcept {
    for (std::size_t i = 0; i < 4; ++i) row[i] = gather(words + i, index);
  }
  [[gnu::always_inline]] void store(std::uint64_t* to) const noexcept { *to = n; }
  [[gnu::always_inline]] void store_some(unsigned, std::uint64_t* to) const noexcept { *to = n; }

  [[gnu::always_inline]] friend one operator+(one a, one b) noexcept { return {a.n + b.n}; }
  [[gnu::always_inline]] friend one operator-(one a, one b) noexcept { return {a.n - b.n}; }
  [[gnu::always_inline]] friend one operator*(one a, one b) noexcept { return {a.n * b.n}; }
  [[gnu::always_inline]] friend one operator^(one a, one b) noexcept { return {a.n ^ b.n}; }
  [[gnu::always_inline]] friend one operator&(one a, one b) noexcept { return {a.n & b.n}; }
  [[gnu::always_inline]] friend one operator|(one a, one b) noexcept { return {a.n | b.n}; }
  [[gnu::always_inline]] friend one operator<<(one a, unsigned by) noexcept { return {a.n << by}; }
  [[gnu::always_inline]] friend one operator>>(one a, unsigned by) noexcept { return {a.n >> by}; }
  [[gnu::always_inline]] friend one operator<<(one a, one by) noexcept { return {a.n << by.n}; }
  [[gnu::always_inline]] friend one operator>>(one a, one by) noexcept { return {a.n >> by.n}; }

  [[gnu::always_inline]] friend one multiply_high(one a, one b) noexcept {
    return {detail::multiply_high(a.n, b.n)};
  }
  [[gnu::always_inline]] friend one multiply_high_short(one a, one b) noexcept {
    return multiply_high(a, b);
  }
  // Both halves of the product, where b is below 2^32. `low` may be a.
  [[gnu::always_inline]] friend one multiply_short(one a, one b, one& low) noexcept {
    const auto product = static_cast<detail::uint128>(a.n) * b.n;
    low.n = static_cast<std::uint64_t>(product);
    return {static_cast<std::uint64_t>(product >> 64U)};
  }
  [[gnu::always_inline]] friend one least_of(one a, one b) noexcept { return a.n < b.n ? a : b; }
  [[gnu::always_inline]] friend unsigned meet(one a, one b) noexcept {
    return (a.n & b.n) != 0 ? 1 : 0;
  }
  [[gnu::always_inline]] friend one mix64(one key, one spread_seed) noexcept {
    return {bloomery::mix64(key.n, spread_seed.n)};
  }
};

}  // namespace

}  // namespace bloomery::kernel
