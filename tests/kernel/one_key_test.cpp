// The calls for one key and its block of every instruction set (lane_calls) against listed_lanes,
// which tests/hash/block_lanes_test.cpp holds to the text of the format.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../src/kernel/blocked/blocked.hpp"
#include "bloomery/detail/hash/lane_calls.hpp"
#include "bloomery/detail/hash/listed_lanes.hpp"
#include "bloomery/hash/hash.hpp"
#include "levels.hpp"

namespace {

using namespace bloomery;

using block = std::array<std::uint64_t, 8>;

// Every third is nearly full, every third nearly empty, so that some keys are covered and some
// counters stick.
block some_block(std::uint64_t number) {
  block b{};
  for (std::size_t w = 0; w < b.size(); ++w) {
    const std::uint64_t r = splitmix64(number * 100 + w);
    const std::uint64_t s = splitmix64(r);
    b[w] = number % 3 == 0 ? r & s : number % 3 == 1 ? r | s | splitmix64(s) : r;
  }
  return b;
}

class OneKey : public testing::TestWithParam<kernel::level> {
 protected:
  [[nodiscard]] static const detail::lane_calls& calls() {
    return kernel::blocked_kernels_of(GetParam()).one_key;
  }
};

TEST_P(OneKey, BitsAreThoseOfTheLanesOneByOne) {
  for (std::uint32_t k = 1; k <= 16; ++k) {
    const detail::lane_tables tables(k);
    const detail::listed_lanes expected(tables);
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const std::uint64_t hash = splitmix64(i);
      block a = some_block(i);
      block b = a;
      ASSERT_EQ(calls().covered(tables, hash, a.data()), expected.covered(hash, b.data()));
      ASSERT_EQ(calls().set(tables, hash, a.data()), expected.set(hash, b.data()));
      ASSERT_EQ(a, b);
      ASSERT_TRUE(calls().covered(tables, hash, a.data()));
    }
  }
}

TEST_P(OneKey, PlanesAreThoseOfTheLanesOneByOne) {
  std::uint64_t found = 0;
  std::uint64_t asked = 0;
  for (std::uint32_t k = 1; k <= 16; ++k) {
    const detail::lane_tables tables(k);
    const detail::listed_lanes expected(tables);
    for (std::uint32_t sharing = 1; sharing <= 16; ++sharing) {
      const std::uint32_t positions = 32 / sharing;
      std::uint32_t firsts = 0;
      for (std::uint32_t i = 0; i < sharing; ++i) firsts |= 1U << i * positions;
      for (std::uint64_t i = 0; i < 300; ++i) {
        const std::uint64_t hash = splitmix64(i);
        const auto random = static_cast<std::uint32_t>(splitmix64(i + 7));
        const detail::lane_planes some{positions, firsts & random};
        const detail::lane_planes one{positions, 1U << random % sharing * positions};
        block a = some_block(i);
        block b = a;
        const bool there = expected.covered_in(hash, b.data(), some);
        ASSERT_EQ(calls().covered_in(tables, hash, a.data(), some), there);
        ASSERT_FALSE(calls().covered_in(tables, hash, a.data(), {positions, 0}));
        ASSERT_EQ(calls().set_in(tables, hash, a.data(), one),
                  expected.set_in(hash, b.data(), one));
        ASSERT_EQ(a, b);
        ASSERT_TRUE(calls().covered_in(tables, hash, a.data(), one));
        found += there ? 1U : 0U;
        ++asked;
      }
    }
  }
  EXPECT_GT(found, asked / 20);
  EXPECT_LT(found, asked - asked / 20);
}

TEST_P(OneKey, CountersAreThoseOfTheLanesOneByOne) {
  for (std::uint32_t k = 1; k <= 16; ++k) {
    const detail::lane_tables tables(k);
    const detail::listed_lanes expected(tables);
    for (const std::uint32_t width : {2U, 4U, 8U, 16U}) {
      for (std::uint64_t i = 0; i < 500; ++i) {
        const std::uint64_t hash = splitmix64(i);
        block a = some_block(i);
        block b = a;
        ASSERT_EQ(calls().counted(tables, hash, a.data(), width),
                  expected.counted(hash, b.data(), width));
        ASSERT_EQ(calls().least(tables, hash, a.data(), width),
                  expected.least(hash, b.data(), width));
        ASSERT_EQ(calls().increment(tables, hash, a.data(), width),
                  expected.increment(hash, b.data(), width));
        ASSERT_EQ(a, b);
        a = b = some_block(i + 1);
        ASSERT_EQ(calls().decrement(tables, hash, a.data(), width),
                  expected.decrement(hash, b.data(), width));
        ASSERT_EQ(a, b);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, OneKey, testing::ValuesIn(kernel_tests::available_levels()),
                         kernel_tests::name_of);

// One dispatch: what BLOOMERY_KERNEL chooses for the loops, it chooses for one key, too.
TEST(OneKey, FollowsTheChoiceOfTheLoops) {
  EXPECT_EQ(&detail::lane_calls_chosen(),
            &kernel::blocked_kernels_of(kernel::chosen_level()).one_key);
}

}  // namespace
