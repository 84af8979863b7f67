// The count-min sketch: what it never does, whatever the stream; the survey's figure 2; words from
// files.
#include "bloomery/sketch/count_min.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <type_traits>
#include <vector>

#include "filter/samples.hpp"
#include "sketch/streams.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

static_assert(updatable<count_min> && removable<count_min> && countable<count_min>);
static_assert(storable<count_min> && storable<count_min_view>);
static_assert(queryable<count_min_view> && countable<count_min_view> && !updatable<count_min_view>);
static_assert(std::is_nothrow_move_constructible_v<count_min>);

plan small_plan(std::uint32_t cell_bits = 32, std::uint32_t variant = 0, std::uint32_t depth = 3,
                std::uint64_t bits = 512 + 2048) {
  return {.shape = {.kind = filter_kind::count_min,
                    .probes = depth,
                    .cell_bits = cell_bits,
                    .variant = variant,
                    .bits = bits}};
}

std::uint64_t cell(const count_min_view& s, std::uint64_t row, std::uint64_t column) {
  const std::uint32_t bits = s.shape().cell_bits;
  const std::uint64_t at = 512 + (row * s.width() + column) * bits;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
  return (detail::little_endian(s.words()[at / 64]) >> (at % 64)) & mask;
}

std::uint64_t column(const count_min_view& s, std::uint64_t hash, std::uint32_t row) {
  for (std::uint32_t j = 0; j < row; ++j) hash *= next_probe_multiplier;
  return detail::multiply_high(hash, s.width());
}

TEST(count_min, adds_below_a_limit_at_places_as_by_hash) {
  for (const std::uint32_t depth : {1U, 3U, 4U, 5U}) {
    for (const std::uint32_t cell_bits : {16U, 64U}) {
      for (const std::uint32_t variant : {0U, 1U, 2U, 3U, 4U, 5U}) {
        if (variant >= 4 && depth * cell_bits > 256) continue;  // no room in a line
        const plan p = small_plan(cell_bits, variant, depth, 512 + 8192);
        count_min by_hash(p);
        count_min at_places(p);
        std::vector<std::uint64_t> places(depth);
        for (std::uint64_t i = 0; i < 2000; ++i) {
          const std::uint64_t hash = splitmix64(splitmix64(i) % 300);
          at_places.locate(hash, places.data());
          EXPECT_EQ(at_places.add_below_at(places.data(), i % 90, 1500),
                    by_hash.add_below(hash, i % 90, 1500));
        }
        EXPECT_TRUE(std::ranges::equal(by_hash.words(), at_places.words()));
        EXPECT_EQ(by_hash.keys(), at_places.keys());
      }
    }
  }
}

// Every kind of counter, with and without conservative update, with every kind of rows.
class every_count_min : public testing::TestWithParam<std::pair<std::uint32_t, std::uint32_t>> {
 public:
  static count_min made(std::uint32_t depth = 3, std::uint64_t bits = 512 + 2048) {
    const auto [cell_bits, variant] = GetParam();
    if (variant >= 4) depth = std::min(depth, 256 / cell_bits);  // what a line has room for
    return count_min(small_plan(cell_bits, variant, depth, bits));
  }
  static std::uint64_t most() { return ~std::uint64_t{0} >> (64 - GetParam().first); }
};

INSTANTIATE_TEST_SUITE_P(cells, every_count_min,
                         testing::Values(std::pair{8U, 0U}, std::pair{16U, 0U}, std::pair{32U, 0U},
                                         std::pair{64U, 0U}, std::pair{8U, 1U}, std::pair{16U, 1U},
                                         std::pair{32U, 1U}, std::pair{64U, 1U}, std::pair{8U, 2U},
                                         std::pair{32U, 2U}, std::pair{16U, 3U}, std::pair{64U, 3U},
                                         std::pair{8U, 4U}, std::pair{16U, 4U}, std::pair{32U, 4U},
                                         std::pair{64U, 4U}, std::pair{8U, 5U}, std::pair{16U, 5U},
                                         std::pair{32U, 5U}, std::pair{64U, 5U}));

