// The spectral filter: what each of its three rules promises, and words from files.
#include "bloomery/sketch/spectral.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>
#include <vector>

#include "filter/samples.hpp"
#include "sketch/streams.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

static_assert(removable<spectral_filter> && countable<spectral_filter>);
static_assert(storable<spectral_filter> && storable<spectral_view>);
static_assert(queryable<spectral_view> && countable<spectral_view> && !updatable<spectral_view>);
static_assert(std::is_nothrow_move_constructible_v<spectral_filter>);

plan spectral_plan(std::uint32_t cell_bits = 16, std::uint32_t variant = 0,
                   std::uint32_t probes = 4, std::uint64_t cells = 192) {
  return {.shape = {.kind = filter_kind::spectral,
                    .probes = probes,
                    .cell_bits = cell_bits,
                    .variant = variant,
                    .bits = cells * cell_bits}};
}

std::uint64_t cell(const spectral_view& s, std::uint64_t index) {
  const std::uint32_t bits = s.shape().cell_bits;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
  return (detail::little_endian(s.words()[index * bits / 64]) >> (index * bits % 64)) & mask;
}

// Where the format says that the counters of a key are.
std::vector<std::uint64_t> places(const spectral_view& s, std::uint64_t hash, bool secondary) {
  std::vector<std::uint64_t> all;
  all.reserve(s.shape().probes);
  const auto& counters = s.counters();
  for (std::uint32_t j = 0; secondary && j < s.shape().probes; ++j) hash *= next_probe_multiplier;
  for (std::uint32_t j = 0; j < s.shape().probes; ++j) {
    all.push_back(secondary ? counters.primary + detail::multiply_high(hash, counters.secondary)
                            : detail::multiply_high(hash, counters.primary));
    hash *= next_probe_multiplier;
  }
  return all;
}

std::uint64_t least(const spectral_view& s, std::uint64_t hash, bool secondary) {
  std::uint64_t value = ~std::uint64_t{0};
  for (const std::uint64_t place : places(s, hash, secondary)) {
    value = std::min(value, cell(s, place));
  }
  return value;
}

class every_spectral : public testing::TestWithParam<std::pair<std::uint32_t, std::uint32_t>> {
 public:
  static spectral_filter made(std::uint32_t probes = 4) {
    return spectral_filter(spectral_plan(GetParam().first, GetParam().second, probes));
  }
  static std::uint32_t variant() { return GetParam().second; }
  static std::uint64_t most() { return ~std::uint64_t{0} >> (64 - GetParam().first); }
};

INSTANTIATE_TEST_SUITE_P(cells, every_spectral,
                         testing::Values(std::pair{8U, 0U}, std::pair{16U, 0U}, std::pair{32U, 0U},
                                         std::pair{64U, 0U}, std::pair{8U, 1U}, std::pair{16U, 1U},
                                         std::pair{32U, 1U}, std::pair{64U, 1U}, std::pair{8U, 2U},
                                         std::pair{16U, 2U}, std::pair{32U, 2U},
                                         std::pair{64U, 2U}));

TEST_P(every_spectral, keeps_its_promises_on_every_stream) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    spectral_filter s = made(1 + static_cast<std::uint32_t>(seed) % 6);
    std::map<std::uint64_t, std::uint64_t> truth;
    for (std::uint64_t i = 0; i < 300; ++i) {
      const std::uint64_t hash = sample_hash(sample_hash(i, seed) % 60);
      const std::uint64_t count = 1 + sample_hash(i, seed + 100) % 3;
      s.add(hash, count);
      truth[hash] += count;
    }
    for (const auto& [hash, count] : truth) {
      ASSERT_TRUE(s.contains(hash));
      ASSERT_GE(s.count(hash), 1U);
      ASSERT_LE(s.count(hash), s.count_at_most(hash));
      ASSERT_GE(s.count_at_most(hash), std::min(count, most()));
      ASSERT_TRUE(variant() == 2 || s.count(hash) >= std::min(count, most()));
    }
  }
}

TEST_P(every_spectral, counts_one_key_exactly_up_to_the_most) {
  spectral_filter s = made();
  const std::uint64_t hash = sample_hash(1);
  s.add(hash, most() - 1);
  EXPECT_EQ(s.count(hash), most() - 1);
  s.add(hash);
  s.add(hash, ~std::uint64_t{0});
  EXPECT_EQ(s.count(hash), most()) << "saturated, not wrapped";
  EXPECT_EQ(s.remove(hash), variant() != 1);
  EXPECT_EQ(s.count(hash), most()) << "and there it stays";
}

