#include "bloomery/sketch/number_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "bloomery/core/error.hpp"

namespace {

using namespace bloomery;

std::vector<double> spread_numbers(std::size_t count, unsigned seed) {  // of both signs
  std::mt19937_64 random(seed);
  std::normal_distribution<double> draw(100, 400);
  std::vector<double> numbers(count);
  for (double& n : numbers) n = draw(random);
  return numbers;
}

std::uint64_t between(const std::vector<double>& numbers, double first, double last) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(numbers, [&](double n) { return first <= n && n <= last; }));
}

TEST(number_counts, is_exact_while_few_numbers_differ) {
  const std::vector<double> numbers = spread_numbers(5000, 1);
  number_counts c;
  for (int i = 0; i < 3; ++i) c.add_batch(numbers);
  std::vector<double> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(c.total(), 15'000U);
  EXPECT_TRUE(c.exact());
  for (int percent = 1; percent <= 100; ++percent) {
    const auto rank = static_cast<std::size_t>(percent * 5000 / 100);
    EXPECT_EQ(c.quantile(percent / 100.0), sorted[rank - 1]) << percent;
  }
  EXPECT_EQ(c.quantile(0), sorted.front());
  EXPECT_EQ(c.count_range(-50, 70.5), 3 * between(numbers, -50, 70.5));
  EXPECT_EQ(c.count_range(sorted[17], sorted[17]), 3U);
  EXPECT_EQ(c.count_range(2, 1), 0U);
  c.add(-1e300);  // questions and additions take turns
  EXPECT_EQ(c.quantile(0), -1e300);
}

TEST(number_counts, takes_both_zeros_for_one_and_refuses_nan) {
  number_counts c;
  c.add(0.0);
  c.add(-0.0);
  EXPECT_EQ(c.count_range(0, 0), 2U);
  EXPECT_EQ(c.count_range(-0.0, -0.0), 2U);
  const double bad[] = {1, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW(c.add_batch(bad), error);
  EXPECT_EQ(c.total(), 2U);
  EXPECT_THROW(static_cast<void>(c.quantile(1.5)), error);
  number_counts empty;
  EXPECT_THROW(static_cast<void>(empty.quantile(0.5)), error);
  EXPECT_EQ(empty.count_range(-1, 1), 0U);
  EXPECT_THROW(number_counts({.epsilon = 0}), error);
  EXPECT_THROW(number_counts({.delta = 1}), error);
}

// Beyond the room for exact ones: counts are never too low, ranks within the bound. One seed of 30
// questions, of which one in a hundred may fail; none does.
TEST(number_counts_stat, many_numbers_are_within_the_bound) {
  constexpr double epsilon = 0.01;
  const std::vector<double> numbers = spread_numbers(300'000, 2);
  number_counts c({.exact = 1000, .epsilon = epsilon});
  c.add_batch(numbers);
  EXPECT_FALSE(c.exact());
  std::vector<double> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  const auto slack = static_cast<std::uint64_t>(epsilon * 300'000);
  for (int i = 1; i < 30; ++i) {
    const double share = i / 30.0;
    const double found = c.quantile(share);
    // The key of a number is a millionth wide.
    const double wide = std::abs(found) * 1e-6;
    const double rank = share * 300'000;
    EXPECT_LE(static_cast<double>(between(numbers, -1e9, found - wide)), rank) << share;
    EXPECT_GE(static_cast<double>(between(numbers, -1e9, found + wide) + slack), rank) << share;
    const double first = sorted[static_cast<std::size_t>(i) * 5000];
    const std::uint64_t truth = between(numbers, first, first + 100);
    const std::uint64_t said = c.count_range(first, first + 100);
    EXPECT_GE(said, truth);
    EXPECT_LE(said, truth + slack);
  }
  EXPECT_EQ(c.quantile(0), sorted.front());
  EXPECT_EQ(c.quantile(1), sorted.back());
  EXPECT_EQ(c.count_range(-1e9, 1e9), 300'000U);
}

// Whole numbers up to 2^21 keep their value in the sketch, and others have no digits too many.
TEST(number_counts, names_numbers_by_few_digits) {
  for (const double number : {0.0, 1.0, -1.0, 1234567.0, 2097151.0, 0.125, 3.14159, -2.5e-7}) {
    number_counts c({.exact = 0, .epsilon = 0.1, .delta = 0.1});
    c.add(number - 1000);
    c.add(number + 1000);
    for (int i = 0; i < 100; ++i) c.add(number);
    EXPECT_FALSE(c.exact());
    EXPECT_EQ(c.quantile(0.5), number);
  }
}

TEST(dyadic_counts, adds_in_order_what_it_adds_one_by_one) {
  dyadic_counts one({.key_bits = 24});
  dyadic_counts many({.key_bits = 24});
  std::vector<counted_prefix> keys;
  for (std::uint64_t i = 0; i < 3000; ++i) keys.push_back({i * i % 9000, i % 5});
  std::ranges::sort(keys, {}, &counted_prefix::key);
  for (const counted_prefix& k : keys) one.add(k.key, k.count);
  many.add_sorted(keys);
  EXPECT_EQ(one.total(), many.total());
  for (std::uint64_t first = 0; first < 9000; first += 371) {
    EXPECT_EQ(one.count_range(first, first + 1000), many.count_range(first, first + 1000));
  }
  std::ranges::reverse(keys);
  EXPECT_THROW(many.add_sorted(keys), error);
  EXPECT_THROW(many.add_sorted({{std::uint64_t{1} << 24U, 1}}), error);
  many.add_sorted({});
  EXPECT_EQ(one.total(), many.total());
}

}  // namespace