TEST_P(every_count_min, is_never_too_low_unless_saturated) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    count_min s = made(1 + static_cast<std::uint32_t>(seed) % 5);
    std::map<std::uint64_t, std::uint64_t> truth;
    for (std::uint64_t i = 0; i < 400; ++i) {
      const std::uint64_t hash = sample_hash(sample_hash(i, seed) % 90);
      const std::uint64_t count = sample_hash(i, seed + 100) % 4;
      s.add(hash, count);
      truth[hash] += count;
    }
    std::uint64_t total = 0;
    for (const auto& [hash, count] : truth) {
      ASSERT_GE(s.count(hash), std::min(count, most()));
      ASSERT_LE(s.count(hash), s.total());
      total += count;
    }
    EXPECT_EQ(s.total(), total);
  }
}

TEST_P(every_count_min, counts_one_key_exactly_up_to_the_most) {
  count_min s = made();
  const std::uint64_t hash = sample_hash(1);
  s.add(hash, most() - 1);
  EXPECT_EQ(s.count(hash), most() - 1);
  s.add(hash);
  EXPECT_EQ(s.count(hash), most());
  s.add(hash, ~std::uint64_t{0});
  EXPECT_EQ(s.count(hash), most()) << "saturated, not wrapped";
  EXPECT_EQ(s.total(), ~std::uint64_t{0});
}

TEST_P(every_count_min, saturated_counters_stay) {
  if (GetParam().second % 2 == 1) return;
  count_min s = made();
  s.add(sample_hash(1), most());
  EXPECT_TRUE(s.remove(sample_hash(1), 5));
  EXPECT_EQ(s.count(sample_hash(1)), most());
  s.add(sample_hash(2), 3);
  EXPECT_TRUE(s.remove(sample_hash(2), 3));
}

TEST_P(every_count_min, conservative_refuses_and_plain_undoes_removal) {
  count_min s = made();
  s.add_batch(sample_hashes(50));
  const auto before = words_of(s);
  s.add(sample_hash(7), 3);
  if (GetParam().second % 2 == 1) {
    EXPECT_FALSE(s.remove(sample_hash(7)));
    EXPECT_EQ(s.remove_batch(sample_hashes(50)), 0U);
    return;
  }
  EXPECT_TRUE(s.remove(sample_hash(7), 3));
  EXPECT_EQ(words_of(s), before);
  EXPECT_EQ(s.keys(), 50U);
  EXPECT_FALSE(s.remove(sample_hash(7), 1000 < most() ? 1000 : most() - 1))
      << "more than was added";
  EXPECT_EQ(words_of(s), before) << "refused, so nothing changed";
  EXPECT_EQ(s.remove_batch(sample_hashes(50)), 50U);
  EXPECT_EQ(words_of(s), words_of(made())) << "all gone, the total too";
}

TEST_P(every_count_min, batches_do_what_single_calls_do) {
  for (const std::size_t count : {0U, 1U, 23U, 24U, 25U, 300U}) {
    const auto hashes = sample_hashes(count);
    std::vector<std::uint64_t> counts;
    counts.reserve(count);
    for (std::size_t i = 0; i < count; ++i) counts.push_back(i % 4);
    count_min one = made();
    count_min batch = made();
    for (std::size_t i = 0; i < count; ++i) one.add(hashes[i]);
    for (std::size_t i = 0; i < count; ++i) one.add(hashes[i], counts[i]);
    batch.add_batch(hashes);
    batch.add_batch(hashes, counts);
    EXPECT_EQ(words_of(one), words_of(batch));
    EXPECT_EQ(one.keys(), batch.keys());
    const auto asked = sample_hashes(count + 70, 1);
    std::vector<std::uint64_t> answers(asked.size());
    std::vector<std::uint8_t> bytes(asked.size());
    std::vector<std::uint32_t> indexes(asked.size());
    batch.count_batch(asked, answers);
    batch.contains_bytes(asked, bytes);
    const std::size_t found = batch.contains_indexes(asked, indexes);
    EXPECT_EQ(found, batch.contains_count(asked));
    for (std::size_t i = 0; i < asked.size(); ++i) {
      ASSERT_EQ(answers[i], one.count(asked[i]));
      ASSERT_EQ(bytes[i] != 0, answers[i] > 0);
      ASSERT_EQ(std::binary_search(indexes.begin(),
                                   indexes.begin() + static_cast<std::ptrdiff_t>(found), i),
                answers[i] > 0);
    }
  }
}

