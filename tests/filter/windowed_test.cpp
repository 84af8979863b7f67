// The windowed filter: what it remembers, for how long, and what its image may say.

#include "bloomery/filter/windowed.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "filter/samples.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

windowed_filter in_time(std::uint64_t window, std::uint32_t generations,
                        std::uint64_t keys = 1000) {
  windowed_filter f(sizing::make_plan(
      {.kind = filter_kind::windowed, .keys = keys, .fpr = 1e-6, .variant = generations}));
  f.set_window(window);
  return f;
}

TEST(windowed, models_its_concepts) {
  static_assert(updatable<windowed_filter> && storable<windowed_filter>);
  static_assert(queryable<windowed_view> && storable<windowed_view> && !updatable<windowed_view>);
  static_assert(std::is_nothrow_move_constructible_v<windowed_filter>);
}

// At least T, at most T (1 + 1/g), at every moment, also for windows that no generation divides.
TEST(windowed, remembers_for_as_long_as_it_promises) {
  for (const std::uint32_t g : {1U, 2U, 3U, 7U, 63U}) {
    for (const std::uint64_t window : {63U, 100U, 1000U, 1009U}) {
      windowed_filter f = in_time(window, g);
      std::uint64_t now = 5'000;
      for (int i = 0; i < 60; ++i) {
        const std::uint64_t born = now += 37;
        f.advance(born);
        const std::uint64_t hash = sample_hash(born);
        f.add(hash);
        windowed_filter later = f;
        later.advance(born + window - 1);
        EXPECT_TRUE(later.contains(hash)) << g << " " << window;
        later.advance(born + window + window / g + 1);
        EXPECT_FALSE(later.contains(hash)) << g << " " << window;
      }
    }
  }
}

