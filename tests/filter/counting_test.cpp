// The counting filter: removal, counts, counters that stick, both layouts and all widths.
#include "bloomery/filter/counting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "filter/samples.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

static_assert(removable<counting_filter> && countable<counting_filter>);
static_assert(storable<counting_filter> && storable<counting_view>);
static_assert(queryable<counting_view> && countable<counting_view>);
static_assert(std::is_nothrow_move_constructible_v<counting_filter>);
static_assert(requires { counting_filter({.keys = 1000U, .fpr = 0.01}); });

struct layout {
  std::uint32_t width;
  std::uint32_t block_bits;
};
constexpr std::array<layout, 8> layouts = {
    {{2, 512}, {4, 512}, {8, 512}, {16, 512}, {2, 0}, {4, 0}, {8, 0}, {16, 0}}};

class counting_layouts : public testing::TestWithParam<layout> {
 protected:
  static plan planned(std::uint64_t keys, double fpr = 0.01) {
    return sizing::make_plan({.kind = filter_kind::counting,
                              .keys = keys,
                              .fpr = fpr,
                              .cell_bits = GetParam().width,
                              .block_bits = GetParam().block_bits});
  }
  // A line of counters, or a few: most probes of a key meet in the same ones.
  static plan tiny(std::uint32_t probes) {
    return {.shape = {.kind = filter_kind::counting,
                      .probes = probes,
                      .block_bits = GetParam().block_bits,
                      .cell_bits = GetParam().width,
                      .bits = GetParam().block_bits != 0 ? 512U : 64U}};
  }
  static std::uint64_t most() { return (std::uint64_t{1} << GetParam().width) - 1; }
};

INSTANTIATE_TEST_SUITE_P(counting_filter, counting_layouts, testing::ValuesIn(layouts),
                         [](const auto& tested) {
                           return (tested.param.block_bits != 0 ? "lines_" : "unblocked_") +
                                  std::to_string(tested.param.width);
                         });

TEST_P(counting_layouts, finds_every_hash_that_was_added) {
  for (const std::size_t keys : {1U, 10U, 20000U}) {
    counting_filter f(planned(keys));
    f.add_batch(sample_hashes(keys));
    EXPECT_EQ(f.keys(), keys);
    EXPECT_EQ(f.contains_count(sample_hashes(keys)), keys);
  }
}

TEST_P(counting_layouts, is_empty_at_first) {
  const counting_filter f(planned(1000));
  EXPECT_EQ(f.contains_count(sample_hashes(1000)), 0U);
  EXPECT_EQ(f.fill(), 0.0);
  EXPECT_EQ(f.fpr(), 0.0);
  EXPECT_EQ(f.saturated(), 0U);
}

// In a tiny filter the probes of an unblocked key meet again and again.
TEST_P(counting_layouts, removing_undoes_adding_while_nothing_sticks) {
  for (const std::uint32_t probes : {1U, 2U, 7U, 16U}) {
    counting_filter f(tiny(probes));
    for (std::uint64_t i = 0; i < 300; ++i) {
      const auto before = words_of(f);
      f.add(sample_hash(i));
      if (f.saturated() == 0) {
        counting_filter undone(f);
        EXPECT_TRUE(undone.remove(sample_hash(i)));
        ASSERT_EQ(words_of(undone), before) << probes << " probes, key " << i;
        ASSERT_EQ(undone.keys(), f.keys() - 1);
      }
      if (i % 2 == 1) {
        EXPECT_TRUE(f.remove(sample_hash(i - 1)));
      }
      ASSERT_EQ(f.contains(sample_hash(i)), true);
    }
  }
}

TEST_P(counting_layouts, is_empty_again_when_all_are_removed) {
  counting_filter f(planned(5000, 0.2));
  const auto hashes = sample_hashes(5000);
  f.add_batch(hashes);
  const bool stuck = f.saturated() != 0;
  EXPECT_EQ(stuck, GetParam().width == 2) << "2 bits are known to be few, 4 are not";
  EXPECT_EQ(f.remove_batch(hashes), 5000U);
  EXPECT_EQ(f.keys(), 0U);
  EXPECT_EQ(f.fill() == 0.0, !stuck);
}

TEST_P(counting_layouts, counts_a_lone_key_exactly) {
  for (const std::uint32_t probes : {1U, 3U, 16U}) {
    counting_filter f(tiny(probes));
    const std::uint64_t hash = sample_hash(probes);
    for (std::uint64_t times = 1; times <= std::min<std::uint64_t>(most() + 3, 300); ++times) {
      f.add(hash);
      ASSERT_EQ(f.count(hash), std::min(times, most()));
    }
  }
}

