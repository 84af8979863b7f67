// One key and its block: the vectors of the machine that the tests are built for, and the lanes one by one, against
// the positions of docs/format.md, for every number of probes and every width of a counter.

#include "bloomery/hash/block_lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bloomery/core/block_geometry.hpp"
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

template <class Lanes>
class BlockLanes : public testing::Test {};
using forms = testing::Types<detail::listed_lanes, detail::block_lanes>;
TYPED_TEST_SUITE(BlockLanes, forms);

TYPED_TEST(BlockLanes, BitsAreThoseOfTheFormat) {
  for (std::uint32_t form = 0; form < 32; ++form) {
    const std::uint32_t k = form / 2 + 1;
    // With and without what the machine has beyond that of the build.
    const detail::lane_tables tables(k, form % 2 == 0 && detail::has_avx2());
    const TypeParam lanes(tables);
    for (const block& start : blocks()) {
      for (std::uint64_t i = 0; i < 40; ++i) {
        const std::uint64_t hash = splitmix64(i * 77 + start[0]);
        const auto bits = cells_of(hash, k, 1);
        block expected = start;
        for (const std::uint32_t p : bits) put_cell(expected, p, 1, 1);
        EXPECT_EQ(lanes.covered(hash, start.data()), start == expected);
        block b = start;
        lanes.set(hash, b.data());
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
          lanes.increment(hash, b.data(), width);
          ASSERT_EQ(b, more);
          b = start;
          EXPECT_EQ(lanes.decrement(hash, b.data(), width), least != 0);
          ASSERT_EQ(b, least != 0 ? less : start);
        }
      }
    }
  }
}

}  // namespace
