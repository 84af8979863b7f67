// HyperLogLog: exact for few keys, within its derived error for many, and the same in any order.

#include "bloomery/sketch/hyperloglog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bloomery/hash/hash.hpp"
#include "filter/samples.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

std::vector<std::uint64_t> hashes_from(std::uint64_t first, std::uint64_t count,
                                       std::uint64_t seed = 0) {
  std::vector<std::uint64_t> all;
  all.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(mix64(first + i, splitmix64(seed)));
  return all;
}

TEST(hyperloglog, is_exact_for_few_keys) {
  hyperloglog seen;
  EXPECT_EQ(seen.keys(), 0);
  EXPECT_EQ(seen.keys_at_most(), 0U);
  for (int round = 0; round < 3; ++round) {
    seen.add_batch(hashes_from(0, 4095));
    seen.add(0);  // the hash that marks an empty slot
    EXPECT_TRUE(seen.exact());
    EXPECT_EQ(seen.keys(), 4096);
    EXPECT_EQ(seen.keys_at_most(), 4096U);
    EXPECT_EQ(seen.standard_error(), 0);
  }
  seen.add_batch(hashes_from(5000, 2));
  EXPECT_FALSE(seen.exact());
  EXPECT_NEAR(seen.keys(), 4098, 4098 * 0.02);
}

// The error of m registers is 1.04 / sqrt(m) of the keys (Flajolet et al. 2007, theorem 1), once
// there are more keys than registers. With few keys a register, most are 0 and the error is less.
// 200 seeds: the mean error has a standard error of 1/14 of one, and the root of the mean square
// is within 5 % of the truth with a standard error; 4 of each are allowed.
TEST(hyperloglog, errs_as_derived) {
  constexpr int trials = 200;
  constexpr std::uint32_t precision = 10;
  const double derived = 1.04 / std::sqrt(1024.0);
  for (const std::uint64_t keys : {200U, 1000U, 4000U, 20000U}) {
    double sum = 0;
    double squares = 0;
    int above = 0;
    for (int seed = 0; seed < trials; ++seed) {
      hyperloglog seen(precision);
      seen.add_batch(hashes_from(0, keys, static_cast<std::uint64_t>(seed)));
      ASSERT_FALSE(seen.exact());
      EXPECT_EQ(seen.standard_error(), derived);
      const double error = seen.keys() / static_cast<double>(keys) - 1;
      sum += error;
      squares += error * error;
      above += seen.keys_at_most() < keys ? 1 : 0;
    }
    EXPECT_LT(std::abs(sum / trials), 4 * derived / std::sqrt(double{trials})) << keys;
    const double root = std::sqrt(squares / trials);
    EXPECT_LT(root, 1.2 * derived) << keys;
    if (keys >= 4000) {
      EXPECT_GT(root, 0.8 * derived) << keys;
    }
    EXPECT_EQ(above, 0) << keys;
  }
}

TEST(hyperloglog, counts_repetitions_once_and_in_any_order) {
  std::vector<std::uint64_t> hashes = hashes_from(0, 50'000);
  hyperloglog once;
  once.add_batch(hashes);
  std::ranges::reverse(hashes);
  hyperloglog thrice;
  for (int i = 0; i < 3; ++i) {
    for (const std::uint64_t hash : hashes) thrice.add(hash);
  }
  EXPECT_EQ(once.keys(), thrice.keys());
  EXPECT_NEAR(once.keys(), 50'000, 50'000 * 4 * once.standard_error());
}

TEST(hyperloglog, of_parts_is_that_of_the_whole) {
  for (const std::uint64_t part : {100U, 3000U, 40'000U}) {
    hyperloglog whole;
    whole.add_batch(hashes_from(0, part + 3000));
    hyperloglog a;
    a.add_batch(hashes_from(0, part));
    hyperloglog b;
    b.add_batch(hashes_from(part, 3000));
    b.add_batch(hashes_from(0, part / 2));
    hyperloglog ab = a;
    ab.merge(b);
    b.merge(a);
    EXPECT_EQ(ab.keys(), whole.keys());
    EXPECT_EQ(b.keys(), whole.keys());
    EXPECT_EQ(b.exact(), whole.exact());
  }
  hyperloglog other(12);
  EXPECT_TRUE(throws(errc::mismatch, "precision", [&] { other.merge(hyperloglog()); }));
  EXPECT_TRUE(throws(errc::bad_argument, "from 8 to 20", [] { hyperloglog seen(7); }));
  EXPECT_TRUE(throws(errc::bad_argument, "from 8 to 20", [] { hyperloglog seen(21); }));
}

// Hashes that no random function gives: nothing breaks, and the registers are full at the end.
TEST(hyperloglog, takes_any_hashes) {
  hyperloglog seen(8);
  for (std::uint64_t r = 0; r < 256; ++r) seen.add(r << 56U);
  EXPECT_FALSE(seen.exact());
  EXPECT_GT(seen.keys(), 1e15);
  EXPECT_EQ(seen.keys_at_most(), UINT64_MAX);
  hyperloglog top(8);
  for (std::uint64_t i = 0; i < 100; ++i) top.add(UINT64_MAX - i);  // all want the last slot
  EXPECT_GT(top.keys(), 0);
}

}  // namespace