TEST_P(counting_layouts, never_counts_too_low) {
  counting_filter f(planned(3000, 0.05));
  const auto hashes = sample_hashes(1000);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    for (std::size_t times = 0; times <= i % 6; ++times) f.add(hashes[i]);
  }
  for (std::size_t i = 0; i < hashes.size(); i += 2) {
    for (std::size_t times = 0; times < i % 6; ++times) EXPECT_TRUE(f.remove(hashes[i]));
  }
  std::size_t exact = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::uint64_t truth = i % 2 == 0 ? 1 : i % 6 + 1;
    ASSERT_GE(f.count(hashes[i]), std::min(truth, most())) << i;
    exact += std::size_t{f.count(hashes[i]) == truth};
  }
  if (GetParam().width > 2) {
    EXPECT_GT(exact, 950U);
  }
}

TEST_P(counting_layouts, counters_that_stick_stay_and_are_reported) {
  counting_filter f(tiny(5));
  const std::uint64_t hash = sample_hash(1);
  for (std::uint64_t i = 0; i < most() + 2; ++i) f.add(hash);
  const std::uint64_t stuck = f.saturated();
  EXPECT_GE(stuck, 1U);
  EXPECT_LE(stuck, 5U);
  EXPECT_EQ(f.count(hash), most());
  for (std::uint64_t i = 0; i < 2 * most(); ++i) f.remove(hash);
  EXPECT_TRUE(f.contains(hash)) << "a stuck counter must never cause a false negative";
  EXPECT_EQ(f.saturated(), stuck);
}

// Full of stuck counters, other keys come and go: nobody is lost.
TEST_P(counting_layouts, sticking_never_loses_a_key) {
  counting_filter f(planned(200, 0.05));
  const auto stay = sample_hashes(200, 1);
  const auto go = sample_hashes(4000, 2);
  f.add_batch(stay);
  f.add_batch(go);
  EXPECT_EQ(f.remove_batch(go), go.size());
  EXPECT_EQ(f.contains_count(stay), stay.size());
}

TEST_P(counting_layouts, refuses_to_remove_what_is_surely_not_there) {
  counting_filter f(planned(1000));
  f.add_batch(sample_hashes(1000));
  const auto before = words_of(f);
  std::size_t refused = 0;
  for (const std::uint64_t hash : sample_hashes(2000, 9)) {
    if (f.contains(hash)) continue;
    ASSERT_FALSE(f.remove(hash));
    ++refused;
  }
  EXPECT_GT(refused, 1900U);
  EXPECT_EQ(words_of(f), before);
  EXPECT_EQ(f.keys(), 1000U);
}

TEST_P(counting_layouts, does_many_as_it_does_one) {
  const auto all = sample_hashes(1000);
  for (const std::size_t count : {0U, 1U, 23U, 24U, 25U, 64U, 65U, 256U, 257U, 1000U}) {
    counting_filter one(planned(500, 0.1));
    counting_filter many(planned(500, 0.1));
    const std::span hashes = std::span(all).first(count);
    for (const std::uint64_t hash : hashes) one.add(hash);
    many.add_batch(hashes);
    ASSERT_EQ(words_of(one), words_of(many));
    // Half of them were added, and some twice removed.
    std::vector<std::uint64_t> gone(all.begin(),
                                    all.begin() + static_cast<std::ptrdiff_t>(count / 2));
    gone.insert(gone.end(), gone.begin(), gone.end());
    std::size_t removed = 0;
    for (const std::uint64_t hash : gone) removed += std::size_t{one.remove(hash)};
    EXPECT_EQ(many.remove_batch(gone), removed);
    ASSERT_EQ(words_of(one), words_of(many));
    EXPECT_EQ(one.keys(), many.keys());

    std::vector<std::uint8_t> expected(all.size());
    std::vector<std::uint32_t> expected_indexes;
    std::vector<std::uint64_t> expected_counts(all.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      expected[i] = one.contains(all[i]) ? 1 : 0;
      expected_counts[i] = one.count(all[i]);
      if (expected[i] != 0) expected_indexes.push_back(i);
      ASSERT_EQ(expected_counts[i] != 0, expected[i] != 0);
    }
    std::vector<std::uint8_t> bytes(all.size(), 0xee);
    many.contains_bytes(all, bytes);
    EXPECT_EQ(bytes, expected);
    std::vector<std::uint64_t> counts(all.size());
    many.count_batch(all, counts);
    EXPECT_EQ(counts, expected_counts);
    EXPECT_EQ(many.contains_count(all), expected_indexes.size());
    std::vector<std::uint32_t> indexes(all.size());
    indexes.resize(many.contains_indexes(all, indexes));
    EXPECT_EQ(indexes, expected_indexes);
  }
}

TEST_P(counting_layouts, opens_from_words_and_copies_and_moves) {
  counting_filter f(planned(300));
  f.add_batch(sample_hashes(300));
  const counting_view view(f.planned(), f.words(), f.keys());
  EXPECT_EQ(view.contains_count(sample_hashes(300)), 300U);
  EXPECT_EQ(view.fpr(), f.fpr());
  EXPECT_EQ(view.words().data(), f.words().data());

  counting_filter owner(view);
  EXPECT_EQ(words_of(owner), words_of(f));
  EXPECT_EQ(owner.keys(), 300U);
  EXPECT_NE(owner.words().data(), f.words().data());
  counting_filter copy = owner;
  copy.add(sample_hash(1, 7));
  EXPECT_NE(words_of(copy), words_of(owner));
  const std::uint64_t* const memory = copy.words().data();
  counting_filter moved = std::move(copy);
  EXPECT_EQ(moved.words().data(), memory);
  EXPECT_TRUE(moved.contains(sample_hash(1, 7)));
  owner = moved;
  EXPECT_EQ(words_of(owner), words_of(moved));
  owner = counting_filter(planned(10));
  EXPECT_EQ(owner.keys(), 0U);
}

