// One key and its block: the lanes one by one, the vectors of the machine that the tests are built
// for, and the form that the filters call, against the positions of docs/format.md, for every
// number of probes and every width of a counter, and for split blocks. tests/kernel does so for the
// functions of every instruction set.

#include "bloomery/detail/hash/block_lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/detail/hash/split_lanes.hpp"
#include "bloomery/hash/hash.hpp"

namespace {

using namespace bloomery;

using block = std::array<std::uint64_t, 8>;

// The first bits of a key's cells of `width` bits in its block, from the text of the format.
std::vector<std::uint32_t> cells_of(std::uint64_t hash, std::uint32_t probes, std::uint32_t width) {
  const auto x = static_cast<std::uint32_t>(hash);
  std::vector<std::uint32_t> cells;
  for (std::uint32_t lane = 0; lane < 16; ++lane) {
    const std::uint32_t place = (lane + (x >> 16U)) % 16;
    if (((block_geometry::lane_pattern[probes] >> place) & 1U) == 0) continue;
    const std::uint32_t bit = (x * block_geometry::lane_multiplier[lane]) >> 27U;
    cells.push_back(lane * 32 + bit / width * width);
  }
  return cells;
}

std::uint32_t cell_at(const block& b, std::uint32_t first, std::uint32_t width) {
  const auto bytes = std::as_bytes(std::span(b));
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < width; ++i) {
    const std::uint32_t p = first + i;
    value |= (std::to_integer<std::uint32_t>(bytes[p / 8] >> (p % 8)) & 1U) << i;
  }
  return value;
}

void put_cell(block& b, std::uint32_t first, std::uint32_t width, std::uint32_t value) {
  const auto bytes = std::as_writable_bytes(std::span(b));
  for (std::uint32_t i = 0; i < width; ++i) {
    const std::uint32_t p = first + i;
    const std::byte mask{static_cast<unsigned char>(1U << (p % 8))};
    bytes[p / 8] = ((value >> i) & 1U) != 0 ? bytes[p / 8] | mask : bytes[p / 8] & ~mask;
  }
}

// Blocks with nothing, everything, and at random: mostly 0, mostly full, and in between.
std::vector<block> blocks() {
  std::vector<block> all(2);
  all[1].fill(~std::uint64_t{0});
  for (std::uint64_t i = 0; i < 40; ++i) {
    block b{};
    for (std::size_t w = 0; w < b.size(); ++w) {
      const std::uint64_t r = splitmix64(i * 100 + w);
      const std::uint64_t s = splitmix64(r);
      b[w] = i % 3 == 0 ? r & s : i % 3 == 1 ? r | s | splitmix64(s) : r;
    }
    all.push_back(b);
  }
  return all;
}

// As the filters make it.
struct called : detail::block_lanes {
  explicit called(const detail::lane_tables& tables)
      : detail::block_lanes(tables, detail::lane_calls_chosen()) {}
};

template <class Lanes>
class BlockLanes : public testing::Test {};
using forms = testing::Types<detail::listed_lanes, detail::built_lanes, called>;
TYPED_TEST_SUITE(BlockLanes, forms);

TYPED_TEST(BlockLanes, BitsAreThoseOfTheFormat) {
  for (std::uint32_t k = 1; k <= 16; ++k) {
    const detail::lane_tables tables(k);
    const TypeParam lanes(tables);
    for (const block& start : blocks()) {
      for (std::uint64_t i = 0; i < 40; ++i) {
        const std::uint64_t hash = splitmix64(i * 77 + start[0]);
        const auto bits = cells_of(hash, k, 1);
        block expected = start;
        for (const std::uint32_t p : bits) put_cell(expected, p, 1, 1);
        EXPECT_EQ(lanes.covered(hash, start.data()), start == expected);
        block b = start;
        EXPECT_EQ(lanes.set(hash, b.data()), start != expected);
        ASSERT_EQ(b, expected);
        EXPECT_TRUE(lanes.covered(hash, b.data()));
        // One bit less is not enough, whichever it is.
        for (const std::uint32_t p : bits) {
          put_cell(b, p, 1, 0);
          EXPECT_FALSE(lanes.covered(hash, b.data()));
          put_cell(b, p, 1, 1);
        }
      }
    }
  }
}