TEST_P(every_count_min, merged_sums_are_never_too_low) {
  count_min a = made();
  count_min b = made();
  count_min both = made();
  for (std::uint64_t i = 0; i < 60; ++i) {
    a.add(sample_hash(i), 2);
    b.add(sample_hash(i + 30), 3);
    both.add(sample_hash(i), 2);
    both.add(sample_hash(i + 30), 3);
  }
  a.merge(b);
  EXPECT_EQ(a.total(), 300U);
  EXPECT_EQ(a.keys(), 120U);
  for (std::uint64_t i = 0; i < 90; ++i) {
    ASSERT_GE(a.count(sample_hash(i)), (i < 60 ? 2U : 0U) + (i >= 30 ? 3U : 0U)) << i;
  }
  if (GetParam().second % 2 == 0) {
    EXPECT_EQ(words_of(a), words_of(both));
  }
}

TEST_P(every_count_min, tells_each_count_as_it_is_after_its_own_addition) {
  const std::vector<std::uint64_t> hashes = {sample_hash(1), sample_hash(2), sample_hash(1),
                                             sample_hash(3), sample_hash(1)};
  const std::vector<std::uint64_t> counts = {2, 5, 3, 0, 1};
  std::vector<std::uint64_t> sums(hashes.size());
  count_min s = made();
  s.add_and_count(hashes, counts, sums);
  EXPECT_EQ(sums, (std::vector<std::uint64_t>{2, 5, 5, 0, 6}));
  EXPECT_EQ(s.total(), 11U);
  EXPECT_EQ(s.keys(), 4U);
}

// Keys that share counters, and counters that become full.
TEST_P(every_count_min, adds_and_counts_one_key_as_two_calls_do) {
  count_min at_once = made(3, 512 + 512);
  count_min in_two = made(3, 512 + 512);
  for (std::uint64_t i = 0; i < 200; ++i) {
    const std::uint64_t hash = sample_hash(i % 40);
    const std::uint64_t count = i == 150 ? most() - 3 : (i + 1) % 5;
    in_two.add(hash, count);
    ASSERT_EQ(at_once.add_and_count(hash, count), in_two.count(hash)) << i;
  }
  EXPECT_EQ(words_of(at_once), words_of(in_two));
  EXPECT_EQ(at_once.keys(), in_two.keys());
  EXPECT_EQ(at_once.total(), in_two.total());
  EXPECT_EQ(at_once.count(sample_hash(150 % 40)), most());
}

TEST_P(every_count_min, becomes_a_weighted_sum) {
  count_min a = made();
  count_min b = made();
  count_min plain = made();
  for (std::uint64_t i = 0; i < 20; ++i) {
    a.add(sample_hash(i), 2);
    b.add(sample_hash(i + 10), 3);
  }
  for (int i = 0; i < 5; ++i) plain.merge(i < 2 ? a : b);
  count_min sum = made();
  sum.add(sample_hash(99), 7);  // goes
  ASSERT_TRUE(sum.assign_sum(std::vector<weighted_count_min>{{&a, 2}, {&b, 3}}));
  EXPECT_EQ(words_of(sum), words_of(plain));
  EXPECT_EQ(sum.keys(), 100U);
  // Itself among the terms, and twice; and what was added taken away again.
  ASSERT_TRUE(sum.assign_sum(std::vector<weighted_count_min>{{&sum, -1}, {&sum, 2}, {&b, -3}}));
  ASSERT_TRUE(a.assign_sum(std::vector<weighted_count_min>{{&a, 2}}));
  EXPECT_EQ(words_of(sum), words_of(a));
  // Out of range: nothing changes.
  const auto before = words_of(sum);
  EXPECT_FALSE(sum.assign_sum(std::vector<weighted_count_min>{{&sum, -1}}));
  EXPECT_FALSE(sum.assign_sum(std::vector<weighted_count_min>{{&sum, INT64_MAX}, {&b, INT64_MAX}}));
  EXPECT_EQ(words_of(sum), before);
  const count_min other(small_plan(GetParam().first, GetParam().second, 2));
  EXPECT_TRUE(throws(errc::mismatch, "numbers of probes", [&] {
    static_cast<void>(sum.assign_sum(std::vector<weighted_count_min>{{&other, 1}}));
  }));
}

