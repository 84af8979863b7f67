// Count-min sketches with the counters of a key in one line: where they are, loops over many keys,
// and that the bound which docs/math.md proves for them holds, in the model and measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "bloomery/core/sizing_scatter.hpp"
#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/sketch/count_min.hpp"
#include "filter/samples.hpp"
#include "sketch/streams.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

plan plan_in_lines(std::uint32_t cell_bits, std::uint32_t depth, std::uint64_t lines,
                   bool conservative = false) {
  return {.shape = {.kind = filter_kind::count_min,
                    .probes = depth,
                    .cell_bits = cell_bits,
                    .variant = conservative ? 5U : 4U,
                    .bits = 512 + lines * 512}};
}

// Computed from docs/format.md, cell by cell.
TEST(count_min_lines, puts_each_count_where_the_format_says) {
  for (const std::uint32_t cell_bits : {8U, 16U, 32U, 64U}) {
    for (const std::uint32_t depth : {1U, 3U, 4U}) {
      count_min s(plan_in_lines(cell_bits, depth, 7));
      const std::uint64_t in_line = 512 / cell_bits;
      const std::uint64_t row = cell_bits == 64 ? 8 / depth : 16 / depth * (32 / cell_bits);
      EXPECT_TRUE(s.one_line());
      EXPECT_EQ(s.width(), 7 * row);
      std::vector<std::uint64_t> expected(s.words().size());
      const std::uint64_t hash = sample_hash(5);
      s.add(hash, 77);
      expected[0] = detail::little_endian(77);
      const std::uint64_t line = detail::multiply_high(hash, 7);
      for (std::uint32_t j = 0; j < depth; ++j) {
        const std::uint64_t mixed =
            (hash & 0xffffffffU) * block_geometry::lane_multiplier[j] % (std::uint64_t{1} << 32U);
        const std::uint64_t counter = line * in_line + j * row + (mixed / 256 * row >> 24U);
        const std::uint64_t at = 512 + counter * cell_bits;
        expected[at / 64] |= detail::little_endian(std::uint64_t{77} << (at % 64));
      }
      EXPECT_TRUE(std::ranges::equal(s.words(), expected)) << cell_bits << " " << depth;
      EXPECT_DOUBLE_EQ(s.fill(), 1.0 / static_cast<double>(s.width()));
    }
  }
}

// In the cache and out of it, where lines are fetched ahead; counts that fill counters.
TEST(count_min_lines, batches_do_what_single_calls_do) {
  for (const std::uint32_t cell_bits : {8U, 16U, 32U, 64U}) {
    for (const bool conservative : {false, true}) {
      for (const std::uint64_t lines :
           {std::uint64_t{1}, std::uint64_t{61}, std::uint64_t{40000}}) {
        const plan p = plan_in_lines(cell_bits, 256 / cell_bits / 2, lines, conservative);
        count_min one(p);
        count_min many(p);
        const auto hashes = sample_hashes(500);
        std::vector<std::uint64_t> counts = sample_hashes(500, 3);
        for (std::size_t i = 0; i < counts.size(); ++i) counts[i] >>= i % 64;
        counts[2] = 0;
        for (const std::uint64_t hash : hashes) one.add(hash);
        for (std::size_t i = 0; i < hashes.size(); ++i) one.add(hashes[i], counts[i]);
        many.add_batch(hashes);
        many.add_batch(hashes, counts);
        ASSERT_TRUE(std::ranges::equal(many.words(), one.words())) << cell_bits << " " << lines;
        EXPECT_EQ(many.keys(), one.keys());
        const auto asked = sample_hashes(700);
        std::vector<std::uint64_t> counted(asked.size());
        many.count_batch(asked, counted);
        for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(counted[i], one.count(asked[i]));
        EXPECT_GE(many.contains_count(asked), 500U);
      }
    }
  }
}

// T_1(x) = x, T_2(x) = x^2 + x, T_4(x) = x^4 + 6 x^3 + 7 x^2 + x.
TEST(count_min_lines, the_strength_solves_the_equation_of_the_bound) {
  const auto limit = [](double row, double depth) {
    return std::pow(row / std::numbers::e, depth);
  };
  EXPECT_NEAR(sizing::count_min_line_strength(16, 1), 16 / std::numbers::e, 1e-9);
  const double two = sizing::count_min_line_strength(8, 2);
  EXPECT_NEAR(two * two + two, limit(8, 2), 1e-9);
  const double four = sizing::count_min_line_strength(16, 4);
  EXPECT_NEAR(((four + 6) * four + 7) * four * four + four, limit(16, 4), 1e-7);
  // With many counters in a row the rows are as good as independent.
  EXPECT_NEAR(sizing::count_min_line_strength(1U << 30U, 4) / (1U << 30U), 1 / std::numbers::e,
              1e-6);
  EXPECT_TRUE(throws(errc::bad_argument, "the row in a line is 0",
                     [] { return sizing::count_min_line_strength(0, 1); }));
}

