#include "bloomery/sketch/dyadic_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "filter/samples.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

std::uint64_t in_range(const std::vector<std::uint64_t>& sorted, std::uint64_t first,
                       std::uint64_t last) {
  const auto from = std::lower_bound(sorted.begin(), sorted.end(), first);
  const auto to = std::upper_bound(from, sorted.end(), last);
  return static_cast<std::uint64_t>(to - from);
}

// Log-normal numbers, like sizes and times.
std::vector<std::uint64_t> sample_numbers(std::size_t count, unsigned seed, std::uint64_t most) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> draw(12, 2);
  std::vector<std::uint64_t> numbers(count);
  for (std::uint64_t& n : numbers) n = std::min(most, static_cast<std::uint64_t>(draw(random)));
  return numbers;
}

// Up to 16 bits everything is exact.
TEST(dyadic_counts, is_exact_for_small_keys) {
  for (const std::uint32_t bits : {1U, 2U, 7U, 16U}) {
    dyadic_counts d({.key_bits = bits});
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; i < 3000; ++i) keys.push_back(sample_hash(i, bits) & d.largest_key());
    for (const std::uint64_t key : keys) d.add(key);
    std::sort(keys.begin(), keys.end());
    for (std::uint64_t i = 0; i < 500; ++i) {
      const std::uint64_t first = sample_hash(i, 20) & d.largest_key();
      const std::uint64_t last = sample_hash(i, 21) & d.largest_key();
      ASSERT_EQ(d.count_range(first, last), first > last ? 0 : in_range(keys, first, last));
    }
    EXPECT_EQ(d.count_range(0, d.largest_key()), keys.size());
    EXPECT_EQ(d.count_range(0, ~std::uint64_t{0}), keys.size());
    for (const double share : {0.0, 0.1, 0.5, 0.9, 0.999, 1.0}) {
      const auto rank = std::max(1.0, std::ceil(share * 3000));
      EXPECT_EQ(d.quantile(share), keys[static_cast<std::size_t>(rank) - 1]) << share;
    }
  }
}

// Against the exact answers: never too low, and above the bound in at most delta of all cases. 30
// seeds, 40 ranges each; those of a seed share its functions, so the tolerance is three standard
// deviations of 30.
TEST(dyadic_counts_stat, ranges_are_within_their_bounds) {
  double failures = 0;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    dyadic_counts d({.key_bits = 32, .epsilon = 0.05, .delta = 0.05, .seed = seed});
    std::vector<std::uint64_t> keys = sample_numbers(4000, seed, d.largest_key());
    for (const std::uint64_t key : keys) d.add(key);
    std::sort(keys.begin(), keys.end());
    for (std::uint64_t i = 0; i < 40; ++i) {
      std::uint64_t first = keys[sample_hash(i, seed) % keys.size()];
      std::uint64_t last = keys[sample_hash(i, seed + 100) % keys.size()] + i;
      if (first > last) std::swap(first, last);
      const std::uint64_t truth = in_range(keys, first, last);
      const std::uint64_t counted = d.count_range(first, last);
      ASSERT_GE(counted, truth);
      failures += static_cast<double>(counted - truth) > 0.05 * 4000 ? 1.0 / 40 : 0;
    }
  }
  EXPECT_LE(failures / 30, 0.05 + 3 * std::sqrt(0.05 * 0.95 / 30));
}

TEST(dyadic_counts_stat, quantiles_are_within_their_bounds) {
  double failures = 0;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    dyadic_counts d({.key_bits = 40, .epsilon = 0.02, .delta = 0.05, .seed = seed});
    std::vector<std::uint64_t> keys = sample_numbers(3000, seed, d.largest_key());
    for (const std::uint64_t key : keys) d.add(key);
    std::sort(keys.begin(), keys.end());
    for (const double share : {0.01, 0.25, 0.5, 0.75, 0.9, 0.99}) {
      const std::uint64_t found = d.quantile(share);
      const auto below = static_cast<double>(found == 0 ? 0 : in_range(keys, 0, found - 1));
      const auto up_to = static_cast<double>(in_range(keys, 0, found));
      ASSERT_LT(below, std::ceil(share * 3000)) << share;
      failures += up_to < (share - 0.02) * 3000 ? 1.0 / 6 : 0;
    }
  }
  EXPECT_LE(failures / 30, 0.05 + 3 * std::sqrt(0.05 * 0.95 / 30));
}