TEST_P(every_count_min, opens_its_own_words) {
  count_min s = made();
  s.add_batch(sample_hashes(40));
  const std::vector<std::uint64_t> words = words_of(s);
  const count_min_view view(s.planned(), words, s.keys());
  count_min copy(view);
  for (const std::uint64_t hash : sample_hashes(200)) ASSERT_EQ(view.count(hash), s.count(hash));
  copy.add(sample_hash(3));
  s.add(sample_hash(3));
  EXPECT_EQ(words_of(copy), words_of(s));
  EXPECT_EQ(copy.keys(), s.keys());
  EXPECT_NE(words_of(copy), words);
  EXPECT_EQ(copy.fpr(), s.fpr());
}

// ---- figures and guarantees -------------------------------------------------------------------

// Broder and Mitzenmacher 2004, figure 2: this flow can only have been responsible for 2 previous
// bytes, so when it introduces 4 new bytes, counters should increase only to 6.
TEST(count_min, figure_2_of_the_survey) {
  count_min s(small_plan(32, 1, 4));
  const std::uint64_t flow = sample_hash(0);
  const std::vector<std::uint64_t> before = {3, 2, 8, 5};  // at least one of them is the minimum, 2
  for (std::uint32_t j = 0; j < 4; ++j) {
    const std::uint64_t at = 512 + (j * s.width() + column(s, flow, j)) * 32;
    s.mutable_words()[at / 64] |= detail::little_endian(before[j] << (at % 64));
  }
  ASSERT_EQ(s.count(flow), 2U);
  s.add(flow, 4);
  EXPECT_EQ(s.count(flow), 6U);
  const std::vector<std::uint64_t> after = {6, 6, 8, 6};  // larger ones stay
  for (std::uint32_t j = 0; j < 4; ++j) EXPECT_EQ(cell(s, j, column(s, flow, j)), after[j]) << j;
  std::uint64_t sum = 0;
  for (std::uint32_t j = 0; j < 4; ++j) {
    for (std::uint64_t c = 0; c < s.width(); ++c) sum += cell(s, j, c);
  }
  EXPECT_EQ(sum, 6U + 6U + 8U + 6U) << "nothing else moved";
}

TEST(count_min, conservative_update_never_counts_more_than_plain) {
  count_min plain(small_plan(32, 0));
  count_min conservative(small_plan(32, 1));
  const auto stream = hashes_of(zipf_stream(200, 3000, 1.0, 3));
  plain.add_batch(stream);
  conservative.add_batch(stream);
  std::uint64_t less = 0;
  for (const std::uint64_t hash : sample_hashes(200)) {
    ASSERT_LE(conservative.count(hash), plain.count(hash));
    less += conservative.count(hash) < plain.count(hash) ? 1U : 0U;
  }
  EXPECT_GT(less, 50U);
}

TEST(count_min, puts_each_count_where_the_format_says) {
  count_min s(small_plan(16, 0, 3));
  s.add(sample_hash(5), 77);
  for (std::uint32_t j = 0; j < 3; ++j) EXPECT_EQ(cell(s, j, column(s, sample_hash(5), j)), 77U);
  EXPECT_EQ(detail::little_endian(s.words()[0]), 77U);
  EXPECT_EQ(s.width(), 2048U / 16 / 3);
  EXPECT_DOUBLE_EQ(s.fill(), 3.0 / static_cast<double>(3 * s.width()));
}