// The stream that comes closest to the bound has as many equal keys as can each, alone, make an
// error of more than epsilon: 1 / epsilon. Then a count is off when some key is in each of the
// counters, and the model of absent keys says how often that is.
TEST(count_min_lines, delta_is_above_the_rate_of_the_worst_stream) {
  double closest = 0;
  for (const std::uint32_t cell_bits : {8U, 16U, 32U, 64U}) {
    for (std::uint32_t depth = 1; depth <= 256 / cell_bits && depth <= 16; ++depth) {
      const count_min s(plan_in_lines(cell_bits, depth, 5000));
      const auto keys = static_cast<std::uint64_t>(1 / s.epsilon());
      const double rate = sizing::fpr(s.shape(), std::max<std::uint64_t>(1, keys));
      EXPECT_LE(rate, s.delta()) << cell_bits << " " << depth;
      closest = std::max(closest, rate / s.delta());
    }
  }
  EXPECT_GT(closest, 0.5) << "or the bound gives away more than it must";
}

TEST(count_min_lines, is_made_from_a_guarantee) {
  for (const std::uint32_t cell_bits : {8U, 16U, 32U}) {
    for (const double epsilon : {0.1, 0.001}) {
      for (const double delta : {0.3, 0.01}) {
        const count_min s(count_min_guarantee{
            .epsilon = epsilon, .delta = delta, .cell_bits = cell_bits, .one_line = true});
        EXPECT_LE(s.epsilon(), epsilon);
        EXPECT_LE(s.delta(), delta);
        EXPECT_EQ(s.depth(), sizing::count_min_depth(delta));
        const std::uint64_t lines = s.shape().bits / 512 - 1;
        if (lines == 1) continue;
        EXPECT_GT(count_min(plan_in_lines(cell_bits, s.depth(), lines - 1)).epsilon(), epsilon);
      }
    }
  }
  const count_min c(count_min_guarantee{.conservative = true, .one_line = true});
  EXPECT_TRUE(c.conservative());
  EXPECT_TRUE(c.one_line());
  EXPECT_EQ(sizing::lines_of_add(c.shape()), 1U);
  EXPECT_EQ(sizing::lines_of_lookup(c.shape()), 1U);
}