TEST_P(every_spectral, a_count_is_so_many_single_ones) {
  spectral_filter at_once = made();
  spectral_filter one_by_one = made();
  for (std::uint64_t i = 0; i < 60; ++i) {
    at_once.add(sample_hash(i % 40), i % 4);
    for (std::uint64_t n = 0; n < i % 4; ++n) one_by_one.add(sample_hash(i % 40));
  }
  EXPECT_EQ(words_of(at_once), words_of(one_by_one));
}

TEST_P(every_spectral, removes_what_was_added_or_refuses) {
  spectral_filter s = made();
  s.add_batch(sample_hashes(40));
  const auto before = words_of(s);
  if (variant() == 1) {
    EXPECT_FALSE(s.remove(sample_hash(1)));
    EXPECT_EQ(words_of(s), before);
    return;
  }
  EXPECT_FALSE(s.remove(sample_hash(1), 200));
  EXPECT_EQ(words_of(s), before) << "refused, so nothing changed";
  EXPECT_EQ(s.remove_batch(sample_hashes(20)), 20U);
  for (std::uint64_t i = 20; i < 40; ++i) ASSERT_TRUE(s.contains(sample_hash(i))) << i;
  for (std::uint64_t i = 20; i < 40; ++i) ASSERT_TRUE(s.remove(sample_hash(i))) << i;
  EXPECT_EQ(s.keys(), 0U);
  EXPECT_EQ(s.fill(), 0.0);
  EXPECT_EQ(s.contains_count(sample_hashes(100)), 0U);
  EXPECT_FALSE(s.remove(sample_hash(1)));
}

TEST_P(every_spectral, batches_do_what_single_calls_do) {
  for (const std::size_t count : {0U, 1U, 24U, 25U, 90U}) {
    const auto hashes = sample_hashes(count);
    const std::vector<std::uint64_t> counts(count, 2);
    spectral_filter one = made();
    spectral_filter batch = made();
    for (std::size_t i = 0; i < count; ++i) one.add(hashes[i]);
    for (std::size_t i = 0; i < count; ++i) one.add(hashes[i], counts[i]);
    batch.add_batch(hashes);
    batch.add_batch(hashes, counts);
    EXPECT_EQ(words_of(one), words_of(batch));
    EXPECT_EQ(one.keys(), batch.keys());
    const auto asked = sample_hashes(count + 70);
    std::vector<std::uint64_t> answers(asked.size());
    std::vector<std::uint64_t> bitmap((asked.size() + 63) / 64);
    std::vector<std::uint8_t> bytes(asked.size());
    batch.count_batch(asked, answers);
    batch.contains_bits(asked, bitmap);
    batch.contains_bytes(asked, bytes);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      ASSERT_EQ(answers[i], one.count(asked[i]));
      ASSERT_EQ(bytes[i] != 0, one.contains(asked[i]));
      ASSERT_EQ((bitmap[i / 64] >> (i % 64)) & 1U, bytes[i]);
    }
  }
}

TEST_P(every_spectral, opens_its_own_words) {
  spectral_filter s = made();
  s.add_batch(sample_hashes(40));
  const std::vector<std::uint64_t> words = words_of(s);
  const spectral_view view(s.planned(), words, s.keys());
  spectral_filter copy(view);
  for (const std::uint64_t hash : sample_hashes(200)) ASSERT_EQ(view.count(hash), s.count(hash));
  copy.add(sample_hash(3));
  s.add(sample_hash(3));
  EXPECT_EQ(words_of(copy), words_of(s));
  EXPECT_EQ(copy.keys(), s.keys());
  EXPECT_EQ(copy.fpr(), s.fpr());
  spectral_filter moved(std::move(s));
  EXPECT_EQ(words_of(moved), words_of(copy));
  s = spectral_filter(view);  // NOLINT(bugprone-use-after-move): that is the point
  EXPECT_EQ(words_of(s), words);
}

TEST_P(every_spectral, answers_whatever_the_words_say) {
  const plan p = spectral_plan(GetParam().first, variant());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto words = sample_hashes(p.shape.bits / 64, seed + 1);
    spectral_filter s((spectral_view(p, words, seed)));
    for (const std::uint64_t hash : sample_hashes(100, 7)) {
      s.add(hash, hash);
      s.remove(hash, hash >> 50U);
      s.remove(~hash);
    }
    EXPECT_LE(s.fpr(), 1.0);
  }
}

