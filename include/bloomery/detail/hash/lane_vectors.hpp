// Lanes of 32 bits in the compiler's own vectors, of as many bytes as the machine has: 64 for
// AVX-512, 32 for AVX2, 16 for SSE2 and NEON. What the forms in vector_lanes.hpp (blocks of sixteen
// lanes) and split_lanes.hpp (of eight) are written in.
//
// Always inlined: a copy compiled for AVX2 must not be linked into a program for another machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bloomery::detail {

// A type of its own, or GCC 12 takes a vector whose size depends on a template for one element.
template <class Element, std::size_t Bytes>
struct vector_of {
  using type [[gnu::vector_size(Bytes)]] = Element;
};

template <std::size_t Bytes>
struct lane_vectors {
  template <class Element>
  using vector = typename vector_of<Element, Bytes>::type;
  using part = vector<std::uint32_t>;
  static constexpr std::size_t part_lanes = Bytes / 4;

  // Whether the machine can shift each lane by its own number. SSE2 and WebAssembly cannot.
#if defined(__SSE2__) || defined(__wasm_simd128__)
  static constexpr bool shifts = Bytes > 16;
#else
  static constexpr bool shifts = true;
#endif

  [[gnu::always_inline]] static part splat(std::uint32_t number) noexcept {
    return part{} + number;
  }
  template <class Lanes>
  [[gnu::always_inline]] static part part_of(const Lanes& lanes, std::size_t i) noexcept {
    part some;
    std::memcpy(&some, lanes.data() + i * part_lanes, sizeof(part));
    return some;
  }
  [[gnu::always_inline]] static part load(const std::uint64_t* block, std::size_t i) noexcept {
    part lanes;
    std::memcpy(&lanes, block + i * sizeof(part) / 8, sizeof(part));
    return lanes;
  }
  [[gnu::always_inline]] static void store(std::uint64_t* block, std::size_t i,
                                           const part& lanes) noexcept {
    std::memcpy(block + i * sizeof(part) / 8, &lanes, sizeof(part));
  }

  // For machines that cannot shift lanes apart: floats from their bits, as integers. The exponent
  // of a float is the number of the bit. They are negative, because 2^31 is too large for a signed
  // number, and -2^31 is not.
  [[gnu::always_inline]] static part bits_of_floats(const part& floats) noexcept {
    return -reinterpret_cast<part>(
        __builtin_convertvector(reinterpret_cast<vector<float>>(floats), vector<std::int32_t>));
  }

  // With AVX2 by one test instead of three shuffles (2.9 against 3.3 ns for a whole `contains`),
  // with AVX-512 by a comparison of the whole block (2.5 against 2.8).
  [[gnu::always_inline]] static bool is_zero(const part& all) noexcept {
    using words = vector<long long>;
    const auto w = reinterpret_cast<words>(all);
    if constexpr (Bytes == 64) {
      constexpr int unequal = 4;
      return __builtin_ia32_cmpq512_mask(w, words{}, unequal, 0xff) == 0;
    } else if constexpr (Bytes == 32) {
      return __builtin_ia32_ptestz256(w, w) != 0;
    } else {
      return (w[0] | w[1]) == 0;
    }
  }
};

}  // namespace bloomery::detail
