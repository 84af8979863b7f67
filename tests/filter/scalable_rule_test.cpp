// The rules of growth that are told how many keys to expect, and unions of filters that grow.
#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/filter/scalable.hpp"
#include "bloomery/hash/hash.hpp"

namespace {

using bloomery::filter_kind;
using bloomery::growth_rule;
using bloomery::scalable_filter;

scalable_filter make(std::uint64_t keys, growth_rule rule, double fpr = 0.01) {
  return scalable_filter(bloomery::sizing::make_plan(
      {.kind = filter_kind::scalable, .keys = keys, .fpr = fpr, .growth = rule}));
}

std::vector<std::uint64_t> hashes(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = bloomery::splitmix64(first + i);
  return all;
}

std::uint64_t found(const scalable_filter& f, const std::vector<std::uint64_t>& all) {
  std::uint64_t sum = 0;
  for (const std::uint64_t h : all) sum += f.contains(h) ? 1U : 0U;
  return sum;
}

TEST(scalable_rule, reserved_costs_little_more_than_a_fixed_size) {
  const auto f = make(1'000'000, growth_rule::reserved);
  EXPECT_LT(f.planned().bits_per_key(), 10.4);
  EXPECT_LE(f.planned().fpr, 0.01);
}

// All layers that the rule deals a rate to, full: the model's sum is below the target.
TEST(scalable_rule, every_rule_keeps_the_rate_while_it_grows) {
  for (const auto& [keys, rule, fpr] :
       {std::tuple{640, growth_rule::steep, 0.01}, std::tuple{2000, growth_rule::reserved, 0.01},
        std::tuple{2000, growth_rule::reserved, 0.2}, std::tuple{640, growth_rule::steep, 0.001}}) {
    scalable_filter f = make(static_cast<std::uint64_t>(keys), rule, fpr);
    f.add_batch(hashes(0, 300'000));
    EXPECT_EQ(300'000U, found(f, hashes(0, 300'000)));
    EXPECT_LT(f.fpr(), fpr) << keys;
  }
}

TEST(scalable_rule, steep_takes_ten_million_keys_in_five_layers) {
  const auto presized = make(10'000'000, growth_rule::reserved).shape().bits;
  scalable_filter f = make(640, growth_rule::steep);
  for (std::uint64_t first = 0; first < 10'000'000; first += 100'000) {
    f.add_batch(hashes(first, 100'000));
    ASSERT_LT(f.shape().bits, presized * 2);
  }
  EXPECT_LE(f.layers(), 5U);
  EXPECT_LT(f.fpr(), 0.01);
}

TEST(scalable_rule, shapes_say_their_rule) {
  auto s = make(640, growth_rule::steep).shape();
  EXPECT_NO_THROW(bloomery::check_shape(s));
  s.variant = (1U << 16U) | 2U;  // steep without a spread
  EXPECT_THROW(bloomery::check_shape(s), bloomery::error);
  s.variant = (1U << 17U) | (1U << 8U) | 2U;
  EXPECT_THROW(bloomery::check_shape(s), bloomery::error);
  s.variant = (1U << 8U) | 17U;
  EXPECT_THROW(bloomery::check_shape(s), bloomery::error);
  s = make(640, growth_rule::tapered).shape();
  EXPECT_NO_THROW(bloomery::check_shape(s));
  for (const std::uint32_t factor : {0U, 2U, 71U, 129U, 0x180U, 0x10050U, 0x40050U}) {
    s.variant = (1U << 17U) | factor;
    EXPECT_THROW(bloomery::check_shape(s), bloomery::error) << factor;
  }
}

TEST(scalable_merge, has_the_keys_of_both_and_overfills_nothing) {
  scalable_filter a = make(2000, growth_rule::reserved);
  scalable_filter b = a;
  a.add_batch(hashes(0, 5000));
  b.add_batch(hashes(1'000'000, 3000));
  const double before = a.fpr() + b.fpr();
  a.merge(b);
  EXPECT_EQ(5000U, found(a, hashes(0, 5000)));
  EXPECT_EQ(3000U, found(a, hashes(1'000'000, 3000)));
  EXPECT_LE(a.fpr(), before);
  EXPECT_EQ(8000U, a.keys());
  // And goes on growing like a filter of its size.
  a.add_batch(hashes(2'000'000, 50'000));
  EXPECT_EQ(50'000U, found(a, hashes(2'000'000, 50'000)));
  EXPECT_LT(a.layers(), 10U);
}

TEST(scalable_merge, joins_layers_that_have_room) {
  scalable_filter a = make(10'000, growth_rule::reserved);
  scalable_filter b = a;
  a.add_batch(hashes(0, 3000));
  b.add_batch(hashes(1'000'000, 3000));
  a.merge(b);
  EXPECT_EQ(1U, a.layers());
  a.merge(a);
  EXPECT_EQ(2U, a.layers());
  EXPECT_EQ(3000U, found(a, hashes(1'000'000, 3000)));
}

TEST(scalable_merge, refuses_others_and_too_many_layers) {
  scalable_filter a = make(1000, growth_rule::even);
  EXPECT_THROW(a.merge(make(1000, growth_rule::even, 0.3)), bloomery::error);
  a.add_batch(hashes(0, 1000));
  scalable_filter sum = a;
  for (int i = 0; i < 31; ++i) sum.merge(a);
  EXPECT_EQ(32U, sum.layers());
  EXPECT_THROW(sum.merge(a), bloomery::error);
  EXPECT_EQ(1000U, found(sum, hashes(0, 1000)));
}

}  // namespace
