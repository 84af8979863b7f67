// The rate of fuse filters and how often they need a second seed. Seeds and streams are fixed;
// tolerances as in static_stat.hpp.

#include <gtest/gtest.h>

#include <cstdint>

#include "bloomery/core/sizing_static.hpp"
#include "bloomery/filter/fuse.hpp"
#include "filter/static_stat.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

plan fuse_plan(std::uint32_t probes, std::uint32_t cell_bits, std::uint64_t keys = 0) {
  return {.shape = {.kind = filter_kind::fuse, .probes = probes, .cell_bits = cell_bits},
          .keys = keys};
}

TEST(fuse_rate, is_two_to_the_minus_bits) {
  for (const std::uint32_t probes : {3U, 4U}) {
    for (const std::size_t keys : {10U, 1000U, 100'000U}) {
      const auto hashes = sample_hashes(keys, 3);
      expect_stated_rate(fuse_filter(fuse_plan(probes, 8), hashes), 4'000'000, 4);
      expect_stated_rate(fuse_filter(fuse_plan(probes, 16), hashes), 8'000'000, 4);
      expect_stated_rate(fuse_filter(fuse_plan(probes, 32), hashes), 1'000'000, 4);
    }
  }
}

// Several shards, and questions whose hashes are close to those of keys.
TEST(fuse_rate, does_not_depend_on_where_the_hashes_are) {
  const auto hashes = sample_hashes(50'000, 3);
  const fuse_filter f(fuse_plan(3, 8, std::uint64_t{5} << 20U), hashes);
  expect_stated_rate(f, 4'000'000, 4);
  std::uint64_t found = 0;
  std::uint64_t asked = 0;
  for (const std::uint64_t hash : hashes) {
    for (std::uint32_t bit = 0; bit < 64; ++bit, ++asked) {
      found += f.contains(hash ^ (std::uint64_t{1} << bit)) ? 1U : 0U;
    }
  }
  const double mean = static_cast<double>(asked) * 0x1p-8;
  EXPECT_NEAR(static_cast<double>(found), mean, 5 * std::sqrt(mean));
}

// Million keys, real words: the promise of the size with the rate.
TEST(fuse_rate, holds_a_million_keys_within_1_13_times_the_bound) {
  const auto hashes = sample_hashes(1'000'000, 3);
  for (const std::uint32_t probes : {3U, 4U}) {
    const fuse_filter f(fuse_plan(probes, 8), hashes);
    EXPECT_EQ(f.contains_count(hashes), hashes.size());
    expect_within(f, 8, probes == 3 ? 1.13 : 1.075);
    expect_stated_rate(f, 4'000'000, 4);
  }
}

// The tables of sizing_static.cpp are such that at least nine seeds in ten peel. Of 1,200 sets at
// most 120 would need another; five standard deviations of that (10.4) are added.
TEST(fuse_seeds, nearly_always_do_at_once) {
  for (const std::uint32_t probes : {3U, 4U}) {
    std::uint64_t second = 0;
    std::uint64_t sets = 0;
    for (const std::size_t keys : {2U, 5U, 20U, 60U, 150U, 500U, 1000U, 3000U, 9000U, 20'000U}) {
      for (std::uint64_t stream = 1; stream <= 120; ++stream, ++sets) {
        const fuse_filter f(fuse_plan(probes, 8), sample_hashes(keys, stream));
        const std::uint64_t seed = detail::little_endian(f.words()[f.words().size() - 11]);
        second += seed == splitmix64(0) ? 0U : 1U;
      }
    }
    ASSERT_EQ(sets, 1200U);
    EXPECT_LE(second, 120U + 52U);
    EXPECT_GE(second, 1U);  // tight enough to fail now and then
  }
}

}  // namespace