TEST(dyadic_counts, covers_all_64_bits) {
  dyadic_counts d({.key_bits = 64, .epsilon = 0.1, .delta = 0.1});
  d.add(~std::uint64_t{0}, 5);
  d.add(0, 3);
  d.add(std::uint64_t{1} << 63U, 2);
  EXPECT_EQ(d.total(), 10U);
  EXPECT_EQ(d.count_range(0, ~std::uint64_t{0}), 10U);
  EXPECT_EQ(d.count_range(std::uint64_t{1} << 63U, ~std::uint64_t{0}), 7U);
  EXPECT_EQ(d.count(0), 3U);
  EXPECT_EQ(d.quantile(0.2), 0U);
  EXPECT_EQ(d.quantile(1), ~std::uint64_t{0});
}

TEST(dyadic_counts, is_removed_from_merged_and_restored) {
  const dyadic_options o{.key_bits = 20, .epsilon = 0.05, .delta = 0.05, .seed = 9};
  dyadic_counts a(o);
  dyadic_counts b(o);
  dyadic_counts both(o);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    a.add(i * 7);
    b.add(i * 900);
    both.add(i * 7);
    both.add(i * 900);
  }
  a.merge(b);
  EXPECT_EQ(a.total(), 2000U);
  for (std::size_t l = 0; l < a.levels().size(); ++l)
    EXPECT_TRUE(a.levels()[l] == both.levels()[l]);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_TRUE(a.remove(i * 900));
  EXPECT_EQ(a.total(), 1000U);
  EXPECT_LE(a.count_range(7000, a.largest_key()), 50U) << "epsilon times the total";
  EXPECT_FALSE(a.remove(999'999));

  // Its levels are sketches that can be saved; what comes back must be them.
  std::vector<count_min> levels(both.levels().begin(), both.levels().end());
  const dyadic_counts back(o, levels);
  EXPECT_EQ(back.count_range(5, 70'000), both.count_range(5, 70'000));
  EXPECT_EQ(back.quantile(0.5), both.quantile(0.5));
  const auto refused = [&](const dyadic_options& other, const std::vector<count_min>& l) {
    return throws(errc::corrupt, "not the levels", [&] { dyadic_counts(other, l); });
  };
  EXPECT_TRUE(refused({.key_bits = 20, .epsilon = 0.05, .delta = 0.05, .seed = 8}, levels));
  EXPECT_TRUE(refused({.key_bits = 21, .epsilon = 0.05, .delta = 0.05, .seed = 9}, levels));
  levels[3].add(1);
  EXPECT_TRUE(refused(o, levels));
  levels.pop_back();
  EXPECT_TRUE(refused(o, levels));
}

TEST(dyadic_counts, refuses_what_it_cannot_be) {
  EXPECT_TRUE(throws(errc::bad_argument, "from 1 to 64", [] { dyadic_counts({.key_bits = 0}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "from 1 to 64", [] { dyadic_counts({.key_bits = 65}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "epsilon", [] { dyadic_counts({.epsilon = 0}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "delta", [] { dyadic_counts({.delta = 1}); }));
  dyadic_counts d({.key_bits = 8});
  EXPECT_TRUE(throws(errc::bad_argument, "below 2^8", [&] { d.add(256); }));
  EXPECT_TRUE(throws(errc::bad_argument, "the share", [&] { return d.quantile(1.5); }));
  EXPECT_EQ(d.quantile(0.5), 255U) << "empty";
  EXPECT_TRUE(throws(errc::mismatch, "bits in a key differ",
                     [&] { d.merge(dyadic_counts({.key_bits = 9})); }));
}

}  // namespace
