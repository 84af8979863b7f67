// Keys that come again, held against the filter that was made of them: all of them are enough, and
// one that lacks is noticed but for the filter's rate.

#include "bloomery/format/key_cover.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/format/any_filter.hpp"

namespace {

using namespace bloomery;

struct grown_kind {
  filter_kind kind;
  double fpr;
};

class every_cover : public testing::TestWithParam<grown_kind> {};
using enum filter_kind;
INSTANTIATE_TEST_SUITE_P(each, every_cover,
                         testing::Values(grown_kind{scalable, 0.1}, grown_kind{scalable, 0.01},
                                         grown_kind{scalable, 0.001}, grown_kind{scalable, 1e-6},
                                         grown_kind{layered, 0.1}, grown_kind{layered, 0.01},
                                         grown_kind{layered, 1e-6}));

std::vector<std::uint64_t> covered_hashes(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = mix64(first + i, 99);
  return all;
}

any_filter covered_filter(const grown_kind& k, std::span<const std::uint64_t> hashes) {
  any_filter f(sizing::make_plan({.kind = k.kind, .keys = 100, .fpr = k.fpr}),
               erase(xxh3_hasher(7)));
  f->add_hashes(hashes);
  return f;
}

TEST_P(every_cover, all_keys_in_any_order_are_all) {
  auto hashes = covered_hashes(0, 20'000);
  const any_filter f = covered_filter(GetParam(), hashes);
  key_cover came(f);
  EXPECT_GT(came.lacking(), 10'000U);
  came.take(std::span(hashes).subspan(7000));
  EXPECT_GT(came.lacking(), 3000U);
  EXPECT_LE(came.lacking(), 7000U);
  came.take(std::span(hashes).first(7000));
  EXPECT_EQ(came.lacking(), 0U);
}

TEST_P(every_cover, all_keys_of_a_union_are_all) {
  const auto one = covered_hashes(0, 20'000);
  const auto other = covered_hashes(50'000, 9000);
  any_filter f = covered_filter(GetParam(), one);
  f.merge(covered_filter(GetParam(), other));
  key_cover came(f);
  came.take(one);
  EXPECT_GT(came.lacking(), 3000U);
  came.take(other);
  EXPECT_EQ(came.lacking(), 0U);
}

// 150 keys lack in turn. The bound is the rate's mean and five standard deviations; the keys are
// always the same, and so is the outcome.
TEST_P(every_cover, one_key_that_lacks_is_noticed_but_for_the_rate) {
  const auto hashes = covered_hashes(0, 1500);
  const any_filter f = covered_filter(GetParam(), hashes);
  const double mean = 150 * GetParam().fpr;
  int unnoticed = 0;
  for (std::size_t i = 0; i < 150; ++i) {
    key_cover came(f);
    came.take(std::span(hashes).first(i * 10));
    came.take(std::span(hashes).subspan(i * 10 + 1));
    EXPECT_LE(came.lacking(), 1U);
    unnoticed += came.lacking() == 0 ? 1 : 0;
  }
  EXPECT_LE(unnoticed, mean + 5 * std::sqrt(mean) + 1);
}

TEST(key_cover, is_for_filters_that_grow) {
  const any_filter f(sizing::make_plan({.keys = 100, .fpr = 0.01}), erase(xxh3_hasher(7)));
  try {
    const key_cover none(f);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
  }
}

}  // namespace
