#include "bloomery/sketch/t_digest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/mix.hpp"

namespace {

using namespace bloomery;

t_digest digest_of(std::vector<double> numbers, double compression = 100) {
  t_digest d(compression);
  d.add_batch(numbers);
  return d;
}

// Of few numbers everything is exact: the examples of the commands' public documentation.
TEST(t_digest, of_few_numbers_is_exact) {
  const t_digest d = digest_of({1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5});
  const std::vector<double> quantiles = {1, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5};
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    EXPECT_EQ(quantiles[i], d.quantile(static_cast<double>(i) / 10)) << i;
  }
  const std::vector<double> ranks = {0, 0.5, 2, 4.5, 8, 12.5, 15};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    EXPECT_DOUBLE_EQ(ranks[i], d.rank(static_cast<double>(i))) << i;
  }
  EXPECT_DOUBLE_EQ(1, d.rank(1.5));
  const t_digest ten = digest_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_DOUBLE_EQ(4, ten.trimmed_mean(0.1, 0.6));
  EXPECT_DOUBLE_EQ(6.5, ten.trimmed_mean(0.3, 0.9));
  EXPECT_DOUBLE_EQ(5.5, ten.trimmed_mean(0, 1));
  EXPECT_EQ(1, ten.least());
  EXPECT_EQ(10, ten.largest());
}

TEST(t_digest, is_no_number_when_empty) {
  const t_digest d;
  for (const double x :
       {d.least(), d.largest(), d.quantile(0.5), d.rank(1), d.cdf(1), d.trimmed_mean(0, 1)}) {
    EXPECT_TRUE(std::isnan(x));
  }
  EXPECT_EQ(0, d.total());
}

// The tolerance is the weight that a centroid may have at this rank, as the header says.
void check_ranks(const t_digest& d, std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const auto n = static_cast<double>(numbers.size());
  const double steps = 2 * d.compression();
  const double z = 4 * std::log(n / steps) + 24;
  for (const double q : {0.0001, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999}) {
    const double most = std::max(1.0, n * q * (1 - q) * z / steps);
    const auto at = std::ranges::lower_bound(numbers, d.quantile(q)) - numbers.begin();
    EXPECT_NEAR(q * n, static_cast<double>(at), most) << q;
    const double number = numbers[static_cast<std::size_t>(q * n)];
    EXPECT_NEAR(q * n, d.rank(number), most) << q;
  }
  EXPECT_EQ(numbers.front(), d.quantile(0));
  EXPECT_EQ(numbers.back(), d.quantile(1));
}

TEST(t_digest, has_ranks_within_a_centroid) {
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> times(0, 2);
  std::vector<double> numbers(100'000);
  for (double& x : numbers) x = times(random);
  for (const double compression : {50, 100, 500}) {
    t_digest d(compression);
    d.add_batch(numbers);
    check_ranks(d, numbers);
    EXPECT_GE(2 * compression + 10, static_cast<double>(d.centroids().size()));
    EXPECT_EQ(100'000, d.total());
  }
  std::ranges::sort(numbers);
  check_ranks(digest_of(numbers), numbers);
  std::ranges::reverse(numbers);
  check_ranks(digest_of(numbers), numbers);
}

TEST(t_digest, merges) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 1);
  std::vector<double> numbers(40'000);
  for (double& x : numbers) x = noise(random);
  t_digest all;
  for (std::size_t part = 0; part < 4; ++part) {
    t_digest d;
    d.add_batch(std::span(numbers).subspan(part * 10'000, 10'000));
    all.merge(d);
  }
  EXPECT_EQ(40'000, all.total());
  check_ranks(all, numbers);
  all.merge(all);
  EXPECT_EQ(80'000, all.total());
  all.merge(t_digest());
  EXPECT_EQ(80'000, all.total());
  all.clear();
  EXPECT_EQ(0, all.total());
}

TEST(t_digest, is_the_same_whoever_asks) {
  t_digest quiet;
  t_digest asked;
  for (int i = 0; i < 5000; ++i) {
    const double x = std::sin(i);
    quiet.add(x);
    asked.add(x);
    if (i % 7 == 0) static_cast<void>(asked.quantile(0.3));
  }
  EXPECT_TRUE(std::ranges::equal(quiet.centroids(), asked.centroids()));
  const t_digest again(100, quiet.centroids(), quiet.least(), quiet.largest(), {});
  EXPECT_EQ(quiet.quantile(0.77), again.quantile(0.77));
  EXPECT_EQ(quiet.total(), again.total());
}

// A replica gets its master's digest in the middle, and both go on.
TEST(t_digest, goes_on_from_its_nodes_as_it_would_have) {
  t_digest d(20);
  std::uint64_t state = 5;
  for (int step = 0; step < 60; ++step) {
    t_digest copy(20, d.nodes(), d.least(), d.largest(), {d.compressions(), d.buffered() > 0});
    t_digest own = d;
    for (int i = 0; i < 300; ++i) {
      ASSERT_TRUE(std::ranges::equal(own.centroids(), copy.centroids())) << step << ' ' << i;
      const double number = static_cast<double>(splitmix64(++state) % 500);  // some come again
      own.add(number);
      copy.add(number);
    }
    ASSERT_EQ(own.compressions(), copy.compressions());
    ASSERT_EQ(own.nodes(), copy.nodes());
    for (int i = 0; i < 7; ++i) d.add(static_cast<double>(splitmix64(++state) % 500));
  }
}

TEST(t_digest, refuses) {
  EXPECT_THROW(t_digest(0), error);
  EXPECT_THROW(t_digest(1e9), error);
  t_digest d;
  const double infinite = std::numeric_limits<double>::infinity();
  const std::vector<double> numbers = {1, infinite};
  EXPECT_THROW(d.add_batch(numbers), error);
  EXPECT_EQ(0, d.total());
  const auto made = [](std::vector<centroid> all, double least, double largest) {
    return t_digest(100, all, least, largest, {});
  };
  EXPECT_NO_THROW(made({{1, 1}, {2, 3}}, 1, 2));
  EXPECT_THROW(made({{2, 1}, {1, 3}}, 1, 2), error);
  EXPECT_THROW(made({{1, 0}}, 1, 2), error);
  EXPECT_THROW(made({{1, 1}}, 2, 3), error);
  EXPECT_THROW(made({{1, 1}}, std::nan(""), 3), error);
  EXPECT_THROW(made({{std::nan(""), 1}}, 0, 3), error);
  EXPECT_THROW(made({{1, 1e300}}, 0, 3), error);
}

}  // namespace
