// Counters of 8 to 64 bits in little-endian words, read and written as numbers of their own width.
// `Target` keeps what is compiled for one machine out of the path of another.
#pragma once

#include <bit>
#include <cstdint>

namespace bloomery::kernel {

template <class Target, class Cell>
struct count_min_cells {
  static constexpr std::uint64_t most = static_cast<Cell>(~Cell{0});

  [[gnu::always_inline]] static std::uint64_t get(const std::uint64_t* words,
                                                  std::uint64_t index) noexcept {
    Cell cell;
    __builtin_memcpy(&cell, reinterpret_cast<const Cell*>(words) + index, sizeof cell);
    return turned(cell);
  }
  [[gnu::always_inline]] static void set(std::uint64_t* words, std::uint64_t index,
                                         std::uint64_t value) noexcept {
    const Cell cell = turned(static_cast<Cell>(value));
    __builtin_memcpy(reinterpret_cast<Cell*>(words) + index, &cell, sizeof cell);
  }
  [[gnu::always_inline]] static std::uint64_t sum(std::uint64_t value,
                                                  std::uint64_t count) noexcept {
    return value + (count < most - value ? count : most - value);
  }

 private:
  [[gnu::always_inline]] static Cell turned(Cell cell) noexcept {
    if constexpr (std::endian::native == std::endian::little || sizeof cell == 1) {
      return cell;
    } else if constexpr (sizeof cell == 2) {
      return __builtin_bswap16(cell);
    } else if constexpr (sizeof cell == 4) {
      return __builtin_bswap32(cell);
    } else {
      return __builtin_bswap64(cell);
    }
  }
};

}  // namespace bloomery::kernel