// The key's bits in plane `number`, by the text of the format.
std::vector<std::uint32_t> plane_bits_of(std::uint64_t hash, std::uint32_t probes,
                                         std::uint32_t positions, std::uint32_t number) {
  const auto x = static_cast<std::uint32_t>(hash);
  std::vector<std::uint32_t> bits;
  for (std::uint32_t lane = 0; lane < 16; ++lane) {
    const std::uint32_t place = (lane + (x >> 16U)) % 16;
    if (((block_geometry::lane_pattern[probes] >> place) & 1U) == 0) continue;
    const std::uint32_t product = x * block_geometry::lane_multiplier[lane];
    bits.push_back(lane * 32 + number * positions + (product / 65536 * positions) / 65536);
  }
  return bits;
}

TYPED_TEST(BlockLanes, PlanesAreThoseOfTheFormat) {
  for (std::uint32_t k = 1; k <= 16; ++k) {
    const detail::lane_tables tables(k);
    const TypeParam lanes(tables);
    for (std::uint32_t sharing = 1; sharing <= 16; ++sharing) {
      const std::uint32_t positions = 32 / sharing;
      for (const block& start : blocks()) {
        const std::uint64_t hash = splitmix64(start[0] + k);
        std::uint32_t covered = 0;  // the first bits of the planes that have the key
        for (std::uint32_t plane = 0; plane < sharing; ++plane) {
          const detail::lane_planes one{positions, 1U << plane * positions};
          block expected = start;
          for (const std::uint32_t p : plane_bits_of(hash, k, positions, plane)) {
            put_cell(expected, p, 1, 1);
          }
          const bool there = start == expected;
          EXPECT_EQ(lanes.covered_in(hash, start.data(), one), there);
          block b = start;
          EXPECT_EQ(lanes.set_in(hash, b.data(), one), !there);
          ASSERT_EQ(b, expected);
          EXPECT_TRUE(lanes.covered_in(hash, b.data(), one));
          if (there) covered |= one.first;
        }
        for (std::uint32_t some = 0; some < 8; ++some) {
          std::uint32_t asked = 0;
          for (std::uint32_t plane = 0; plane < sharing; ++plane) {
            if (((some * 0x2f5bU >> plane) & 1U) != 0) asked |= 1U << plane * positions;
          }
          EXPECT_EQ(lanes.covered_in(hash, start.data(), {positions, asked}),
                    (covered & asked) != 0);
        }
      }
    }
  }
}

TYPED_TEST(BlockLanes, APlaneOfAllPositionsIsTheLane) {
  const detail::lane_tables tables(7);
  const TypeParam lanes(tables);
  for (const block& start : blocks()) {
    const std::uint64_t hash = splitmix64(start[1]);
    EXPECT_EQ(lanes.covered_in(hash, start.data(), {}), lanes.covered(hash, start.data()));
  }
}

TYPED_TEST(BlockLanes, CountersAreThoseOfTheFormat) {
  for (std::uint32_t k = 1; k <= 16; ++k) {
    const detail::lane_tables tables(k);
    const TypeParam lanes(tables);
    for (const std::uint32_t width : {2U, 4U, 8U, 16U}) {
      const std::uint32_t most = (1U << width) - 1;
      for (const block& start : blocks()) {
        for (std::uint64_t i = 0; i < 10; ++i) {
          const std::uint64_t hash = splitmix64(i * 77 + start[0]);
          std::uint32_t least = most;
          block more = start;
          block less = start;
          for (const std::uint32_t p : cells_of(hash, k, width)) {
            const std::uint32_t count = cell_at(start, p, width);
            least = std::min(least, count);
            put_cell(more, p, width, count == most ? most : count + 1);
            put_cell(less, p, width, count == most ? most : count - 1);
          }
          EXPECT_EQ(lanes.counted(hash, start.data(), width), least != 0);
          EXPECT_EQ(lanes.least(hash, start.data(), width), least);
          block b = start;
          EXPECT_EQ(lanes.increment(hash, b.data(), width), least == 0);
          ASSERT_EQ(b, more);
          b = start;
          EXPECT_EQ(lanes.decrement(hash, b.data(), width), least != 0);
          ASSERT_EQ(b, least != 0 ? less : start);
        }
      }
    }
  }
}