TEST(count_min_lines, refuses_what_a_line_has_no_room_for) {
  EXPECT_TRUE(throws(errc::unreachable,
                     "needs 5 rows; a line has room for 4 of counters of 64 bits",
                     [] { count_min(count_min_guarantee{.cell_bits = 64, .one_line = true}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "cannot be pairwise",
                     [] { count_min(count_min_guarantee{.pairwise = true, .one_line = true}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "2^48",
                     [] { count_min(count_min_guarantee{.epsilon = 1e-12, .one_line = true}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "at most 8 for rows of 32-bit counters in one line",
                     [] { count_min{plan_in_lines(32, 9, 4)}; }));
  plan uneven = plan_in_lines(32, 4, 4);
  uneven.shape.bits += 64;
  EXPECT_TRUE(throws(errc::bad_argument, "a multiple of 512", [&] { count_min{uneven}; }));
  EXPECT_TRUE(
      throws(errc::bad_argument, "at least 1024", [] { count_min{plan_in_lines(32, 4, 0)}; }));
  EXPECT_TRUE(throws(errc::bad_argument, "from 0 to 5", [] {
    return sizing::make_plan({.kind = filter_kind::count_min, .keys = 9, .fpr = 0.1, .variant = 6});
  }));
}

// P(count > true + epsilon total) <= delta, as count_min_stat has it for rows of their own: 100
// sketches with hashes of their own, 300 keys of each asked. The last stream is the worst of the
// bound, where the expected share is 0.3 to 0.7 of delta; a run's share of 300 deviates by less
// than sqrt(delta), the mean of 100 by less than sqrt(delta) / 10, of which three are allowed.
TEST(count_min_lines_stat, error_is_within_epsilon_but_for_delta) {
  constexpr std::uint32_t keys = 3000;
  constexpr std::uint64_t total = 20000;
  const auto failures = [](const std::vector<std::uint64_t>& truth, const count_min_guarantee& g) {
    double failed = 0;
    for (std::uint64_t run = 0; run < 100; ++run) {
      count_min s(g);
      for (std::uint32_t key = 0; key < keys; ++key) {
        s.add(sample_hash(key, 50 + run), truth[key]);
      }
      const double most = s.epsilon() * static_cast<double>(s.total());
      for (std::uint32_t key = 0; key < keys; key += 10) {
        const std::uint64_t counted = s.count(sample_hash(key, 50 + run));
        EXPECT_GE(counted, truth[key]);
        failed += static_cast<double>(counted - truth[key]) > most ? 1.0 / 30000 : 0.0;
      }
    }
    return failed;
  };
  for (const double delta : {0.3, 0.05}) {
    const count_min_guarantee g{.epsilon = 0.02, .delta = delta, .one_line = true};
    for (const double exponent : {0.0, 1.0}) {
      const auto stream = zipf_stream(keys, total, exponent, 5);
      EXPECT_LE(failures(counts_in(stream, keys), g), delta) << exponent;
    }
    const count_min shaped(g);
    const auto heavy = static_cast<std::uint32_t>(0.999 / shaped.epsilon());
    std::vector<std::uint64_t> truth(keys, 0);
    for (std::uint32_t i = 0; i < heavy; ++i) truth[i * 53 + 1] = 1000;
    const double found = failures(truth, g);
    EXPECT_NEAR(found, sizing::fpr(shaped.shape(), heavy), 3 * std::sqrt(delta) / 10) << delta;
    EXPECT_GT(found, 0.0);
  }
}

// As in count_min_stat: the planned rate is the measured one, and a plan keeps its promise.
TEST(count_min_lines_stat, rate_of_absent_keys_is_the_model) {
  for (const std::uint32_t variant : {4U, 5U}) {
    for (const double target : {0.1, 0.01, 0.001}) {
      const plan p = sizing::make_plan(
          {.kind = filter_kind::count_min, .keys = 20000, .fpr = target, .variant = variant});
      EXPECT_EQ(p.shape.variant, variant);
      EXPECT_LE(p.fpr, target);
      EXPECT_GT(sizing::likely_fpr(p.shape, 20000), 0.9 * target);
      count_min s(p);
      s.add_batch(sample_hashes(20000));
      const std::size_t asked = 200000;
      const auto found = static_cast<double>(s.contains_count(sample_hashes(asked, 2)));
      const double deviation = std::sqrt(target * static_cast<double>(asked));
      EXPECT_NEAR(found, s.fpr() * static_cast<double>(asked), 4 * deviation) << target;
      EXPECT_LE(s.fpr(), target);
      const double scatter = sizing::likely_fpr(p.shape, 20000) - p.fpr;
      EXPECT_NEAR(s.fpr(), p.fpr, 2 * scatter) << target;
    }
  }
}

TEST(count_min_lines, plans_are_within_their_size) {
  for (const std::uint64_t bytes : {128U, 1000U, 123457U}) {
    const plan p = sizing::make_plan(
        {.kind = filter_kind::count_min, .keys = 1000, .bytes = bytes, .variant = 4});
    EXPECT_LE(p.shape.bits, bytes * 8);
    EXPECT_GT(p.shape.bits + 512, bytes * 8 - 64);
    EXPECT_GE(p.shape.probes, 4U);
  }
  EXPECT_TRUE(throws(errc::bad_argument, "at least 128", [] {
    return sizing::make_plan(
        {.kind = filter_kind::count_min, .keys = 10, .bytes = 127, .variant = 4});
  }));
}

TEST(count_min_lines, have_no_inner_product) {
  const count_min s(plan_in_lines(32, 4, 5));
  EXPECT_TRUE(
      throws(errc::unsupported, "rows are not independent", [&] { return s.inner_product(s); }));
}

// What an attacker writes between the rows belongs to no count.
TEST(count_min_lines, answers_whatever_the_words_say) {
  const plan p = plan_in_lines(32, 5, 3);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<std::uint64_t> words = sample_hashes(32, seed + 1);
    std::fill(words.begin() + 1, words.begin() + 8, 0);
    count_min s((count_min_view(p, words, seed)));
    for (const std::uint64_t hash : sample_hashes(100, 7)) {
      s.add(hash, hash);
      s.remove(hash, hash >> 50U);
    }
    EXPECT_LE(s.fpr(), 1.0);
    words[3] = 1;
    EXPECT_TRUE(throws(errc::corrupt, "must be zero", [&] { count_min_view(p, words, 0); }));
  }
}

}  // namespace
