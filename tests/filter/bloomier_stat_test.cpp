// How often a bloomier filter takes an absent key for a present one, and that its made-up values
// are spread. Seeds and streams are fixed; tolerances as in static_stat.hpp.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "bloomery/filter/bloomier.hpp"
#include "filter/static_stat.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

bloomier_filter map_of(std::uint32_t value_bits, std::uint32_t check_bits, std::uint32_t probes,
                       std::size_t keys) {
  const plan p{.shape = {.kind = filter_kind::bloomier,
                         .probes = probes,
                         .cell_bits = value_bits + check_bits,
                         .variant = value_bits}};
  const auto hashes = sample_hashes(keys, 3);
  std::vector<std::uint64_t> values;
  values.reserve(keys);
  for (const std::uint64_t hash : hashes) values.push_back(splitmix64(hash) >> (64 - value_bits));
  return {p, hashes, values};
}

TEST(bloomier_rate, is_that_of_the_check_bits) {
  for (const std::uint32_t probes : {3U, 4U}) {
    for (const std::size_t keys : {10U, 1000U, 100'000U}) {
      for (const std::uint32_t check_bits : {0U, 1U, 7U, 12U}) {
        expect_stated_rate(map_of(5, check_bits, probes, keys), 2'000'000, 4);
      }
    }
  }
}

// Of 2^-6 * 3/4 * 2,000,000 false answers each of the four values has its quarter of those cells
// that belong to a key, and zero has the cells that belong to none as well: one cell in nine.
TEST(bloomier_rate, makes_up_values_evenly) {
  const auto f = map_of(2, 6, 3, 100'000);
  std::array<double, 4> seen{};
  double all = 0;
  for (std::uint64_t i = 0; i < 2'000'000; ++i) {
    if (const auto value = f.value(sample_hash(i, 4))) {
      ++seen[*value];
      ++all;
    }
  }
  const double cells = static_cast<double>(sizing::fuse_size_for(100'000, 3).cells(3));
  for (std::uint32_t value = 1; value < 4; ++value) {
    const double share = 0.25 * 100'000 / cells;
    // Cells near the ends of the array are asked for less; 3 % cover that.
    EXPECT_NEAR(seen[value], all * share, 5 * std::sqrt(all * share) + 0.03 * all * share);
  }
}

TEST(bloomier_rate, holds_a_million_keys_within_1_13_times_their_cells) {
  const auto f = map_of(8, 8, 3, 1'000'000);
  expect_within(f, 8 + 8 + 2, 1.13);
  expect_stated_rate(f, 2'000'000, 4);
}

}  // namespace