// Rows by Dietzfelbinger's family, which docs/format.md gives: computed here in another way.
TEST(count_min, pairwise_rows_are_where_the_format_says) {
  count_min s(count_min_guarantee{.epsilon = 0.02, .delta = 0.02, .pairwise = true});
  s.choose_rows(77);
  EXPECT_EQ(s.row_seed(), 77U);
  s.add(12345, 3);
  for (std::uint32_t j = 0; j < s.depth(); ++j) {
    const auto at = static_cast<std::uint64_t>(
        (static_cast<detail::uint128>(pairwise_hash(77, j)(12345)) * s.width()) >> 64U);
    EXPECT_EQ(cell(s, j, at), 3U) << j;
  }
  EXPECT_TRUE(throws(errc::bad_argument, "unused", [&] { s.choose_rows(1); }));
  count_min other(s.planned());
  EXPECT_TRUE(
      throws(errc::mismatch, "seeds of their rows differ, 77 and 0", [&] { s.merge(other); }));
  other.choose_rows(77);
  other.add(12345, 4);
  s.merge(other);
  EXPECT_EQ(s.count(12345), 7U);
  // The functions go with the words, and stay when the counts go.
  const count_min_view v(s.planned(), s.words(), s.keys());
  EXPECT_EQ(v.count(12345), 7U);
  count_min copy(v);
  copy.clear();
  EXPECT_EQ(copy.row_seed(), 77U);
  copy.add(12345);
  EXPECT_EQ(copy.count(12345), 1U);
  count_min plain(small_plan());
  EXPECT_TRUE(throws(errc::bad_argument, "pairwise", [&] { plain.choose_rows(1); }));
}

// Integers as they are, which are no hashes: the family needs none. Multiples of a power of two and
// runs are what the positions of a partitioned filter cannot tell apart. Seeds 1 to 60; the promise
// of delta, 5 %, plus three standard deviations of 60 * 100 answers that are far from independent
// within a seed: those of 60.
TEST(count_min_stat, pairwise_rows_keep_the_promise_on_plain_integers) {
  for (const std::uint64_t step : {std::uint64_t{1}, std::uint64_t{1} << 20U}) {
    double failures = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      count_min s(count_min_guarantee{.epsilon = 0.01, .delta = 0.05, .pairwise = true});
      s.choose_rows(seed);
      for (std::uint64_t i = 0; i < 2000; ++i) s.add(i * step, 1 + i % 7);
      for (std::uint64_t i = 0; i < 2000; i += 20) {
        ASSERT_GE(s.count(i * step), 1 + i % 7);
        const auto over = static_cast<double>(s.count(i * step) - (1 + i % 7));
        failures += over > s.epsilon() * static_cast<double>(s.total()) ? 0.01 : 0.0;
      }
    }
    EXPECT_LE(failures / 60, 0.05 + 3 * std::sqrt(0.05 * 0.95 / 60)) << step;
  }
}

TEST(count_min, says_how_many_counters_are_saturated) {
  count_min s(small_plan(8, 0, 3));
  EXPECT_EQ(s.most_count(), 255U);
  EXPECT_EQ(s.saturated(), 0U);
  s.add(sample_hash(1), 254);
  EXPECT_EQ(s.saturated(), 0U);
  s.add(sample_hash(1), 1);
  EXPECT_EQ(s.saturated(), 3U);
  EXPECT_EQ(s.count(sample_hash(1)), s.most_count());
}

