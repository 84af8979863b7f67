// Calls with several threads: the bits and answers of one thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bloomery/core/parallel.hpp"
#include "bloomery/detail/filter/block_stripes.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/counting.hpp"
#include "bloomery/filter/fuse.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/filter/partitioned.hpp"

namespace bloomery {
namespace {

std::vector<std::uint64_t> integers(std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = i * 7919;
  return keys;
}

template <class Filter>
class ParallelTest : public testing::Test {};
using filters = testing::Types<blocked_filter, split_block_filter, classic_filter,
                               partitioned_filter, counting_filter>;
TYPED_TEST_SUITE(ParallelTest, filters);

TYPED_TEST(ParallelTest, AddsTheSameBits) {
  for (const std::size_t count : {0U, 1U, 63U, 65'537U, 300'000U}) {
    const auto keys = integers(count);
    const options o{.keys = std::max<std::uint64_t>(count, 1), .fpr = 0.01};
    keyed<TypeParam> one(o);
    one.add_batch(keys);
    for (const unsigned threads : {1U, 2U, 5U}) {
      keyed<TypeParam> many(o);
      many.add_batch(keys, parallel{threads});
      EXPECT_EQ(many.keys(), count);
      EXPECT_TRUE(std::ranges::equal(one.filter().words(), many.filter().words()));
    }
  }
}

TYPED_TEST(ParallelTest, AnswersTheSame) {
  const auto keys = integers(200'001);
  keyed<TypeParam> f({.keys = keys.size(), .fpr = 0.1});
  f.add_batch(std::span(keys).first(100'000));
  std::vector<std::uint64_t> one((keys.size() + 63) / 64);
  std::vector<std::uint64_t> many(one.size());
  f.contains_bits(keys, one);
  f.contains_bits(keys, many, parallel{3});
  EXPECT_EQ(one, many);
  EXPECT_EQ(f.contains_count(keys, parallel{3}), f.contains_count(keys));
}

TYPED_TEST(ParallelTest, TakesStrings) {
  std::vector<std::string> keys;
  for (int i = 0; i < 150'000; ++i) keys.push_back("key " + std::to_string(i));
  keyed<TypeParam> one({.keys = keys.size()});
  keyed<TypeParam> many({.keys = keys.size()});
  one.add_batch(keys);
  many.add_batch(keys, parallel{});
  EXPECT_TRUE(std::ranges::equal(one.filter().words(), many.filter().words()));
  EXPECT_EQ(many.contains_count(keys, parallel{}), keys.size());
}

TEST(ParallelCounting, AddsTheSameCountersAnywhere) {
  const auto keys = integers(100'000);
  const plan p = sizing::make_plan(
      {.kind = filter_kind::counting, .keys = keys.size(), .fpr = 0.01, .block_bits = 0});
  keyed<counting_filter> one{counting_filter(p)};
  keyed<counting_filter> many{counting_filter(p)};
  one.add_batch(keys);
  many.add_batch(keys, parallel{3});
  EXPECT_TRUE(std::ranges::equal(one.filter().words(), many.filter().words()));
  EXPECT_EQ(many.keys(), keys.size());
}

TEST(ParallelFuse, AnswersTheSame) {
  const auto hashes = integers(100'000);
  std::vector<std::uint64_t> mixed(hashes.size());
  std::ranges::transform(hashes, mixed.begin(), [](std::uint64_t h) { return mix64(h, 0); });
  const plan p = sizing::make_plan({.kind = filter_kind::fuse, .keys = mixed.size(), .fpr = 0.01});
  const keyed<fuse_filter> f(fuse_filter(p, mixed));
  const auto keys = integers(200'000);
  std::vector<std::uint64_t> one((keys.size() + 63) / 64);
  std::vector<std::uint64_t> many(one.size());
  f.contains_bits(keys, one);
  f.contains_bits(keys, many, parallel{2});
  EXPECT_EQ(one, many);
}

TEST(BlockStripes, VisitEveryHashOnce) {
  for (const std::uint64_t blocks : {1U, 2U, 63U, 64U, 65U, 100'003U}) {
    detail::block_stripes stripes(blocks);
    auto hashes = integers(20'000);
    for (std::uint64_t& h : hashes) h = mix64(h, blocks);
    std::vector<std::uint64_t> seen;
    stripes.visit(hashes, [&](std::span<const std::uint64_t> some) {
      seen.insert(seen.end(), some.begin(), some.end());
    });
    std::ranges::sort(seen);
    std::ranges::sort(hashes);
    EXPECT_EQ(seen, hashes) << blocks;
  }
}

TEST(InParallel, ThrowsWhatAThreadThrew) {
  EXPECT_THROW(detail::in_parallel(parallel{4}, 100,
                                   [](std::uint64_t i) {
                                     if (i == 50) throw error(errc::io, "fifty");
                                   }),
               error);
}

}  // namespace
}  // namespace bloomery
