// The rate of ribbon filters, and their size when built. Seeds and streams are fixed; tolerances as
// in static_stat.hpp.

#include <gtest/gtest.h>

#include <cstdint>

#include "bloomery/filter/ribbon.hpp"
#include "filter/static_stat.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

plan ribbon_plan(std::uint32_t cell_bits, std::uint64_t keys = 0) {
  return {.shape = {.kind = filter_kind::ribbon, .probes = 1, .cell_bits = cell_bits},
          .keys = keys};
}

TEST(ribbon_rate, is_two_to_the_minus_bits) {
  for (const std::size_t keys : {10U, 1000U, 20'000U, 200'000U}) {
    const auto hashes = sample_hashes(keys, 3);
    for (const std::uint32_t bits : {1U, 2U, 7U, 8U, 13U}) {
      const ribbon_filter f(ribbon_plan(bits), hashes);
      EXPECT_EQ(f.contains_count(hashes), keys);
      expect_stated_rate(f, 2'000'000, 4);
    }
  }
}

TEST(ribbon_rate, does_not_depend_on_where_the_hashes_are) {
  const auto hashes = sample_hashes(50'000, 3);
  const ribbon_filter f(ribbon_plan(8, std::uint64_t{5} << 20U), hashes);
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

// One bit is the hardest: the thresholds alone are 0.4 %.
TEST(ribbon_rate, holds_a_million_keys_within_a_percent_of_the_bound) {
  const auto hashes = sample_hashes(1'000'000, 3);
  for (const std::uint32_t bits : {1U, 8U}) {
    const ribbon_filter f(ribbon_plan(bits), hashes);
    EXPECT_EQ(f.contains_count(hashes), hashes.size());
    expect_within(f, bits, bits == 1 ? 1.006 : 1.002);
    expect_stated_rate(f, 2'000'000, 4);
  }
}

// The last layer has room for the scatter of what is bumped to it: five standard deviations of it.
// So a second seed would be an accident in a million; in 400 sets none needs one.
TEST(ribbon_seeds, do_at_once) {
  for (const std::size_t keys : {1U, 30U, 100U, 1000U, 6000U, 6200U, 15'000U, 30'000U}) {
    for (std::uint64_t stream = 1; stream <= 50; ++stream) {
      const ribbon_filter f(ribbon_plan(8), sample_hashes(keys, stream));
      EXPECT_EQ(detail::little_endian(f.words()[f.words().size() - 15]), splitmix64(0));
    }
  }
}

}  // namespace