// Cormode and Muthukrishnan 2005, theorem 3: at least the truth, at most epsilon times both totals
// above it but for delta. 40 seeds; 5 % and three standard deviations of 40.
TEST(count_min_stat, inner_product_is_that_of_the_streams_within_the_bound) {
  double failures = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    count_min a(count_min_guarantee{.epsilon = 0.01, .delta = 0.05, .pairwise = seed % 2 == 0});
    count_min b(a.planned());
    std::uint64_t truth = 0;
    for (std::uint64_t key = 0; key < 1500; ++key) {
      const std::uint64_t in_a = key < 1000 ? 1 + key % 5 : 0;
      const std::uint64_t in_b = key >= 500 ? 1 + key % 3 : 0;
      a.add(sample_hash(key, seed), in_a);
      b.add(sample_hash(key, seed), in_b);
      truth += in_a * in_b;
    }
    const std::uint64_t found = a.inner_product(b);
    ASSERT_GE(found, truth);
    EXPECT_EQ(found, b.inner_product(a));
    const double most =
        a.epsilon() * static_cast<double>(a.total()) * static_cast<double>(b.total());
    failures += static_cast<double>(found - truth) > most ? 1 : 0;
  }
  EXPECT_LE(failures / 40, 0.05 + 3 * std::sqrt(0.05 * 0.95 / 40));
  const count_min other(small_plan());
  EXPECT_TRUE(throws(errc::mismatch, "numbers of bits differ",
                     [&] { return count_min(small_plan(32, 0, 3, 1024)).inner_product(other); }));
  const count_min raised(small_plan(32, 1));
  EXPECT_TRUE(
      throws(errc::unsupported, "no inner product", [&] { return raised.inner_product(raised); }));
  count_min full(small_plan(64, 0));
  full.add(1, ~std::uint64_t{0});
  EXPECT_EQ(full.inner_product(full), ~std::uint64_t{0}) << "saturated, not wrapped";
}

TEST(count_min, is_made_from_a_guarantee) {
  const count_min s(count_min_guarantee{.epsilon = 0.01, .delta = 0.001});
  EXPECT_GE(s.width(), 272U);  // ceil(e / 0.01)
  EXPECT_LT(s.width(), 276U);  // and what fills the last cache line
  EXPECT_EQ(s.depth(), 7U);    // ceil(ln 1000)
  EXPECT_LE(s.epsilon(), 0.01);
  EXPECT_LE(s.delta(), 0.001);
  EXPECT_FALSE(s.conservative());
  const count_min c(
      count_min_guarantee{.epsilon = 0.1, .delta = 0.1, .cell_bits = 64, .conservative = true});
  EXPECT_TRUE(c.conservative());
  EXPECT_EQ(c.shape().cell_bits, 64U);
  EXPECT_TRUE(throws(errc::unreachable, "needs 70 rows",
                     [] { count_min(count_min_guarantee{.delta = 1e-30}); }));
}

TEST(count_min, has_the_dimensions_that_were_asked_for) {
  for (const std::uint32_t cell_bits : {32U, 64U}) {
    for (const std::uint64_t width : {1U, 2U, 7U, 2000U, 2719U}) {
      for (const std::uint32_t depth : {1U, 2U, 5U, 7U, 64U}) {
        const count_min s(plan{.shape = sizing::count_min_shape(width, depth, cell_bits)});
        const bool split = cell_bits == 32 && depth == 1 && width % 2 == 1;
        ASSERT_EQ(s.width(), width + (split ? 1U : 0U));
        ASSERT_EQ(s.depth(), depth);
      }
    }
  }
  const auto refused = [](std::uint64_t width, std::uint32_t depth, const char* why) {
    return throws(errc::bad_argument, why,
                  [&] { static_cast<void>(sizing::count_min_shape(width, depth, 32)); });
  };
  EXPECT_TRUE(refused(0, 1, "the width"));
  EXPECT_TRUE(refused(10, 0, "probes"));
  EXPECT_TRUE(refused(10, 65, "probes"));
  EXPECT_TRUE(refused(std::uint64_t{1} << 43U, 1, "bits"));
  EXPECT_TRUE(refused(UINT64_MAX, 64, "2^48"));
}

TEST(count_min, is_made_from_options) {
  EXPECT_TRUE(made_from_bare_options<count_min>);
  count_min s(options{.keys = 1000, .fpr = 0.01});
  s.add_batch(sample_hashes(1000));
  EXPECT_EQ(s.contains_count(sample_hashes(1000)), 1000U);
  EXPECT_NEAR(s.fpr(), 0.01, 0.002);
}