// Any content is a filter: nothing in the words is a size or an address.
TEST_P(counting_layouts, answers_whatever_the_words_are) {
  const plan p = planned(100);
  std::vector<std::uint64_t> words(static_cast<std::size_t>(p.shape.bits / 64));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = sample_hash(i, seed);
    counting_filter f(counting_view(p, words, seed % 2));
    f.add_batch(sample_hashes(200));
    (void)f.remove_batch(sample_hashes(400));
    EXPECT_GE(f.fpr(), 0.0);
    EXPECT_LE(f.fpr(), 1.0);
    EXPECT_LE(f.fill(), 1.0);
  }
  std::fill(words.begin(), words.end(), ~std::uint64_t{0});
  const counting_view full(p, words, 0);
  EXPECT_DOUBLE_EQ(full.fpr(), 1.0);
  EXPECT_EQ(full.saturated(), full.counters());
  EXPECT_TRUE(throws(errc::bad_argument, "the number of words", [&] {
    const counting_view short_one(p, std::span(words).first(words.size() - 1), 0);
  }));
}

TEST(counting_filter, refuses_shapes_that_are_not_its_own) {
  const std::array<std::uint64_t, 8> words{};
  const auto open = [&](const shape& s) { return counting_view(plan{.shape = s}, words, 0); };
  const shape good{
      .kind = filter_kind::counting, .probes = 4, .block_bits = 512, .cell_bits = 4, .bits = 512};
  EXPECT_NO_THROW((void)open(good));
  shape s = good;
  s.kind = filter_kind::blocked;
  s.cell_bits = 0;
  EXPECT_TRUE(throws(errc::bad_argument, "blocked", [&] { (void)open(s); }));
  s = good;
  s.cell_bits = 3;
  EXPECT_TRUE(throws(errc::bad_argument, "power of two", [&] { (void)open(s); }));
  s = good;
  s.probes = 17;
  EXPECT_TRUE(throws(errc::bad_argument, "17", [&] { (void)open(s); }));
  s.block_bits = 0;
  s.probes = 64;
  EXPECT_NO_THROW((void)open(s));
}

// The positions of one key, spelt out from the text of the format.
TEST(counting_filter, has_the_positions_of_the_format) {
  constexpr std::array<std::uint32_t, 16> c = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                               0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
                                               0xd1b54a33, 0x6c8e944d, 0xb5297a4d, 0x1b56c4e9,
                                               0xe7037ed1, 0x3c6ef373, 0xf39cc061, 0x82a2b175};
  for (const layout l : layouts) {
    plan p{.shape = {.kind = filter_kind::counting,
                     .probes = 4,
                     .block_bits = l.block_bits,
                     .cell_bits = l.width,
                     .bits = 512 * 37}};
    const std::uint64_t counters = p.shape.bits / l.width;
    for (std::uint64_t i = 0; i < 50; ++i) {
      const std::uint64_t h = sample_hash(i);
      counting_filter f(p);
      f.add(h);
      std::vector<std::uint64_t> expected;
      if (l.block_bits != 0) {
        const auto block =
            static_cast<std::uint64_t>((static_cast<detail::uint128>(h) * 37) >> 64U);
        const auto x = static_cast<std::uint32_t>(h);
        const std::uint32_t r = (x >> 16U) & 15U;
        for (std::uint32_t lane = 0; lane < 16; ++lane) {
          if (((0x0053U >> ((lane + r) & 15U)) & 1U) == 0) continue;
          std::uint32_t shift = 27;  // 32 - log2(32 / w)
          for (std::uint32_t w = l.width; w > 1; w /= 2) ++shift;
          const std::uint32_t in_lane = (x * c[lane]) >> shift;
          expected.push_back((block * 512 + lane * 32) / l.width + in_lane);
        }
      } else {
        std::uint64_t g = h;
        for (int j = 0; j < 4; ++j, g *= 0xd1342543de82ef95U) {
          expected.push_back(
              static_cast<std::uint64_t>((static_cast<detail::uint128>(g) * counters) >> 64U));
        }
      }
      std::sort(expected.begin(), expected.end());
      expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
      std::vector<std::uint64_t> found;
      for (std::uint64_t n = 0; n < counters; ++n) {
        const std::uint64_t value = detail::get_cell(f.words().data(), n * l.width, l.width);
        if (value != 0) found.push_back(n);
        ASSERT_LE(value, 1U);
      }
      ASSERT_EQ(found, expected) << "width " << l.width << ", block " << l.block_bits;
    }
  }
}

}  // namespace
