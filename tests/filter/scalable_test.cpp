// The scalable filter of layers: growth, memory, and what its image may say. Also what holds for
// both ways to grow; scalable_split_test.cpp has the rest of the other one.

#include "bloomery/filter/scalable.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "filter/samples.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

std::vector<std::uint64_t> joined(const scalable_view& f) {
  std::vector<std::uint64_t> all;
  for (const auto part : f.parts()) all.insert(all.end(), part.begin(), part.end());
  return all;
}

plan tapered(std::uint64_t first, double fpr) {
  return sizing::make_plan(
      {.kind = filter_kind::scalable, .keys = first, .fpr = fpr, .growth = growth_rule::tapered});
}

scalable_filter grown(std::size_t keys, std::uint64_t first = 1000, double fpr = 0.01) {
  scalable_filter f(tapered(first, fpr));
  f.add_batch(sample_hashes(keys));
  return f;
}

TEST(scalable, models_its_concepts) {
  static_assert(updatable<scalable_filter> && storable<scalable_filter>);
  static_assert(queryable<scalable_view> && storable<scalable_view> && !updatable<scalable_view>);
  static_assert(std::is_nothrow_move_constructible_v<scalable_filter>);
}

TEST(scalable, finds_every_key_through_all_its_layers) {
  const scalable_filter f = grown(300'000);
  EXPECT_GE(f.layers(), 7U);
  EXPECT_EQ(f.contains_count(sample_hashes(300'000)), 300'000U);
  for (const std::uint64_t hash : sample_hashes(2000)) EXPECT_TRUE(f.contains(hash));
}

TEST(scalable, stays_below_its_rate_however_many_keys_come) {
  for (const double target : {0.1, 0.01, 0.001}) {
    for (const std::size_t keys : {500U, 1'000U, 30'000U, 400'000U}) {
      const scalable_filter f = grown(keys, 1000, target);
      EXPECT_LE(f.fpr(), target) << keys;
      // 4 standard deviations above the reported rate.
      constexpr double asked = 200'000;
      const auto passed = static_cast<double>(f.contains_count(sample_hashes(200'000, 9)));
      EXPECT_LE(passed, asked * f.fpr() + 4 * std::sqrt(asked * f.fpr()) + 4) << keys;
    }
  }
}

// Against the filter that knew the number of keys: at most 2.5 times its size when the last layer
// is full, and 4 times when it has just begun.
TEST(scalable, stays_within_its_memory) {
  for (const double target : {0.02, 0.01, 0.001, 1e-5}) {
    scalable_filter f(tapered(60'000, target));
    ASSERT_GE(f.shape().bits, 64U * 1024 * 8);
    std::uint64_t bits = f.shape().bits;
    const auto presized = [&](std::uint64_t keys) {
      const plan p = sizing::make_plan({.keys = keys, .fpr = target});
      return static_cast<double>(p.shape.bits);
    };
    for (std::uint64_t i = 0; i < 2'000'000; ++i) {
      f.add(sample_hash(i));
      if (f.shape().bits == bits) continue;
      EXPECT_LE(static_cast<double>(bits), 2.5 * presized(f.keys_stored() - 1)) << f.layers();
      EXPECT_LE(static_cast<double>(f.shape().bits), 4 * presized(f.keys_stored())) << f.layers();
      bits = f.shape().bits;
    }
    EXPECT_EQ(f.layers(), 5U);
  }
}

// A layer is one more line for every lookup.
TEST(scalable, holds_ten_million_keys_in_seven_layers) {
  scalable_filter f(tapered(34'300, 0.01));
  EXPECT_LT(f.shape().bits, 65U * 1024 * 8);
  for (std::uint64_t first = 0; first < 10'000'000; first += 100'000) {
    std::vector<std::uint64_t> hashes(100'000);
    for (std::uint64_t i = 0; i < 100'000; ++i) hashes[i] = splitmix64(first + i);
    f.add_batch(hashes);
  }
  EXPECT_EQ(f.layers(), 7U);
}

// What no test can fill, by the model: a filter of one layer after the other, up to the last.
TEST(scalable, is_planned_for_all_its_layers) {
  for (const double target : {0.5, 0.1, 0.02, 0.01, 1e-4, 1e-6, 1e-7, 6e-8}) {
    const plan p = tapered(40'000, target);
    // As docs/math.md has it.
    const std::uint64_t first_blocks = p.shape.bits / 512 - 2;
    const std::uint64_t factor = p.shape.variant & 0xffU;
    std::uint64_t keys = 40'000;
    std::uint64_t blocks = first_blocks;
    double none = 1 - sizing::blocked_fpr(keys, blocks, p.shape.probes);
    for (int layer = 1; layer < 32; ++layer) {
      const std::uint64_t bits = layer < 7 ? 32 : (layer < 13 ? 42 : 51);
      const std::uint64_t more = keys * factor / bits - keys;
      const auto more_blocks =
          static_cast<std::uint64_t>(static_cast<detail::uint128>(first_blocks) * bits * more /
                                     (detail::uint128{40'000} * 32)) +
          1;
      // No array is so large, or no 64-bit hash good enough for so many keys.
      if (more_blocks > max_bits / 512) break;
      if (static_cast<double>(keys + more) > target * 0x1p59) break;
      none *= 1 - sizing::blocked_fpr(more, more_blocks, p.shape.probes);
      keys += more;
      blocks += more_blocks;
      if (target > 0.01) continue;  // larger rates need more: docs/math.md
      const plan known = sizing::make_plan({.keys = keys, .fpr = target});
      const plan before = sizing::make_plan({.keys = keys - more, .fpr = target});
      const auto all = static_cast<double>(blocks * 512);
      EXPECT_LE(all, 2.5 * static_cast<double>(known.shape.bits)) << target << ' ' << layer;
      EXPECT_LE(all, 4 * static_cast<double>(before.shape.bits)) << target << ' ' << layer;
    }
    EXPECT_LE(1 - none, target);
    EXPECT_GT(static_cast<double>(keys), std::min(8e10, target * 0x1p58)) << target;
  }
  EXPECT_TRUE(throws(errc::unreachable, "", [] {
    (void)sizing::make_plan({.kind = filter_kind::scalable, .keys = 1000, .fpr = 1e-8});
  }));
}

// The same for growth by a factor that was asked for.
TEST(scalable, is_planned_for_all_layers_of_a_factor) {
  for (const double target : {0.5, 0.1, 0.01, 1e-4, 1e-6, 1e-7, 6e-8}) {
    const plan p = sizing::make_plan(
        {.kind = filter_kind::scalable, .keys = 10'000, .fpr = target, .variant = 2});
    const std::uint64_t blocks = p.shape.bits / 512 - 2;
    const double early = sizing::blocked_fpr(10'000, blocks, p.shape.probes);
    const std::uint64_t late_blocks = (blocks << 15U) / 8 * 9 + 1;
    const double late = sizing::blocked_fpr(10'000ULL << 15U, late_blocks, p.shape.probes);
    EXPECT_LE(1 - std::pow(1 - early, 16) * std::pow(1 - late, 16), target) << target;
  }
}

TEST(scalable, does_not_grow_by_repetitions) {
  scalable_filter f(options{.keys = 1000});
  for (int round = 0; round < 50; ++round) f.add_batch(sample_hashes(900));
  EXPECT_EQ(f.layers(), 1U);
  EXPECT_EQ(f.keys(), 45'000U);
  EXPECT_LE(f.keys_stored(), 900U);
}

TEST(scalable, says_whether_a_key_was_new) {
  scalable_filter f(options{.keys = 1000, .fpr = 1e-6});
  EXPECT_TRUE(f.add(sample_hash(1)));
  EXPECT_FALSE(f.add(sample_hash(1)));
  EXPECT_TRUE(f.add(sample_hash(2)));
}

TEST(scalable, adds_many_as_it_adds_one) {
  // Repetitions inside a batch and across its borders, and growth in the middle of one.
  std::vector<std::uint64_t> hashes = sample_hashes(20'000);
  for (std::size_t i = 0; i < hashes.size(); i += 3) hashes[i] = hashes[i / 2];
  for (const double fpr : {0.01, 0.02}) {
    scalable_filter many(options{.keys = 500, .fpr = fpr});
    many.add_batch(hashes);
    scalable_filter one(options{.keys = 500, .fpr = fpr});
    for (const std::uint64_t hash : hashes) one.add(hash);
    EXPECT_EQ(joined(many), joined(one));
    EXPECT_EQ(many.keys(), one.keys());
  }
}

TEST(scalable, answers_many_as_it_answers_one) {
  const scalable_filter f = grown(5000, 100, 0.2);
  const auto hashes = sample_hashes(10'001, 1);
  std::vector<std::uint8_t> answers(hashes.size());
  f.contains_bytes(hashes, answers);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    ASSERT_EQ(answers[i] != 0, f.contains(hashes[i])) << i;
  }
}

void check_copies(scalable_filter f) {
  const auto words = joined(f);
  EXPECT_EQ(words.size() * 64, f.shape().bits);
  const scalable_view v(f.planned(), words, f.keys());
  EXPECT_EQ(joined(v), words);
  EXPECT_EQ(v.layers(), f.layers());
  EXPECT_EQ(v.contains_count(sample_hashes(40'000)), f.contains_count(sample_hashes(40'000)));
  scalable_filter copy(v);
  scalable_filter same = f;
  copy.add_batch(sample_hashes(50'000, 2));
  same.add_batch(sample_hashes(50'000, 2));
  f.add_batch(sample_hashes(50'000, 2));
  EXPECT_EQ(joined(copy), joined(f));
  EXPECT_EQ(joined(same), joined(f));
  const scalable_filter moved = std::move(f);
  EXPECT_EQ(joined(moved), joined(copy));
  same = moved;
  EXPECT_EQ(joined(same), joined(copy));
}

TEST(scalable, is_copied_moved_and_viewed) {
  check_copies(grown(20'000, 700));
  scalable_filter split(options{.keys = 700});
  split.add_batch(sample_hashes(21'000));  // nearly full: some are in the stash
  ASSERT_EQ(split.parts().size(), 3U);
  check_copies(split);
}

TEST(scalable, plans_the_filter_of_the_right_size_for_its_keys) {
  const scalable_filter f = grown(100'000, 100);
  blocked_filter one(f.compact_plan());
  one.add_batch(sample_hashes(100'000));
  EXPECT_EQ(one.contains_count(sample_hashes(100'000)), 100'000U);
  EXPECT_LE(one.fpr(), 0.01);
  EXPECT_LT(one.shape().bits * 18, f.shape().bits * 10);
}

TEST(scalable, grows_by_other_factors) {
  for (const std::uint32_t factor : {3U, 4U, 16U}) {
    scalable_filter f(sizing::make_plan(
        {.kind = filter_kind::scalable, .keys = 100, .fpr = 0.01, .variant = factor}));
    f.add_batch(sample_hashes(100'000));
    EXPECT_LE(f.fpr(), 0.01) << factor;
    EXPECT_EQ(f.contains_count(sample_hashes(100'000)), 100'000U);
  }
}

// Its last layer takes what comes when there is no next one.
TEST(scalable, keeps_every_key_after_its_last_layer) {
  scalable_filter f(
      sizing::make_plan({.kind = filter_kind::scalable, .keys = 1, .fpr = 0.5, .variant = 2}));
  while (f.layers() < 12) f.add(splitmix64(f.keys()));
  EXPECT_EQ(f.layers(), 12U);
}

TEST(scalable, refuses_hostile_words) {
  const scalable_filter f = grown(3000, 500);
  const auto good = joined(f);
  const auto refused = [&](auto change) {
    std::vector<std::uint64_t> words = good;
    change(words);
    plan p = f.planned();
    p.shape.bits = words.size() * 64;
    return throws(errc::corrupt, "damaged", [&] { scalable_view(p, words, 1); });
  };
  EXPECT_TRUE(refused([](auto& words) { words[0] = 0; }));
  EXPECT_TRUE(refused([](auto& words) { words[0] = 33; }));
  EXPECT_TRUE(refused([](auto& words) { words[0] = UINT64_MAX; }));
  EXPECT_TRUE(refused([](auto& words) { words[0] -= 1; }));
  EXPECT_TRUE(refused([](auto& words) { words[3] = 1; }));
  EXPECT_TRUE(refused([](auto& words) { words[8] = 0; }));
  EXPECT_TRUE(refused([](auto& words) { words[8] = UINT64_MAX; }));
  EXPECT_TRUE(refused([](auto& words) { words[8] += 1; }));
  EXPECT_TRUE(refused([](auto& words) { words[9] = 0; }));
  // More keys than a layer of any rate has: the next one would be as large.
  EXPECT_TRUE(refused([](auto& words) { words[9] = std::uint64_t{1} << 40U; }));
  EXPECT_TRUE(refused([](auto& words) { words[11] = 1; }));
  EXPECT_TRUE(refused([](auto& words) { words.resize(words.size() - 8); }));
  EXPECT_TRUE(refused([](auto& words) { words.resize(8); }));
  // Whatever else stands in the directory, a view answers and an owner grows without harm.
  for (std::size_t i = 0; i < 32; ++i) {
    std::vector<std::uint64_t> words = good;
    words[i] ^= splitmix64(i) | 1U;
    try {
      scalable_filter owner(scalable_view(f.planned(), words, 1));
      owner.add_batch(sample_hashes(100));
      EXPECT_EQ(owner.contains_count(sample_hashes(100)), 100U);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::corrupt);
    }
  }
}

}  // namespace