TEST(count_min, has_nothing_when_empty) {
  const count_min s(small_plan());
  EXPECT_EQ(s.contains_count(sample_hashes(100)), 0U);
  EXPECT_EQ(s.fpr(), 0.0);
  EXPECT_EQ(s.fill(), 0.0);
  EXPECT_FALSE(s.heavy(sample_hash(1), 0.1));
}

TEST(count_min, copies_and_moves) {
  count_min a(small_plan());
  a.add_batch(sample_hashes(30));
  const auto words = words_of(a);
  count_min copy(a);
  copy.add(sample_hash(99));
  EXPECT_EQ(words_of(a), words);
  count_min moved(std::move(a));
  EXPECT_EQ(words_of(moved), words);
  a = copy;  // NOLINT(bugprone-use-after-move): that is the point
  EXPECT_EQ(words_of(a), words_of(copy));
}

// ---- what is refused --------------------------------------------------------------------------

TEST(count_min, names_the_difference_when_it_cannot_merge) {
  count_min a(small_plan());
  const auto refused = [&](const plan& p, std::string_view text) {
    return throws(errc::mismatch, text, [&] { a.merge(count_min(p)); });
  };
  EXPECT_TRUE(refused(small_plan(32, 0, 4), "numbers of probes differ, 3 and 4"));
  EXPECT_TRUE(refused(small_plan(16), "bits in a cell differ, 32 and 16"));
  EXPECT_TRUE(refused(small_plan(32, 1), "variants differ, 0 and 1"));
  EXPECT_TRUE(refused(small_plan(32, 0, 3, 512 + 4096), "numbers of bits differ, 2560 and 4608"));
}

TEST(count_min, refuses_words_that_are_not_its_own) {
  const plan p = small_plan(32, 0, 3, 512 + 320);  // ten counters: three in each row and one over
  std::vector<std::uint64_t> words(13);
  EXPECT_NO_THROW(count_min_view(p, words, 0));
  EXPECT_TRUE(throws(errc::bad_argument, "the number of words is 12",
                     [&] { count_min_view(p, std::span(words).first(12), 0); }));
  for (std::size_t i = 0; i < words.size(); ++i) {
    words.assign(13, 0);
    words[i] = ~std::uint64_t{0};
    const bool reserved = (i > 0 && i < 8) || i == 12;  // the last counter is in no row
    if (reserved) {
      EXPECT_TRUE(throws(errc::corrupt, "must be zero", [&] { count_min_view(p, words, 0); })) << i;
    } else {
      EXPECT_NO_THROW(count_min_view(p, words, 0)) << i;
    }
  }
}

TEST(count_min, answers_whatever_the_words_say) {
  const plan p = small_plan(16, 0, 5, 512 + 1024);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<std::uint64_t> words = sample_hashes(24, seed + 1);
    std::fill(words.begin() + 1, words.begin() + 8, 0);
    words[23] &= detail::little_endian(~std::uint64_t{0} >> 32U);
    try {
      count_min s((count_min_view(p, words, seed)));
      for (const std::uint64_t hash : sample_hashes(100, 7)) {
        s.add(hash, hash);
        s.remove(hash, hash >> 50U);
      }
      EXPECT_LE(s.fpr(), 1.0);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::corrupt);
    }
  }
}

TEST(count_min, refuses_shapes_that_it_cannot_have) {
  const auto refused = [](plan p, std::string_view text) {
    return throws(errc::bad_argument, text, [&] { count_min{p}; });
  };
  EXPECT_TRUE(refused(small_plan(32, 0, 3, 512), "the number of bits is 512"));
  EXPECT_TRUE(refused(small_plan(64, 0, 9, 1024), "the number of bits is 1024"));
  EXPECT_TRUE(refused(small_plan(24), "24"));
  EXPECT_TRUE(refused(small_plan(4), "4"));
  EXPECT_TRUE(refused(small_plan(32, 6), "the variant is 6"));
  plan other = small_plan();
  other.shape.kind = filter_kind::spectral;
  EXPECT_TRUE(refused(other, "kind spectral given to a filter of kind count-min"));
}

}  // namespace
