// Packed cells against an array of plain numbers: every width, cells that straddle, and whole
// words.
#include "bloomery/bits/counter_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "bloomery/hash/hash.hpp"

namespace {

using namespace bloomery;
using namespace bloomery::detail;

constexpr std::array<std::uint32_t, 6> powers = {1, 2, 4, 8, 16, 32};

// Words in memory from numbers, as a file has them.
std::vector<std::uint64_t> random_words(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> words(count);
  for (std::size_t i = 0; i < count; ++i) words[i] = splitmix64(seed * 1000 + i);
  return words;
}

// Bit by bit, by the definition: bit i of the array is bit i % 8 of byte i / 8.
std::uint64_t read_slowly(const std::vector<std::uint64_t>& words, std::uint64_t position,
                          std::uint32_t width) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(words.data());
  std::uint64_t value = 0;
  for (std::uint32_t i = 0; i < width; ++i) {
    const std::uint64_t p = position + i;
    value |= std::uint64_t{(bytes[p / 8] >> (p % 8)) & 1U} << i;
  }
  return value;
}

TEST(counter_array, reads_the_bits_that_the_format_says) {
  const auto words = random_words(4, 1);
  for (const std::uint32_t width : powers) {
    for (std::uint64_t p = 0; p < 256; p += width) {
      ASSERT_EQ(get_cell(words.data(), p, width), read_slowly(words, p, width))
          << width << ' ' << p;
    }
  }
  for (std::uint32_t width = 1; width <= 64; ++width) {
    for (std::uint64_t p = 0; p + width <= 256; ++p) {
      ASSERT_EQ(get_bits(words.data(), p, width), read_slowly(words, p, width))
          << width << ' ' << p;
    }
  }
}

TEST(counter_array, writes_a_cell_and_nothing_else) {
  for (std::uint32_t width = 1; width <= 64; ++width) {
    for (std::uint64_t p = 0; p + width <= 192; ++p) {
      const auto before = random_words(3, 2);
      auto words = before;
      const std::uint64_t value = splitmix64(p) & low_mask(width);
      set_bits(words.data(), p, width, value);
      ASSERT_EQ(read_slowly(words, p, width), value) << width << ' ' << p;
      set_bits(words.data(), p, width, read_slowly(before, p, width));
      ASSERT_EQ(words, before) << width << ' ' << p;
      if (!std::has_single_bit(width) || p % width != 0) continue;
      set_cell(words.data(), p, width, value);
      ASSERT_EQ(read_slowly(words, p, width), value) << width << ' ' << p;
      set_cell(words.data(), p, width, read_slowly(before, p, width));
      ASSERT_EQ(words, before) << width << ' ' << p;
    }
  }
}

TEST(counter_array, counts_up_and_down_and_sticks_at_the_maximum) {
  for (const std::uint32_t width : {2U, 4U, 8U, 16U}) {
    for (std::uint64_t p = 0; p < 128; p += width) {
      const auto before = random_words(2, 3);
      auto words = before;
      const std::uint64_t most = low_mask(width);
      for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, most - 1, most}) {
        set_cell(words.data(), p, width, value);
        increment_counter(words.data(), p, width);
        ASSERT_EQ(get_cell(words.data(), p, width), std::min(most, value + 1));
        if (value == 0) continue;
        set_cell(words.data(), p, width, value);
        decrement_counter(words.data(), p, width);
        ASSERT_EQ(get_cell(words.data(), p, width), value == most ? most : value - 1);
      }
      set_cell(words.data(), p, width, read_slowly(before, p, width));
      ASSERT_EQ(words, before) << "a neighbour changed";
    }
  }
}

// Words with many zeros and many full cells, which random ones lack.
std::uint64_t mixed_word(std::uint32_t width, std::uint64_t seed) {
  std::uint64_t word = 0;
  for (std::uint32_t p = 0; p < 64; p += width) {
    const std::uint64_t random = splitmix64(seed * 64 + p);
    const std::uint64_t cell = random % 3 == 0   ? 0
                               : random % 3 == 1 ? ~std::uint64_t{0}
                                                 : random >> 7U;
    word |= (cell & low_mask(width)) << p;
  }
  return word;
}

TEST(counter_array, works_on_all_cells_of_a_word_at_once) {
  for (const std::uint32_t width : powers) {
    const std::uint64_t most = low_mask(width);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const std::uint64_t a = mixed_word(width, seed);
      const std::uint64_t b = mixed_word(width, seed + 1000);
      const std::uint64_t nonzero = nonzero_cells(a, width);
      const std::uint64_t full = full_cells(a, width);
      const std::uint64_t spread = spread_cells(a, width);
      const std::uint64_t sum = add_cells(a, b, width);
      for (std::uint32_t p = 0; p < 64; p += width) {
        const std::uint64_t x = (a >> p) & most;
        const std::uint64_t y = (b >> p) & most;
        ASSERT_EQ((nonzero >> p) & most, x != 0 ? 1U : 0U) << width;
        ASSERT_EQ((full >> p) & most, x == most ? 1U : 0U) << width;
        ASSERT_EQ((spread >> p) & most, x != 0 ? most : 0U) << width;
        ASSERT_EQ((sum >> p) & most, std::min(most, x + y)) << width;
      }
    }
  }
}

}  // namespace