TEST(windowed, counts_keys_when_it_has_no_time) {
  constexpr std::uint64_t window = 1000;
  windowed_filter f(options{.keys = window, .fpr = 1e-6});
  EXPECT_FALSE(f.by_time());
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    f.add(sample_hash(i));
    if (i % 37 != 0 || i < 2 * window) continue;
    EXPECT_TRUE(f.contains(sample_hash(i - window + 1)));
    EXPECT_FALSE(f.contains(sample_hash(i - window - window / 4 - 1)));
  }
  f.advance(1'000'000'000);
  EXPECT_TRUE(f.contains(sample_hash(9'999))) << "time means nothing to it";
}

TEST(windowed, keeps_its_promise_beyond_the_planned_keys) {
  windowed_filter f = in_time(100, 4, 50);
  f.advance(1000);
  f.add_batch(sample_hashes(20'000));
  f.advance(1100);
  EXPECT_EQ(f.contains_count(sample_hashes(20'000)), 20'000U);
  EXPECT_EQ(f.keys(), 20'000U);
  EXPECT_GT(f.fpr(), 0.9);
  f.advance(1125);
  EXPECT_EQ(f.contains_count(sample_hashes(20'000)), 0U);
  EXPECT_EQ(f.keys(), 0U);
  EXPECT_EQ(f.fpr(), 0.0);
}

TEST(windowed, has_at_most_its_rate_when_the_window_is_full) {
  for (const double target : {0.1, 0.01, 0.001}) {
    windowed_filter f(options{.keys = 20'000, .fpr = target});
    f.add_batch(sample_hashes(60'000));
    EXPECT_LE(f.fpr(), target);
    constexpr double asked = 200'000;
    const auto passed = static_cast<double>(f.contains_count(sample_hashes(200'000, 5)));
    const double expected = asked * f.fpr();
    EXPECT_NEAR(passed, expected, 4 * std::sqrt(expected) + 4) << target;
  }
}

TEST(windowed, never_goes_back_in_time) {
  windowed_filter f = in_time(100, 4);
  f.advance(1000);
  f.add(1);
  f.advance(10);
  EXPECT_EQ(f.now(), 1000U);
  EXPECT_TRUE(f.contains(1));
}

TEST(windowed, survives_leaps_of_time) {
  windowed_filter f = in_time(100, 4);
  f.add(1);
  f.advance(UINT64_MAX);
  EXPECT_FALSE(f.contains(1));
  f.add(2);
  EXPECT_TRUE(f.contains(2));
}

TEST(windowed, adds_and_answers_many_as_one) {
  windowed_filter many(options{.keys = 3000, .fpr = 0.1});
  windowed_filter one(options{.keys = 3000, .fpr = 0.1});
  const auto hashes = sample_hashes(10'001);
  many.add_batch(hashes);
  for (const std::uint64_t hash : hashes) one.add(hash);
  EXPECT_EQ(words_of(many), words_of(one));
  std::vector<std::uint8_t> answers(hashes.size());
  one.contains_bytes(hashes, answers);
  for (std::size_t i = 0; i < hashes.size(); ++i)
    ASSERT_EQ(answers[i] != 0, one.contains(hashes[i]));
}

TEST(windowed, is_copied_moved_and_viewed) {
  windowed_filter f = in_time(100, 4);
  f.advance(1000);
  f.add_batch(sample_hashes(500));
  const auto words = words_of(f);
  windowed_view v(f.planned(), words, f.keys());
  EXPECT_EQ(v.keys(), 500U);
  EXPECT_EQ(v.contains_count(sample_hashes(500)), 500U);
  windowed_filter copy(v);
  EXPECT_EQ(words_of(copy), words);
  // A view can look at later times; its copy has forgotten then what the view has.
  v.advance(1125);
  EXPECT_EQ(v.contains_count(sample_hashes(500)), 0U);
  EXPECT_EQ(v.keys(), 0U);
  EXPECT_EQ(windowed_filter(v).contains_count(sample_hashes(500)), 0U);
  const windowed_filter moved = std::move(f);
  EXPECT_EQ(words_of(moved), words);
  copy = moved;
  EXPECT_EQ(words_of(copy), words);
}

TEST(windowed, refuses_windows_that_cannot_be) {
  windowed_filter f(options{.keys = 100});
  EXPECT_TRUE(throws(errc::bad_argument, "the window is 3", [&] { f.set_window(3); }));
  f.set_window(4);
  f.advance(1);
  EXPECT_TRUE(throws(errc::bad_argument, "was used", [&] { f.set_window(40); }));
}

TEST(windowed, refuses_hostile_words) {
  const windowed_filter f = in_time(100, 4, 20);
  const auto refused = [&](std::size_t at, std::uint64_t value) {
    auto words = words_of(f);
    words[at] = detail::little_endian(value);
    return throws(errc::corrupt, "its clock", [&] { windowed_view(f.planned(), words, 1); });
  };
  EXPECT_TRUE(refused(0, 0));
  EXPECT_TRUE(refused(0, 3));
  EXPECT_TRUE(refused(1, 2));
  EXPECT_TRUE(refused(3, 1));
  EXPECT_TRUE(refused(7, UINT64_MAX));
  EXPECT_TRUE(refused(13, 1));
  auto words = words_of(f);
  words.pop_back();
  EXPECT_TRUE(throws(errc::corrupt, "cut off", [&] { windowed_view(f.planned(), words, 1); }));
  plan p = f.planned();
  p.shape.bits += 512;
  EXPECT_TRUE(throws(errc::bad_argument, "whole number of blocks", [&] { windowed_filter{p}; }));
  // Any clock, any counts: it answers.
  for (std::uint64_t i = 0; i < 200; ++i) {
    auto garbage = words_of(f);
    for (std::size_t at : {0U, 2U, 8U, 9U, 12U}) garbage[at] = splitmix64(i * 16 + at) >> (i % 64);
    try {
      windowed_filter owner(windowed_view(f.planned(), garbage, 1));
      owner.advance(splitmix64(i));
      owner.add(i);
      EXPECT_TRUE(owner.contains(i));
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::corrupt);
    }
  }
}

}  // namespace
