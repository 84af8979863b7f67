// Eight 64-bit numbers in plain C++ with the face of eight_avx512.hpp, so that a kernel is written
// once. Included after the instruction set is on; `eight` is of the including file's name space.
//
// It is also the form for AVX2 and NEON, which have no 64-bit multiply: one made of 32-bit ones is
// slower than the scalar one. Where short products are enough AVX2 has eight_avx2.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"
#include "one.hpp"

namespace bloomery::kernel {

namespace {

struct eight {
  // Whether eight at a time is faster than one after the other, for loops that have both.
  static constexpr bool is_vector = false;
  // For loops with so many numbers to a key that those of eight would not fit into registers.
  using fitting = one;

  std::uint64_t n[8];

  // make(i) for each place.
  template <class Make>
  [[gnu::always_inline]] static eight of(Make make) noexcept {
    return {{make(0), make(1), make(2), make(3), make(4), make(5), make(6), make(7)}};
  }

  [[gnu::always_inline]] static eight load(const std::uint64_t* from) noexcept {
    return of([=](std::size_t i) __attribute__((always_inline)) { return from[i]; });
  }
  [[gnu::always_inline]] static eight all(std::uint64_t value) noexcept {
    return of([=](std::size_t) __attribute__((always_inline)) { return value; });
  }
  // words[index], as numbers: arrays are little-endian in memory.
  [[gnu::always_inline]] static eight gather(const std::uint64_t* words,
                                             const eight& index) noexcept {
    return of([&](std::size_t i) __attribute__((always_inline)) {
      return detail::little_endian(words[index.n[i]]);
    });
  }

  [[gnu::always_inline]] void store(std::uint64_t* to) const noexcept {
    for (std::size_t i = 0; i < 8; ++i) to[i] = n[i];
  }
  // Those whose bit is set in the mask, one after the other. May write all eight places.
  [[gnu::always_inline]] void store_some(unsigned mask, std::uint64_t* to) const noexcept {
    for (std::size_t i = 0; i < 8; ++i) {
      *to = n[i];
      to += (mask >> i) & 1U;
    }
  }

  [[gnu::always_inline]] friend eight operator+(const eight& a, const eight& b) noexcept {
    return of([&](std::size_t i) __attribute__((always_inline)) { return a.n[i] + b.n[i]; });
  }
  [[gnu::always_inline]] friend eight operator-(const eight& a, const eight& b) noexcept {
    return of([&](std::size_t i) __attribute__((always_inline)) { return a.n[i] - b.n[i]; });
  }
  // The lower half of the product.
  [[gnu::always_inline]] friend eight operator*(const eight& a, const eight& b) noexcept {
    return of([&](std::size_t i) __attribute__((always_inline)) { return a.n[i] * b.n[i]; });
  }
  [[gnu::always_inline]] friend eight operator^(const eight& a, const eight& b) noexcept {
    return of([&](std::size_t i) __attribute__((always_inline)) { return a.n[i] ^ b.n[i]; });
  }
  [[gnu::always_inline]] friend eight operator&(const eight& a, const eight& b) noexcept {
    return of([&](std::size_t i) __attribute__((always_inline)) { return a.n[i] & b.n[i]; });
  }
  [[gnu::always_inline]] friend eight operator|(const eight& a, const eight& b) noexcept {
    return of([&](std::size_t i) __attribute__((always_inline)) { return a.n[i] | b.n[i]; });
  }
  // By less than 64: all by the same number, or each by its own.
  [[gnu::always_inline]] friend eight operator<<(const eight& a, unsigned by) noexcept {
    return of([&](std::size_t i) __attribute__((always_inline)) { return a.n[i] << by; });
  }
  [[gnu::always_inline]] friend eight operator>>(const eight& a, unsigned by) noexcept {
    return of([&](std::size_t i) __attribute__((always_inline)) { return a.n[i] >> by; });
  }
  [[gnu::always_inline]] friend eight operator<<(const eight& a, const eight& by) noexcept {
    return of([&](std::size_t i) __attribute__((always_inline)) { return a.n[i] << by.n[i]; });
  }
  [[gnu::always_inline]] friend eight operator>>(const eight& a, const eight& by) noexcept {
    return of([&](std::size_t i) __attribute__((always_inline)) { return a.n[i] >> by.n[i]; });
  }

  // The upper half of the product; the second form, cheaper with vectors, where b is below 2^32.
  [[gnu::always_inline]] friend eight multiply_high(const eight& a, const eight& b) noexcept {
    return of([&](std::size_t i)
                  __attribute__((always_inline)) { return detail::multiply_high(a.n[i], b.n[i]); });
  }
  [[gnu::always_inline]] friend eight multiply_high_short(const eight& a, const eight& b) noexcept {
    return multiply_high(a, b);
  }
  [[gnu::always_inline]] friend eight least_of(const eight& a, const eight& b) noexcept {
    return of([&](std::size_t i)
                  __attribute__((always_inline)) { return a.n[i] < b.n[i] ? a.n[i] : b.n[i]; });
  }

  // Bit i of the answer is that of place i.
  [[gnu::always_inline]] friend unsigned equal(const eight& a, const eight& b) noexcept {
    return mask_of([&](std::size_t i) __attribute__((always_inline)) { return a.n[i] == b.n[i]; });
  }
  // Whether a & b is not zero.
  [[gnu::always_inline]] friend unsigned meet(const eight& a, const eight& b) noexcept {
    return mask_of([&](std::size_t i)
                       __attribute__((always_inline)) { return (a.n[i] & b.n[i]) != 0; });
  }
  [[gnu::always_inline]] friend unsigned nonzero(const eight& a) noexcept { return meet(a, a); }

  // hash/hash.hpp's mixer of integers.
  [[gnu::always_inline]] friend eight mix64(const eight& keys, const eight& spread_seed) noexcept {
    return of([&](std::size_t i) __attribute__((always_inline)) {
      return bloomery::mix64(keys.n[i], spread_seed.n[i]);
    });
  }

 private:
  template <class Test>
  [[gnu::always_inline]] static unsigned mask_of(Test test) noexcept {
    unsigned mask = 0;
    for (std::size_t i = 0; i < 8; ++i) mask |= unsigned{test(i)} << i;
    return mask;
  }
};

}  // namespace

}  // namespace bloomery::kernel
