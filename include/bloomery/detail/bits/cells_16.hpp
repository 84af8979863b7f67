// A line of 32 cells of 16 bits, which machines have instructions for, each cell on its own: the
// default of detail/bits/split_lines.hpp, in the vectors that the program is built for. Always
// inlined: a copy compiled for AVX2 must not be linked into a program for another machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bloomery::detail {

#if defined(__AVX2__)
inline constexpr std::size_t bytes_16 = 32;
#else
inline constexpr std::size_t bytes_16 = 16;
#endif
inline constexpr std::size_t line_bytes_16 = 64;
using part_16 [[gnu::vector_size(bytes_16)]] = std::uint16_t;

[[gnu::always_inline]] inline part_16 load_16(const std::uint64_t* line,
                                              std::size_t byte) noexcept {
  part_16 cells;
  std::memcpy(&cells, reinterpret_cast<const unsigned char*>(line) + byte, sizeof cells);
  if constexpr (std::endian::native == std::endian::big) cells = (cells << 8U) | (cells >> 8U);
  return cells;
}

// 0 stays 0.
[[gnu::always_inline]] inline part_16 one_less_16(part_16 cells) noexcept {
#if defined(__SSE2__)
  using signed_part [[gnu::vector_size(bytes_16)]] = short;
  const auto from = reinterpret_cast<signed_part>(cells);
#if defined(__AVX2__)
  return reinterpret_cast<part_16>(__builtin_ia32_psubusw256(from, signed_part{} + 1));
#else
  return reinterpret_cast<part_16>(__builtin_ia32_psubusw128(from, signed_part{} + 1));
#endif
#else
  return cells - (cells != 0 ? part_16{} + 1 : part_16{});
#endif
}

[[gnu::always_inline]] inline bool is_any_16(part_16 found) noexcept {
#if defined(__AVX2__)
  using quarters [[gnu::vector_size(32)]] = long long;
  const auto any = reinterpret_cast<quarters>(found);
  return __builtin_ia32_ptestz256(any, any) == 0;
#elif defined(__SSE2__)
  using bytes [[gnu::vector_size(16)]] = char;
  return __builtin_ia32_pmovmskb128(reinterpret_cast<bytes>(found)) != 0;
#else
  using halves [[gnu::vector_size(16)]] = unsigned long long;
  const auto any = reinterpret_cast<halves>(found);
  return (any[0] | any[1]) != 0;
#endif
}

// Whether a fingerprint in the line is how that of a new cell begins; split_lines::fits says why.
// Being set, the last bit of the new one keeps empty cells from fitting.
[[gnu::always_inline]] inline bool fits_cells(const std::uint64_t* line,
                                              std::uint16_t cell) noexcept {
  part_16 found{};
  for (std::size_t i = 0; i < line_bytes_16; i += bytes_16) {
    const part_16 there = load_16(line, i);
    const part_16 below = there ^ one_less_16(there);
    found |= ((there ^ cell) & ~below) == 0 ? ~part_16{} : part_16{};
  }
  return is_any_16(found);
}

// The number of the first empty cell, of a line that has one.
[[gnu::always_inline]] inline std::size_t first_empty_cell(const std::uint64_t* line) noexcept {
#if defined(__AVX2__)
  using bytes [[gnu::vector_size(bytes_16)]] = char;
  std::uint64_t empty = 0;  // two bits for each cell
  for (std::size_t i = 0; i < line_bytes_16; i += bytes_16) {
    const auto some = reinterpret_cast<bytes>(load_16(line, i) == 0);
    empty |= std::uint64_t{static_cast<unsigned>(__builtin_ia32_pmovmskb256(some))} << i;
  }
  return static_cast<std::size_t>(std::countr_zero(empty)) / 2;
#elif defined(__SSE2__)
  using numbers [[gnu::vector_size(bytes_16)]] = short;
  const auto empty = [line](std::size_t i) __attribute__((always_inline)) {
    return reinterpret_cast<numbers>(load_16(line, i * bytes_16) == 0);
  };
  const auto bits = [&](std::size_t i) __attribute__((always_inline)) {  // one for each cell
    const auto two = __builtin_ia32_packsswb128(empty(i), empty(i + 1));
    return static_cast<unsigned>(__builtin_ia32_pmovmskb128(two));
  };
  // std::countr_zero takes a branch for 0 here, which there is not.
  return static_cast<std::size_t>(__builtin_ctz(bits(0) | bits(2) << 16U));
#else
  std::size_t at = 0;
  for (std::uint16_t cell = 1; cell != 0; ++at) {
    std::memcpy(&cell, reinterpret_cast<const unsigned char*>(line) + 2 * at, sizeof cell);
  }
  return at - 1;
#endif
}

}  // namespace bloomery::detail
