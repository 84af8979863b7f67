// The parities of a key's columns for loop.hpp: in plain C++, and what the vector forms of them
// share. Included after the instruction set has been switched on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/hash/static_probe.hpp"
#include "place.hpp"

namespace bloomery::kernel {

namespace {

struct scalar_columns {
  // Measured with 8 columns: the same with and without prefetch at 1 MB.
  static constexpr std::uint64_t cached_bytes = std::uint64_t{512} << 10U;

  [[gnu::always_inline]] static std::uint64_t odd(const std::uint64_t* columns, std::uint32_t bits,
                                                  const ribbon_ring& ring,
                                                  std::size_t at) noexcept {
    std::uint64_t odd = 0;
    for (std::uint32_t j = 0; j < bits; ++j) {
      const std::uint64_t chosen = chosen_of(columns, bits, ring, at, j);
      odd |= static_cast<std::uint64_t>(__builtin_parityll(chosen)) << j;
    }
    return odd;
  }
  [[gnu::always_inline]] static std::uint64_t odd_eight(const std::uint64_t* columns,
                                                        std::uint32_t bits, const ribbon_ring& ring,
                                                        std::size_t at) noexcept {
    return detail::odd_of_eight([&](std::uint32_t j) __attribute__((always_inline)) {
      return chosen_of(columns, bits, ring, at, j);
    });
  }

  // How many words odd() reads, from the first column on.
  static std::size_t words_read(std::uint32_t bits) noexcept { return std::size_t{3} * bits; }

 private:
  [[gnu::always_inline]] static std::uint64_t chosen_of(const std::uint64_t* columns,
                                                        std::uint32_t bits, const ribbon_ring& ring,
                                                        std::size_t at, std::uint32_t j) noexcept {
    return (detail::little_endian(columns[j]) & ring.first[at]) ^
           (detail::little_endian(columns[bits + j]) & ring.second[at]) ^
           (detail::little_endian(columns[2 * bits + j]) & ring.third[at]);
  }
};

// Vectors has odd_eight, which serves fewer columns, too, reading at most 5 words past the last
// shard, where directory and footer have 16. For one or two the scalar form reads fewer lines.
template <class Vectors>
struct vector_columns {
  [[gnu::always_inline]] static std::uint64_t odd(const std::uint64_t* columns, std::uint32_t bits,
                                                  const ribbon_ring& ring,
                                                  std::size_t at) noexcept {
    if (bits <= 2) return scalar_columns::odd(columns, bits, ring, at);
    return Vectors::odd_eight(columns, bits, ring, at) & ((1U << bits) - 1);
  }
  static std::size_t words_read(std::uint32_t bits) noexcept {
    return bits <= 2 || bits >= 8 ? std::size_t{3} * bits : std::size_t{2} * bits + 8;
  }
};

}  // namespace

}  // namespace bloomery::kernel