#if defined(__x86_64__)
// Functions of a program may be for better machines than the program. What they have in their
// vectors while a filter is asked must stay there, whatever the filter is asked with.
using four [[gnu::vector_size(32)]] = std::uint64_t;
using eight [[gnu::vector_size(64)]] = std::uint64_t;

template <class Vector>
[[gnu::always_inline]] inline std::uint64_t sum_beside(const detail::block_lanes& lanes, block& b,
                                                       std::uint64_t& found) {
  Vector one{};
  Vector two{};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    one += i;
    two += 2 * i;
    lanes.set(splitmix64(i), b.data());
    found += lanes.covered(splitmix64(i), b.data()) ? 1U : 0U;
  }
  std::uint64_t all = 0;
  for (std::size_t l = 0; l < sizeof(Vector) / 8; ++l) all += one[l] + two[l];
  return all;
}

[[gnu::target("avx2"), gnu::noinline]] std::uint64_t sum_with_avx2(const detail::block_lanes& lanes,
                                                                   block& b, std::uint64_t& found) {
  return sum_beside<four>(lanes, b, found);
}
[[gnu::target("avx512f"), gnu::noinline]] std::uint64_t sum_with_avx512(
    const detail::block_lanes& lanes, block& b, std::uint64_t& found) {
  return sum_beside<eight>(lanes, b, found);
}

TEST(BlockLanes, VectorsOfTheCallerStay) {
  constexpr std::uint64_t once = 3 * (1000 * 999 / 2);
  const detail::lane_tables tables(7);
  const called lanes(tables);
  block b{};
  std::uint64_t found = 0;
  if (__builtin_cpu_supports("avx2")) {
    EXPECT_EQ(sum_with_avx2(lanes, b, found), 4 * once);
    EXPECT_EQ(found, 1000U);
  }
  found = 0;
  if (__builtin_cpu_supports("avx512f")) {
    EXPECT_EQ(sum_with_avx512(lanes, b, found), 8 * once);
    EXPECT_EQ(found, 1000U);
  }
}
#endif

// ---- split blocks -----------------------------------------------------------------------------

using split_block = std::array<std::uint64_t, 4>;

struct called_split_lanes {
  static bool covered(std::uint64_t hash, const std::uint64_t* words) {
    return detail::split_lanes(detail::split_lane_calls_chosen()).covered(hash, words);
  }
  static bool set(std::uint64_t hash, std::uint64_t* words) {
    return detail::split_lanes(detail::split_lane_calls_chosen()).set(hash, words);
  }
};

template <class Lanes>
class SplitLanes : public testing::Test {};
using split_forms =
    testing::Types<detail::listed_split_lanes, detail::built_split_lanes, called_split_lanes>;
TYPED_TEST_SUITE(SplitLanes, split_forms);

TYPED_TEST(SplitLanes, BitsAreThoseOfTheFormat) {
  for (const block& line : blocks()) {
    for (std::uint64_t i = 0; i < 200; ++i) {
      const std::uint64_t hash = splitmix64(i * 77 + line[0]);
      split_block before{};
      std::copy_n(&line[i % 2 * 4], 4, before.begin());
      split_block after = before;
      std::array<std::size_t, 8> bits{};
      for (std::size_t lane = 0; lane < 8; ++lane) {
        const std::uint32_t product =
            static_cast<std::uint32_t>(hash) * block_geometry::lane_multiplier[lane];
        bits[lane] = lane * 32 + (product >> 27U);
        const auto bytes = std::as_writable_bytes(std::span(after));
        bytes[bits[lane] / 8] |= std::byte{static_cast<unsigned char>(1U << (bits[lane] % 8))};
      }
      EXPECT_EQ(TypeParam::covered(hash, before.data()), before == after);
      split_block b = before;
      EXPECT_EQ(TypeParam::set(hash, b.data()), before != after);
      ASSERT_EQ(b, after);
      EXPECT_TRUE(TypeParam::covered(hash, b.data()));
      // One bit less is not enough, whichever it is.
      for (const std::size_t bit : bits) {
        split_block less = after;
        std::as_writable_bytes(std::span(less))[bit / 8] ^=
            std::byte{static_cast<unsigned char>(1U << (bit % 8))};
        EXPECT_FALSE(TypeParam::covered(hash, less.data()));
      }
    }
  }
}

}  // namespace