TEST_P(every_spectral, merges_unless_keys_may_be_in_one_second_filter_only) {
  spectral_filter a = made();
  spectral_filter b = made();
  spectral_filter both = made();
  for (std::uint64_t i = 0; i < 40; ++i) {
    a.add(sample_hash(i), 2);
    both.add(sample_hash(i), 2);
  }
  for (std::uint64_t i = 20; i < 60; ++i) {
    b.add(sample_hash(i), 3);
    both.add(sample_hash(i), 3);
  }
  if (variant() == 2) {
    EXPECT_TRUE(throws(errc::unsupported, "recurring minimum", [&] { a.merge(b); }));
    return;
  }
  a.merge(b);
  EXPECT_EQ(a.keys(), 80U);
  for (std::uint64_t i = 0; i < 60; ++i) {
    ASSERT_GE(a.count(sample_hash(i)), (i < 40 ? 2U : 0U) + (i >= 20 ? 3U : 0U)) << i;
  }
  if (variant() == 0) {
    EXPECT_EQ(words_of(a), words_of(both));
  }
}

// ---- the rules --------------------------------------------------------------------------------

TEST(spectral, minimal_increase_never_counts_more_than_minimum_selection) {
  spectral_filter selection(spectral_plan(32, 0));
  spectral_filter increase(spectral_plan(32, 1));
  const auto stream = hashes_of(zipf_stream(100, 3000, 0.7, 3));
  selection.add_batch(stream);
  increase.add_batch(stream);
  std::uint64_t less = 0;
  for (const std::uint64_t hash : sample_hashes(100)) {
    ASSERT_LE(increase.count(hash), selection.count(hash));
    less += increase.count(hash) < selection.count(hash) ? 1U : 0U;
  }
  EXPECT_GT(less, 50U);
}

TEST(spectral, minimal_increase_raises_the_least_and_leaves_the_rest) {
  spectral_filter s(spectral_plan(64, 1, 4));
  const auto at = places(s, sample_hash(0), false);
  ASSERT_EQ(std::set(at.begin(), at.end()).size(), 4U);
  const std::vector<std::uint64_t> before = {3, 2, 8, 5};
  for (std::size_t j = 0; j < 4; ++j) s.mutable_words()[at[j]] = detail::little_endian(before[j]);
  s.add(sample_hash(0), 4);
  const std::vector<std::uint64_t> after = {6, 6, 8, 6};
  for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(cell(s, at[j]), after[j]) << j;
}

TEST(spectral, a_counter_that_two_probes_meet_rises_once) {
  spectral_filter s(spectral_plan(16, 0, 6, 4));  // six probes, four counters
  s.add(sample_hash(0), 5);
  const auto at = places(s, sample_hash(0), false);
  for (const std::uint64_t place : at) EXPECT_EQ(cell(s, place), 5U);
  EXPECT_TRUE(s.remove(sample_hash(0), 5));
  EXPECT_EQ(s.fill(), 0.0);
}

// A key that shares exactly counter `shared` of `hash` in the primary filter, and none in the
// secondary.
std::uint64_t neighbour(const spectral_view& s, std::uint64_t hash, std::size_t shared) {
  const auto mine = places(s, hash, false);
  const auto mine_second = places(s, hash, true);
  for (std::uint64_t i = 0;; ++i) {
    const std::uint64_t other = sample_hash(i, 77);
    const auto met = [](const auto& a, std::uint64_t place) {
      return std::find(a.begin(), a.end(), place) != a.end();
    };
    const auto theirs = places(s, other, false);
    const auto theirs_second = places(s, other, true);
    bool good = true;
    for (std::size_t j = 0; j < mine.size(); ++j) {
      good = good && met(theirs, mine[j]) == (j == shared);
      good = good && !met(theirs_second, mine_second[j]);
    }
    if (good) return other;
  }
}

// The published rule counts a key in the second filter only while its minimum is single. Then this
// sequence leaves a count of 1 for a key that was added six times.
TEST(spectral, recurring_minimum_keeps_counting_in_the_second_filter) {
  spectral_filter s(spectral_plan(16, 2, 3, 600));
  const std::uint64_t x = sample_hash(0);
  const std::uint64_t a = neighbour(s, x, 0);
  const std::uint64_t b = neighbour(s, x, 1);
  const std::uint64_t c = neighbour(s, x, 2);
  s.add(b);
  s.add(c);
  s.add(x);  // 1 2 2: single, so it goes to the second filter with 1
  EXPECT_EQ(least(s, x, true), 1U);
  EXPECT_EQ(s.count(x), 1U);
  s.add(a);  // 2 2 2
  EXPECT_EQ(s.count(x), 2U);
  s.add(x, 5);  // 7 7 7: recurring
  EXPECT_EQ(least(s, x, true), 6U);
  EXPECT_EQ(s.count(x), 7U);
  s.add(b);
  s.add(c);  // 7 8 8: single again
  EXPECT_EQ(s.count_at_most(x), 7U);
  EXPECT_EQ(s.count(x), 6U) << "exact, where minimum selection says 7";
  EXPECT_TRUE(s.remove(x, 4));
  EXPECT_EQ(s.count(x), 2U);
}

