// Lower bounds, counters that overflow and the cost of a guarded lookup. Sources as in
// sizing_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "bloomery/core/sizing.hpp"
#include "core/numbers.hpp"

namespace bloomery::sizing {
namespace {

// ---- lower bounds -----------------------------------------------------------------------------

TEST(LowerBound, IsTheLogarithmOfTheRate) {
  EXPECT_NEAR(lower_bound_bits(1000, 0.01), 6643.856, 0.001);
  EXPECT_DOUBLE_EQ(lower_bound_bits(7, 0.125), 21.0);
}

// 23 keys, sets of 3, one in four of the others accepted: C(23,3) = 1771 sets, and a string stands
// for C(8,3) = 56 of them at most.
TEST(LowerBound, CountsSetsInASmallUniverse) {
  EXPECT_NEAR(lower_bound_bits(3, 0.25, 23), std::log2(1771.0 / 56.0), 1e-9);
  EXPECT_NEAR(lower_bound_bits(1, 0.5, 3), std::log2(3.0 / 2.0), 1e-9);
}

// The same quantity as a sum of logarithms, one for each key.
TEST(LowerBound, AgreesWithAProductOfRatios) {
  for (const double universe : {2e3, 1e6, 3e6, 1e9, 1e15, 0x1p64}) {
    for (const std::uint64_t keys : {1U, 10U, 1000U}) {
      for (const double fpr : {0.5, 0.01, 1e-6}) {
        const auto n = static_cast<long double>(keys);
        const long double u = universe;
        const long double accepted = n + static_cast<long double>(fpr) * (u - n);
        long double sum = 0;
        for (long double i = 0; i < n; ++i) sum += std::log2((u - i) / (accepted - i));
        EXPECT_NEAR(lower_bound_bits(keys, fpr, universe), static_cast<double>(sum), 1e-6)
            << keys << " keys, " << universe << ' ' << fpr;
      }
    }
  }
}

TEST(LowerBound, OfALargeUniverseIsTheInfiniteOne) {
  EXPECT_NEAR(lower_bound_bits(1000, 0.01, 0x1p64), lower_bound_bits(1000, 0.01), 1e-6);
  EXPECT_LT(lower_bound_bits(1000, 0.01, 1e6), 0.99 * lower_bound_bits(1000, 0.01));
  EXPECT_NEAR(lower_bound_bits(1000, 0.01, 1e6), 6574.598, 0.001);  // with exact integers
}

TEST(LowerBound, IsNothingWhenTheSetIsTheUniverse) {
  EXPECT_NEAR(lower_bound_bits(1000, 0.01, 1000), 0.0, 1e-9);
  EXPECT_NEAR(lower_bound_bits(5 * million, 0.01, 5e6), 0.0, 1e-3);
}

// ---- counters ---------------------------------------------------------------------------------

TEST(Overflow, TheSurveysBoundForFourBitCounters) {
  EXPECT_NEAR(overflow_bound_loose(1, 16) / 1.37e-15, 1.0, 0.005);
  EXPECT_NEAR(overflow_bound_loose(million, 16) / 1.37e-9, 1.0, 0.005);
  EXPECT_NEAR(overflow_bound_loose(million, 16, 250) / (250 * 1.37e-9), 1.0, 0.005);
  EXPECT_EQ(overflow_bound_loose(max_bits, 2), 1.0);
}

// P(Binomial(20, 1/10) >= 3) = 0.3230731948..., from fractions; likewise the others.
TEST(Overflow, TheExactTailOfSmallCases) {
  EXPECT_NEAR(expected_overflows(10, 10, 2, 3), 10 * 0.323073194810534, 1e-12);
  EXPECT_NEAR(expected_overflows(1000, 10'000, 7, 5), 7.847159432811884, 1e-9);
  EXPECT_NEAR(expected_overflows(1000, 10'000, 7, 16) / 8.097456380175101e-13, 1.0, 1e-9);
  EXPECT_NEAR(overflow_bound(1000, 10'000, 7, 16) / 8.097456380175101e-13, 1.0, 1e-9);
  EXPECT_NEAR(overflow_bound(1000, 10'000, 7, 16, 100) / 8.097456380175101e-11, 1.0, 1e-9);
  EXPECT_EQ(overflow_bound(1000, 10'000, 7, 5), 1.0);  // 7.8 are expected: no bound is above 1
}

TEST(Overflow, CertainAndImpossibleCounts) {
  EXPECT_EQ(overflow_bound(1, 1000, 3, 4), 0.0);  // three throws never make four
  EXPECT_EQ(expected_overflows(100, 50, 3, 0), 50.0);
  EXPECT_EQ(expected_overflows(100, 1, 3, 300), 1.0);
  EXPECT_EQ(expected_overflows(100, 1, 3, 301), 0.0);
}

TEST(Overflow, TheExactBoundIsBelowTheLooseOne) {
  for (const std::uint64_t keys : {100U, 10'000U, 10'000'000U}) {
    for (const std::uint64_t c : {5U, 10U, 16U, 40U}) {
      const std::uint64_t counters = keys * c;
      const auto most = static_cast<std::uint32_t>(std::log(2.0) * static_cast<double>(c));
      for (std::uint32_t k = 1; k <= most; ++k) {
        for (const std::uint32_t value : {2U, 4U, 8U, 15U, 16U}) {
          EXPECT_LE(overflow_bound(keys, counters, k, value), overflow_bound_loose(counters, value))
              << keys << ' ' << c << ' ' << k << ' ' << value;
        }
      }
    }
  }
}

// A value below the mean load is reached by nearly every counter, and by no more than all of them.
TEST(Overflow, NeverExpectsMoreThanAllCounters) {
  EXPECT_NEAR(expected_overflows(1000, 10, 1, 1), 10.0, 1e-9);
  EXPECT_NEAR(expected_overflows(100'000, 10, 1, 100), 10.0, 1e-9);
  EXPECT_NEAR(expected_overflows(million, 10, 1, 1), 10.0, 1e-9);
  EXPECT_EQ(overflow_bound(million, 10, 1, 1), 1.0);
}

// The same where a sum over all numbers of throws would take hours.
TEST(Overflow, ACertainOverflowIsQuickToJudge) {
  EXPECT_NEAR(expected_overflows(1'000'000'000'000, 10, 1, 1), 10.0, 1e-9);
}

// ---- costs ------------------------------------------------------------------------------------

// 003: 102,000 URLs a year, 2,000 of them malicious, 1 ms in the filter, 500 ms in the database, 3
// %.
TEST(GuardedLookup, TheLecturesExampleTakes2551Milliseconds) {
  EXPECT_NEAR(
      mean_time(
          {.present = 2000, .absent = 100'000, .fpr = 0.03, .filter_time = 1, .lookup_time = 500}),
      25.51, 0.005);
}

TEST(GuardedLookup, WithoutAbsentKeysTheFilterOnlyCosts) {
  EXPECT_DOUBLE_EQ(mean_time({.present = 10, .fpr = 0.5, .filter_time = 1, .lookup_time = 100}),
                   101.0);
}

TEST(GuardedLookup, APerfectFilterPaysForPresentKeysOnly) {
  EXPECT_DOUBLE_EQ(mean_time({.present = 1, .absent = 9, .filter_time = 2, .lookup_time = 100}),
                   12.0);
}

}  // namespace
}  // namespace bloomery::sizing
