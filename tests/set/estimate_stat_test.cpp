// Estimates against exact counts, over a grid of sizes and overlaps.
//
// 400 pairs of filters for each place of the grid, with independent hashes. The mean error must be
// within 5 standard errors of 0 (plus the bias of second order, see below), and the measured
// standard deviation within 5 of its own standard errors, 1/sqrt(2 * 400) = 3.5 % each, of what the
// estimate predicts.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/partitioned.hpp"
#include "bloomery/filter/split_block.hpp"
#include "bloomery/set/estimate.hpp"

namespace bloomery {
namespace {

constexpr int trials = 400;

struct moments {
  double sum = 0;
  double squares = 0;
  double predicted = 0;

  void add(const estimate& e, double truth) {
    sum += e.value - truth;
    squares += (e.value - truth) * (e.value - truth);
    predicted += e.standard_error;
  }
  void check(const char* what, double scale) const {
    const double mean = sum / trials;
    const double deviation = std::sqrt(squares / trials - mean * mean);
    const double expected = predicted / trials;
    // The logarithm is convex: its bias is about half the relative variance of the zeros, below 0.1
    // % of the value for arrays of this size.
    EXPECT_LT(std::abs(mean), 5 * expected / std::sqrt(trials) + 0.001 * scale) << what;
    EXPECT_NEAR(deviation / expected, 1.0, 5 / std::sqrt(2.0 * trials)) << what;
  }
};

struct overlap {
  std::uint64_t only_a, only_b, both;
};
constexpr std::array<overlap, 4> grid = {
    {{500, 300, 700}, {1000, 1000, 50}, {100, 1500, 100}, {0, 1000, 500}}};

template <class Filter>
void check_grid(std::uint64_t bits, std::uint32_t probes, std::uint64_t stream) {
  plan p{.shape = {.kind = Filter::kind, .probes = probes, .bits = bits}};
  if constexpr (in_blocks<typename Filter::probes_type>) {
    p.shape.block_bits = Filter::probes_type::block_bits;
  }
  for (const overlap& o : grid) {
    moments a, united, shared, only, jaccard;
    const auto all = static_cast<double>(o.only_a + o.only_b + o.both);
    for (int t = 0; t < trials; ++t) {
      Filter left(p), right(p);
      for (std::uint64_t i = 0; i < o.only_a; ++i) left.add(stream = splitmix64(stream));
      for (std::uint64_t i = 0; i < o.only_b; ++i) right.add(stream = splitmix64(stream));
      for (std::uint64_t i = 0; i < o.both; ++i) {
        stream = splitmix64(stream);
        left.add(stream);
        right.add(stream);
      }
      const comparison c = compare(left, right);
      a.add(c.keys_a, static_cast<double>(o.only_a + o.both));
      united.add(c.keys_union, all);
      shared.add(c.keys_intersection, static_cast<double>(o.both));
      if (o.only_a > 0) only.add(c.only_a, static_cast<double>(o.only_a));
      jaccard.add(c.jaccard, static_cast<double>(o.both) / all);
    }
    a.check("keys of A", all);
    united.check("union", all);
    // With A a part of B, zeros and ones coincide so often that the difference is cut off at 0.
    if (o.only_a == 0) continue;
    shared.check("intersection", all);
    only.check("only A", all);
    jaccard.check("Jaccard", 1);
  }
}

TEST(estimates, of_classic_filters_match_their_standard_errors) {
  check_grid<classic_filter>(20480, 7, 1);
}
TEST(estimates, of_partitioned_filters_match_their_standard_errors) {
  check_grid<partitioned_filter>(std::uint64_t{7} * 2928, 7, 2);
}
TEST(estimates, of_blocked_filters_match_their_standard_errors) {
  check_grid<blocked_filter>(512 * 40, 6, 3);
  check_grid<blocked_filter>(512 * 120, 16, 4);
  check_grid<blocked_filter>(512 * 20, 2, 5);
}
TEST(estimates, of_split_block_filters_match_their_standard_errors) {
  check_grid<split_block_filter>(256 * 80, 8, 6);
  check_grid<split_block_filter>(256 * 241, 8, 7);
}

TEST(estimates, of_empty_and_full_filters) {
  const shape s{.kind = filter_kind::classic, .probes = 3, .bits = 1000};
  EXPECT_EQ(estimate_keys(s, 0).value, 0.0);
  EXPECT_EQ(estimate_keys(s, 0).standard_error, 0.0);
  EXPECT_TRUE(std::isinf(estimate_keys(s, 1000).value));
  const comparison c = compare_bits(s, 0, 0, 0);
  EXPECT_EQ(c.keys_intersection.value, 0.0);
  EXPECT_EQ(c.jaccard.value, 0.0);
  EXPECT_TRUE(std::isinf(compare_bits(s, 1000, 500, 1000).keys_union.value));
  EXPECT_EQ(compare_bits(s, 600, 500, 800).shared_bits, 300U);
  EXPECT_THROW((void)compare_bits(s, 600, 500, 400), error);
  EXPECT_THROW((void)compare_bits(s, 100, 100, 300), error);
}

}  // namespace
}  // namespace bloomery