TEST(spectral, a_counter_that_two_probes_meet_does_not_recur) {
  spectral_filter s(spectral_plan(16, 2, 3, 120));
  std::uint64_t i = 0;
  const auto meets = [&](std::uint64_t hash) {
    const auto at = places(s, hash, false);
    return at[0] == at[1] && at[0] != at[2];
  };
  while (!meets(sample_hash(i))) ++i;
  const std::uint64_t x = sample_hash(i);
  s.add(neighbour(s, x, 2));
  s.add(x);  // 1 1 2, but the ones are the same counter
  EXPECT_EQ(least(s, x, true), 1U) << "a single minimum, so it goes to the second filter";
}

// In a stream without removals only a key that seems to be in the second filter, but never was put
// there, can be counted too low.
TEST(spectral, recurring_minimum_is_never_too_low_for_keys_put_in_the_second_filter) {
  std::uint64_t put_there = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    spectral_filter s(spectral_plan(32, 2, 4, 1200));
    const auto stream = zipf_stream(250, 4000, 0.8, seed);
    const auto truth = counts_in(stream, 250);
    std::set<std::uint64_t> there;
    for (const std::uint32_t key : stream) {
      const std::uint64_t hash = sample_hash(key, seed);
      const bool before = least(s, hash, true) > 0;
      s.add(hash);
      if (!before && least(s, hash, true) > 0) there.insert(key);
    }
    for (std::uint32_t key = 0; key < 250; ++key) {
      const std::uint64_t hash = sample_hash(key, seed);
      const bool sure = there.count(key) != 0 || least(s, hash, true) == 0;
      ASSERT_TRUE(!sure || s.count(hash) >= truth[key]) << key;
    }
    put_there += there.size();
  }
  EXPECT_GT(put_there, 100U);
}

// ---- made and refused -------------------------------------------------------------------------

TEST(spectral, says_how_many_counters_are_saturated) {
  spectral_filter s(spectral_plan(8));
  EXPECT_EQ(s.most_count(), 255U);
  s.add(sample_hash(1), 254);
  EXPECT_EQ(s.saturated(), 0U);
  s.add(sample_hash(1));
  EXPECT_EQ(s.saturated(), s.shape().probes);
  EXPECT_EQ(s.count(sample_hash(1)), s.most_count());
}

TEST(spectral, is_made_from_options) {
  EXPECT_TRUE(made_from_bare_options<spectral_filter>);
  const spectral_filter plain(options{.keys = 1000, .fpr = 0.01});
  EXPECT_EQ(plain.rule(), spectral_rule::minimum_selection);
  EXPECT_EQ(plain.counters().secondary, 0U);
  const spectral_filter both(options{.keys = 1000, .fpr = 0.01}, spectral_rule::recurring_minimum);
  EXPECT_GE(both.counters().primary, 9580U);
  EXPECT_EQ(both.counters().secondary, both.shape().bits / 32 / 3);
  EXPECT_EQ(both.counters().primary + both.counters().secondary, both.shape().bits / 32);
}

TEST(spectral, refuses_what_it_cannot_be) {
  const auto refused = [](plan p, std::string_view text) {
    return throws(errc::bad_argument, text, [&] { spectral_filter{p}; });
  };
  EXPECT_TRUE(refused(spectral_plan(64, 2, 4, 2), "at least three counters"));
  EXPECT_TRUE(refused(spectral_plan(16, 3), "the variant is 3"));
  EXPECT_TRUE(refused(spectral_plan(4), "4"));
  plan other = spectral_plan();
  other.shape.kind = filter_kind::count_min;
  other.shape.variant = 0;
  EXPECT_TRUE(refused(other, "kind count-min given to a filter of kind spectral"));
  const std::vector<std::uint64_t> words(47);
  EXPECT_TRUE(throws(errc::bad_argument, "the number of words is 47",
                     [&] { spectral_view(spectral_plan(), words, 0); }));
  spectral_filter s(spectral_plan());
  EXPECT_TRUE(throws(errc::mismatch, "numbers of probes differ, 4 and 5",
                     [&] { s.merge(spectral_filter(spectral_plan(16, 0, 5))); }));
}

}  // namespace
