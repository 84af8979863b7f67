// The windowed filter: what it remembers, for how long, and what its image may say.

#include "bloomery/filter/windowed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
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

TEST(windowed, keeps_its_rate_however_fast_the_keys_come) {
  for (const std::uint32_t g : {1U, 4U, 9U}) {
    windowed_filter f(sizing::make_plan(
        {.kind = filter_kind::windowed, .keys = 10'000, .fpr = 0.01, .variant = g}));
    f.set_window(3600);
    f.advance(1'000'000);
    f.add_batch(sample_hashes(10'000));
    EXPECT_EQ(f.contains_count(sample_hashes(10'000)), 10'000U) << "as many as planned, at once";
    EXPECT_EQ(f.covered(), 3600U);
    f.add_batch(sample_hashes(150'000));
    EXPECT_LE(f.fpr(), 0.01);
    constexpr double asked = 100'000;
    const auto passed = static_cast<double>(f.contains_count(sample_hashes(100'000, 5)));
    EXPECT_NEAR(passed, asked * f.fpr(), 5 * std::sqrt(asked * f.fpr()) + 5);
    // The last of them are there, and it says that it knows no more than this moment.
    const auto all = sample_hashes(150'000);
    EXPECT_EQ(f.contains_count(std::span(all).last(10'000)), 10'000U);
    EXPECT_LE(f.keys(), 10'000 * (g + 1) / g + g + 1);
    EXPECT_EQ(f.covered(), 0U);
    f.advance(1'000'000 + 1800);
    EXPECT_EQ(f.covered(), 1799U) << "nothing is forgotten while nothing comes";
    f.advance(1'000'000 + 3601);
    EXPECT_EQ(f.covered(), 3600U);
    EXPECT_EQ(f.keys(), 0U);
    EXPECT_EQ(f.fpr(), 0.0);
  }
}

// What it says that it covers it does, whatever comes. A key goes early only when what came since,
// in shares of the window's time and of the planned keys, is a whole window at least.
TEST(windowed, covers_what_it_says) {
  constexpr std::uint64_t keys = 240;
  constexpr std::uint64_t window = 600;
  struct arrival {
    std::uint64_t time;
    std::uint64_t hash;
  };
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    windowed_filter f = in_time(window, 1 + static_cast<std::uint32_t>(seed), keys);
    std::vector<arrival> all;
    std::uint64_t now = 10'000;
    std::uint64_t least = window;
    for (std::uint64_t step = 0; step < 400; ++step) {
      const std::uint64_t random = splitmix64(seed * 1000 + step);
      now += random % 16 == 0 ? random / 16 % 500 : random % 5;  // bursts, and pauses in between
      f.advance(now);
      const std::uint64_t count = step < 100 ? 1 : random / 64 % 20;
      for (std::uint64_t i = 0; i < count; ++i) {
        all.push_back({now, sample_hash(all.size())});
        f.add(all.back().hash);
      }
      if (step < 100) {
        EXPECT_EQ(f.covered(), window) << "no faster than planned";
      }
      least = std::min(least, f.covered());
      for (std::size_t i = 0; i < all.size(); ++i) {
        const std::uint64_t age = now - all[i].time;
        const double part =
            static_cast<double>(age) / window + static_cast<double>(all.size() - 1 - i) / keys;
        if (age <= f.covered() || part < 1) {
          ASSERT_TRUE(f.contains(all[i].hash)) << seed << " " << step << " " << age;
        }
      }
    }
    EXPECT_LT(least, window / 2) << "it was tried";
  }
}

TEST(windowed, forgets_nothing_for_keys_that_it_has) {
  for (const bool by_time : {false, true}) {
    windowed_filter f(options{.keys = 1000, .fpr = 1e-6});
    if (by_time) f.set_window(100);
    f.add_batch(sample_hashes(500));
    const std::vector<std::uint64_t> hot(20'000, sample_hash(7));
    f.add_batch(hot);
    for (int i = 0; i < 5000; ++i) f.add(sample_hash(8));
    EXPECT_EQ(f.contains_count(sample_hashes(500)), 500U);
    EXPECT_EQ(f.keys(), 25'500U) << "every call counts";
    EXPECT_EQ(f.covered(), f.window());
  }
}

TEST(windowed, is_cleared_and_its_clock_goes_on) {
  windowed_filter f = in_time(100, 4, 50);
  f.advance(1000);
  f.add_batch(sample_hashes(500));
  EXPECT_LT(f.covered(), 100U);
  f.clear();
  EXPECT_EQ(f.contains_count(sample_hashes(500)), 0U);
  EXPECT_EQ(f.keys(), 0U);
  EXPECT_EQ(f.fill(), 0.0);
  EXPECT_EQ(f.covered(), 100U);
  EXPECT_EQ(f.now(), 1000U);
  f.add(1);
  f.advance(1100);
  EXPECT_TRUE(f.contains(1));
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

// Generations share a line where that takes about half as much again at most.
TEST(windowed, has_few_lines) {
  struct expected {
    std::uint32_t generations;
    double fpr;
    std::uint32_t sharing;
    std::uint32_t lines;
  };
  for (const expected& e :
       {expected{1, 0.01, 2, 1}, expected{3, 0.001, 4, 1}, expected{4, 0.1, 5, 1},
        expected{4, 0.01, 5, 1}, expected{4, 0.001, 2, 3}, expected{4, 1e-6, 1, 5},
        expected{63, 0.01, 4, 16}}) {
    sizing::request r{
        .kind = filter_kind::windowed, .keys = 100'000, .fpr = e.fpr, .variant = e.generations};
    const plan p = sizing::make_plan(r);
    EXPECT_EQ(p.shape.cell_bits, e.sharing) << e.generations << " " << e.fpr;
    EXPECT_EQ(sizing::lines_of_lookup(p.shape), e.lines);
    EXPECT_EQ(sizing::lines_of_add(p.shape), 1U);
    r.cell_bits = 1;
    const std::uint64_t apart = sizing::make_plan(r).shape.bits;
    EXPECT_LE(p.shape.bits, apart + apart * 6 / 10);
    // As many bits make the same geometry, and nearly the same rate. Where no line is shared they
    // would do for shared ones too, at the higher rate that these have half as much again for.
    if (e.sharing == 1) continue;
    r.cell_bits = {};
    r.fpr = {};
    r.bytes = p.shape.bits / 8;
    const plan same = sizing::make_plan(r);
    EXPECT_EQ(same.shape.cell_bits, e.sharing) << e.generations << " " << e.fpr;
    EXPECT_LE(same.shape.bits, p.shape.bits);
    EXPECT_NEAR(same.fpr / p.fpr, 1, 0.05) << e.generations << " " << e.fpr;
  }
}

// Whatever the number of generations in a line, the model is right, and so is what the bits say.
TEST(windowed, has_the_rate_of_the_model_in_every_geometry) {
  for (const std::uint32_t g : {4U, 9U}) {
    for (std::uint32_t sharing = 1; sharing <= g + 1; ++sharing) {
      constexpr std::uint64_t keys = 45'000;
      windowed_filter f(sizing::make_plan({.kind = filter_kind::windowed,
                                           .keys = keys,
                                           .fpr = 0.02,
                                           .cell_bits = sharing,
                                           .variant = g}));
      EXPECT_EQ(f.shape().cell_bits, sharing);
      const auto hashes = sample_hashes(keys + keys / g);
      f.add_batch(hashes);
      EXPECT_EQ(f.contains_count(hashes), hashes.size());
      EXPECT_NEAR(f.fpr() / f.planned().fpr, 1, 0.05) << g << " " << sharing;
      constexpr double asked = 100'000;
      const auto absent = sample_hashes(100'000, 5);
      const auto passed = static_cast<double>(f.contains_count(absent));
      EXPECT_NEAR(passed, asked * f.fpr(), 4 * std::sqrt(asked * f.fpr())) << g << " " << sharing;
      double in_blocks = 0;
      for (const std::uint64_t hash : std::span(absent).first(5000)) in_blocks += f.fpr_at(hash);
      EXPECT_NEAR(in_blocks / 5000 / f.fpr(), 1, 0.1);
      for (const std::uint64_t hash : std::span(absent).first(5000)) {
        EXPECT_EQ(f.contains(hash), f.contains_count(std::span(&hash, 1)) != 0);
      }
    }
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
  windowed_filter fast = in_time(1000, 4, 300);
  windowed_filter slow = in_time(1000, 4, 300);
  for (std::size_t i = 0; i < hashes.size(); i += 700) {
    // Half of them come again, so that generations fill up within a batch and after it.
    const auto some = std::span(hashes).subspan(i / 2, std::min<std::size_t>(700, 10'001 - i));
    for (windowed_filter* f : {&fast, &slow}) f->advance(i / 10);
    fast.add_batch(some);
    for (const std::uint64_t hash : some) slow.add(hash);
    ASSERT_EQ(words_of(fast), words_of(slow));
  }
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
  windowed_filter filled(options{.keys = 100});
  filled.add(1);
  EXPECT_TRUE(throws(errc::bad_argument, "was used", [&] { filled.set_window(40); }));
}

// A file may say that a generation has seen any number of keys.
TEST(windowed, counts_to_the_end) {
  windowed_filter f = in_time(100, 4, 20);
  f.advance(77);
  f.add(1);
  auto words = words_of(f);
  words[8] = detail::little_endian(UINT64_MAX);
  windowed_filter full(windowed_view(f.planned(), words, 1));
  full.add(2);
  full.add(3);
  EXPECT_EQ(full.keys(), UINT64_MAX);
  EXPECT_NO_THROW(windowed_view(full.planned(), words_of(full), 1));
}

// As a forged file may have them: nothing else is wrong with it.
TEST(windowed, has_nothing_in_slots_that_say_they_are_empty) {
  windowed_filter empty({.keys = 1000});
  std::vector<std::uint64_t> words(empty.words().begin(), empty.words().end());
  const std::size_t blocks = words.size() / 2;  // the clock and the slots are before that
  std::fill(words.begin() + static_cast<std::ptrdiff_t>(blocks), words.end(), UINT64_MAX);
  windowed_filter f(windowed_view(empty.planned(), words, 0));
  for (std::uint64_t i = 0; i < 100; ++i) f.add(sample_hash(i));
  std::uint64_t found = 0;
  for (std::uint64_t i = 100; i < 1100; ++i) found += f.contains(sample_hash(i)) ? 1U : 0U;
  EXPECT_LT(found, 100U);
}

TEST(windowed, refuses_hostile_words) {
  windowed_filter f = in_time(100, 4, 20);
  f.advance(77);
  f.add(1);
  const auto refused = [&](std::size_t at, std::uint64_t value) {
    auto words = words_of(f);
    words[at] = detail::little_endian(value);
    return throws(errc::corrupt, "its clock", [&] { windowed_view(f.planned(), words, 1); });
  };
  EXPECT_TRUE(refused(0, 0));   // the window
  EXPECT_TRUE(refused(0, 3));   // less than its generations
  EXPECT_TRUE(refused(1, 2));   // by time or not
  EXPECT_TRUE(refused(1, 0));   // not, and yet there is a time
  EXPECT_TRUE(refused(3, 0));   // the keys of a generation
  EXPECT_TRUE(refused(4, 5));   // the current slot of five
  EXPECT_TRUE(refused(5, 78));  // began later than now
  EXPECT_TRUE(refused(6, 79));  // forgot what is to come
  EXPECT_TRUE(refused(6, UINT64_MAX));
  EXPECT_TRUE(refused(7, 1));          // reserved
  EXPECT_TRUE(refused(9, 2));          // more keys stored than added
  EXPECT_TRUE(refused(10, 78));        // added later than now
  EXPECT_TRUE(refused(11, 1));         // reserved
  EXPECT_TRUE(refused(8 + 5 * 4, 1));  // behind the last slot
  EXPECT_FALSE(refused(6, 78));
  EXPECT_FALSE(refused(10, 77));
  auto words = words_of(f);
  words.pop_back();
  EXPECT_TRUE(throws(errc::corrupt, "cut off", [&] { windowed_view(f.planned(), words, 1); }));
  plan p = f.planned();
  p.shape.cell_bits = 2;  // three lines a block
  p.shape.bits = (4 + 3 * 2 + 1) * bits_per_block;
  EXPECT_TRUE(throws(errc::bad_argument, "whole number of blocks", [&] { windowed_filter{p}; }));
  p.shape.bits = 4 * bits_per_block;
  EXPECT_TRUE(throws(errc::bad_argument, "whole number of blocks", [&] { windowed_filter{p}; }));
  for (const std::uint32_t bad : {0U, 6U, 17U}) {
    p.shape.cell_bits = bad;
    EXPECT_TRUE(throws(errc::bad_argument, "bits in a cell", [&] { windowed_filter{p}; }));
    EXPECT_TRUE(
        throws(errc::bad_argument, "bits in a cell", [&] { windowed_view(p, words_of(f), 1); }));
  }
  // Any clock, any counts: it answers.
  for (std::uint64_t i = 0; i < 200; ++i) {
    auto garbage = words_of(f);
    for (std::size_t at : {0U, 2U, 3U, 4U, 5U, 6U, 8U, 9U, 10U, 12U})
      garbage[at] = splitmix64(i * 16 + at) >> (i % 64);
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
