// What every owner of one array can do: be cleared, compared and measured, and say what is new.
#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <vector>

#include "filter/samples.hpp"

namespace bloomery {
namespace {

template <class Filter>
class every_owner : public testing::Test {};
using owners =
    testing::Types<blocked_filter, split_block_filter, classic_filter, partitioned_filter,
                   counting_filter, count_min, spectral_filter, windowed_filter>;
TYPED_TEST_SUITE(every_owner, owners, );

template <class Filter>
keyed<Filter> with_keys(std::uint64_t first, std::uint64_t last, std::uint64_t seed = 0) {
  keyed<Filter> f({.keys = 1000, .seed = seed});
  for (std::uint64_t key = first; key < last; ++key) f.add(key);
  return f;
}

TYPED_TEST(every_owner, is_new_again_when_cleared) {
  auto f = with_keys<TypeParam>(0, 900);
  f.clear();
  EXPECT_EQ(f.keys(), 0U);
  EXPECT_FALSE(f.contains(std::uint64_t{7}));
  EXPECT_EQ(to_image(f), to_image(keyed<TypeParam>({.keys = 1000})));
  for (std::uint64_t key = 0; key < 900; ++key) f.add(key);
  EXPECT_EQ(to_image(f), to_image(with_keys<TypeParam>(0, 900)));
}

TYPED_TEST(every_owner, equals_what_gives_the_same_answers) {
  const auto f = with_keys<TypeParam>(0, 900);
  EXPECT_EQ(f, with_keys<TypeParam>(0, 900));
  EXPECT_NE(f, with_keys<TypeParam>(0, 901));
  EXPECT_NE(f, with_keys<TypeParam>(0, 900, 1)) << "another hash function";
  EXPECT_NE(keyed<TypeParam>({.keys = 1000}), keyed<TypeParam>({.keys = 2000}));
  const typename TypeParam::view view(f.filter());
  EXPECT_EQ(f.filter(), view);
}

TYPED_TEST(every_owner, knows_its_bytes) {
  const keyed<TypeParam> f({.keys = 1000});
  EXPECT_EQ(f.bytes(), f.filter().words().size_bytes());
  EXPECT_EQ(f.filter().bytes(), f.bytes());
}

template <class Filter>
class every_growing : public testing::Test {};
using growing = testing::Types<scalable_filter, layered_filter, cuckoo_filter>;
TYPED_TEST_SUITE(every_growing, growing, );

TYPED_TEST(every_growing, is_new_again_when_cleared) {
  auto f = with_keys<TypeParam>(0, 50'000);
  const std::uint64_t grown = f.bytes();
  f.clear();
  EXPECT_LT(f.bytes(), grown / 8);
  EXPECT_EQ(f.keys(), 0U);
  EXPECT_EQ(f.fpr(), 0.0);
  EXPECT_EQ(to_image(f), to_image(keyed<TypeParam>({.keys = 1000})));
  f.clear();
  EXPECT_EQ(to_image(f), to_image(keyed<TypeParam>({.keys = 1000})));
  for (std::uint64_t key = 0; key < 50'000; ++key) f.add(key);
  EXPECT_EQ(to_image(f), to_image(with_keys<TypeParam>(0, 50'000)));
}

TYPED_TEST(every_growing, knows_its_bytes) {
  for (const std::uint64_t keys : {0U, 5000U}) {
    const auto f = with_keys<TypeParam>(0, keys);
    std::uint64_t bytes = 0;
    for (const auto part : f.filter().parts()) bytes += part.size_bytes();
    EXPECT_EQ(f.bytes(), bytes) << keys;
    EXPECT_EQ(f.filter().bytes(), bytes) << keys;
  }
}

// A copy of a view may come from a file, whose numbers are not to be trusted.
TYPED_TEST(every_growing, is_cleared_when_it_was_copied) {
  auto f = with_keys<TypeParam>(0, 9000);
  TypeParam copy(static_cast<const typename TypeParam::view&>(f.filter()));
  copy.clear();
  EXPECT_EQ(copy, keyed<TypeParam>({.keys = 1000}).filter());
}

TYPED_TEST(every_growing, equals_what_has_grown_alike) {
  const auto f = with_keys<TypeParam>(0, 5000);
  EXPECT_EQ(f, with_keys<TypeParam>(0, 5000));
  EXPECT_NE(f, with_keys<TypeParam>(0, 5001));
  EXPECT_NE(f, with_keys<TypeParam>(0, 5000, 1)) << "another hash function";
  EXPECT_NE(f, with_keys<TypeParam>(0, 900)) << "another size";
}

TEST(owner, counts_no_calls_when_compared) {
  auto once = with_keys<blocked_filter>(0, 10);
  auto twice = once;
  twice.add(std::uint64_t{5});
  EXPECT_EQ(once, twice);
  EXPECT_NE(once.keys(), twice.keys());
}

TEST(owner, knows_its_bytes_when_it_has_grown) {
  keyed<cuckoo_filter> f({.keys = 1000});
  const std::uint64_t before = f.bytes();
  for (std::uint64_t key = 0; key < 5000; ++key) f.add(key);
  EXPECT_GT(f.bytes(), 2 * before);
}

template <class Filter>
void expect_new_keys_are_told() {
  keyed<Filter> f({.keys = 1000, .fpr = 0.001});
  std::uint64_t known = 0;
  for (std::uint64_t key = 0; key < 1000; ++key) {
    const bool contained = f.contains(key);
    EXPECT_EQ(f.add(key), !contained);
    known += contained ? 1 : 0;
    EXPECT_FALSE(f.add(key));
  }
  EXPECT_LT(known, 10U);
  EXPECT_EQ(f.keys(), 2000U);
}

TEST(add, says_whether_the_key_was_new_where_that_is_free) {
  expect_new_keys_are_told<blocked_filter>();
  expect_new_keys_are_told<classic_filter>();
  expect_new_keys_are_told<counting_filter>();
  expect_new_keys_are_told<partitioned_filter>();
  expect_new_keys_are_told<scalable_filter>();
  expect_new_keys_are_told<layered_filter>();
  static_assert(std::same_as<decltype(std::declval<keyed<windowed_filter>&>().add(1)), void>);
  static_assert(std::same_as<decltype(std::declval<keyed<count_min>&>().add(1)), void>);
  static_assert(std::same_as<decltype(std::declval<keyed<spectral_filter>&>().add(1)), void>);
}

}  // namespace
}  // namespace bloomery
