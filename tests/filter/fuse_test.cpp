// Fuse filters: what every static kind must do, the cells, and the sizes that the planner promises.

#include "bloomery/filter/fuse.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "../../src/filter/peel.hpp"
#include "../../src/filter/static_shards.hpp"
#include "bloomery/core/sizing_static.hpp"
#include "filter/static_checks.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

plan fuse_plan(std::uint32_t probes, std::uint32_t cell_bits, std::uint64_t keys = 0) {
  return {.shape = {.kind = filter_kind::fuse, .probes = probes, .cell_bits = cell_bits},
          .keys = keys};
}

static_assert(queryable<fuse_filter> && storable<fuse_filter> && !updatable<fuse_filter>);
static_assert(queryable<fuse_view> && storable<fuse_view>);

class every_fuse : public testing::TestWithParam<std::pair<std::uint32_t, std::uint32_t>> {
 protected:
  static plan planned() { return fuse_plan(GetParam().first, GetParam().second); }
};
INSTANTIATE_TEST_SUITE_P(probes_and_bits, every_fuse,
                         testing::Values(std::pair{3, 8}, std::pair{3, 16}, std::pair{3, 32},
                                         std::pair{4, 8}, std::pair{4, 16}, std::pair{4, 32}));

TEST_P(every_fuse, holds_every_small_set) {
  expect_every_small_set_is_held<fuse_filter>(planned());
}
TEST_P(every_fuse, holds_poor_hashes) { expect_poor_hashes_are_held<fuse_filter>(planned()); }
TEST_P(every_fuse, depends_on_the_set_only) {
  expect_words_depend_on_the_set_only<fuse_filter, fuse_builder>(planned());
}
TEST_P(every_fuse, may_have_empty_shards) {
  expect_shards_may_be_empty<fuse_filter, fuse_builder>(planned());
}
TEST_P(every_fuse, names_misuse) { expect_misuse_is_named<fuse_filter, fuse_builder>(planned()); }
TEST_P(every_fuse, answers_many_as_it_answers_one) {
  const fuse_filter f(planned(), sample_hashes(3000));
  auto questions = sample_hashes(2500);
  const auto absent = sample_hashes(2500, 2);
  questions.insert(questions.begin(), absent.begin(), absent.end());
  expect_batches_answer_as_single_calls(f, questions);
  expect_words_are_the_filter(f, questions);
}
TEST_P(every_fuse, survives_hostile_words) {
  plan p = planned();
  for (const std::uint64_t shards : {1U, 4U}) {
    p.keys = shards * shard_keys;
    expect_no_harm_from_hostile_words(fuse_filter(p, sample_hashes(300)), sample_hashes(200, 9));
  }
}

// The words by the text of docs/format.md: for each key the XOR of its cells is its fingerprint.
TEST(fuse, stores_what_the_format_says) {
  const auto hashes = sample_hashes(1000);
  const fuse_filter f(fuse_plan(3, 16, 1000), hashes);
  const auto words = f.words();
  const auto word = [&](std::size_t i) { return detail::little_endian(words[i]); };
  const std::size_t entry = words.size() - 12;
  EXPECT_EQ(word(entry), 0U);
  EXPECT_EQ(word(entry + 4), 1U);     // shards
  EXPECT_EQ(word(entry + 5), 1000U);  // keys
  const std::uint64_t starts = word(entry + 2);
  const std::uint64_t segment = word(entry + 3);
  EXPECT_EQ(((starts + 2) * segment * 16 + 511) / 512 * 8, entry);
  for (const std::uint64_t hash : hashes) {
    const detail::uint128 product =
        static_cast<detail::uint128>(hash ^ word(entry + 1)) * 0x9fb21c651e98df25U;
    const std::uint64_t mixed =
        (static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U)) *
        0xd6e8feb86659fd93U;
    std::uint64_t base = detail::multiply_high(mixed, starts);
    std::uint64_t rest = mixed * starts;
    std::uint64_t sum = 0;
    for (int j = 0; j < 3; ++j, ++base) {
      const std::uint64_t cell = base * segment + detail::multiply_high(rest, segment);
      rest *= segment;
      sum ^= word(static_cast<std::size_t>(cell / 4)) >> (cell % 4 * 16) & 0xffffU;
    }
    ASSERT_EQ(sum, (mixed * 0x9e6c63d0876a9a47U) >> 48U);
  }
}

// What stands behind the bounded number of tries.
TEST(fuse, gives_up_on_what_cannot_be_peeled) {
  detail::peeler peeler;
  const auto all_the_same = [](std::size_t) { return std::uint64_t{7}; };
  for (std::uint32_t attempt = 0; attempt < detail::max_tries; ++attempt) {
    const std::uint64_t seed = detail::shard_seed(0, attempt);
    EXPECT_TRUE(peeler.peel(1, sizing::fuse_size_for(1, 3), 3, seed, all_the_same));
    EXPECT_FALSE(peeler.peel(2, sizing::fuse_size_for(2, 3), 3, seed, all_the_same));
  }
  // 65 keys in a cell whose byte counts to 63 look like one.
  const auto different = [](std::size_t i) { return sample_hash(i); };
  for (const std::uint32_t probes : {3U, 4U}) {
    EXPECT_FALSE(peeler.peel(65, {.starts = 1, .segment = 1}, probes, 1, different));
  }
  EXPECT_TRUE(throws(errc::unreachable,
                     "the 5 hashes of shard 2 of a fuse filter fit with none of 64",
                     [] { detail::throw_no_seed(filter_kind::fuse, 2, 5); }));
  EXPECT_TRUE(throws(errc::bad_argument, "at most 2^31",
                     [] { detail::check_shard_keys(sizing::max_shard_keys + 1); }));
}

// Numbers whose product wraps around to a few cells.
TEST(fuse, refuses_sizes_that_overflow) {
  const fuse_filter f(fuse_plan(4, 8, 100), sample_hashes(100));
  for (const std::uint64_t starts : {0xffffffffULL, 0xfffffffdULL, 1ULL << 31U, 1ULL << 63U}) {
    for (const std::uint64_t segment : {0xffffffffULL, 1ULL << 31U, 1ULL << 32U, 1ULL << 33U}) {
      auto words = words_of(f);
      words[words.size() - 10] = detail::little_endian(starts);
      words[words.size() - 9] = detail::little_endian(segment);
      EXPECT_TRUE(throws(errc::corrupt, "shard 0 has too many cells",
                         [&] { fuse_view(f.planned(), words, 100); }));
    }
  }
}

TEST(fuse, has_nothing_when_empty) {
  const fuse_filter f(fuse_plan(3, 8), {});
  EXPECT_EQ(f.contains_count(sample_hashes(10'000)), 0U);
  EXPECT_EQ(f.fpr(), 0.0);
  EXPECT_EQ(f.fill(), 0.0);
  EXPECT_EQ(f.words().size(), 12U);
}

TEST(fuse, states_its_rate_and_fill) {
  const fuse_filter f(fuse_plan(3, 16), sample_hashes(50'000));
  EXPECT_DOUBLE_EQ(f.fpr(), 0x1p-16 + 50'000 * 0x1p-64);
  EXPECT_DOUBLE_EQ(f.fill(), 50'000.0 * 16 / static_cast<double>(f.shape().bits));
}

// ---- sizes ------------------------------------------------------------------------------------

TEST(fuse, is_planned_at_its_exact_size) {
  for (const std::uint32_t probes : {3U, 4U}) {
    for (const std::uint64_t keys : {1U, 2U, 100U, 5000U, 100'000U}) {
      const shape s = sizing::make_plan(
                          {.kind = filter_kind::fuse, .keys = keys, .fpr = 0.001, .probes = probes})
                          .shape;
      EXPECT_EQ(s.cell_bits, 16U);
      const fuse_filter f({.shape = s, .keys = keys}, sample_hashes(keys));
      EXPECT_EQ(f.shape(), s);
    }
  }
}

TEST(fuse, takes_at_most_1_13_times_the_bound_from_a_million_keys_on) {
  for (const std::uint32_t bits : {8U, 16U, 32U}) {
    for (std::uint64_t keys = 1'000'000; keys < 10'000'000'000; keys += keys / 7) {
      const double wanted = static_cast<double>(keys) * bits;
      EXPECT_LE(static_cast<double>(sizing::static_bits(fuse_plan(3, bits).shape, keys)),
                1.13 * wanted)
          << keys;
      EXPECT_LE(static_cast<double>(sizing::static_bits(fuse_plan(4, bits).shape, keys)),
                1.075 * wanted)
          << keys;
    }
  }
}

TEST(fuse, never_shrinks_with_more_keys) {
  for (const std::uint32_t probes : {3U, 4U}) {
    for (std::uint64_t keys = 1; keys < sizing::max_shard_keys; keys += 1 + keys / 50) {
      const auto cells = sizing::fuse_size_for(keys, probes).cells(probes);
      EXPECT_GE(cells, keys);
      // A row may have other segments than the one before, so that roundings differ.
      EXPECT_GE(sizing::fuse_size_for(keys + 1 + keys / 50, probes).cells(probes) + 200, cells);
    }
  }
}

TEST(fuse, is_planned_by_what_is_asked_for) {
  using sizing::request;
  const request base{.kind = filter_kind::fuse, .keys = 1'000'000};
  const auto bits = [&](auto change) {
    request r = base;
    change(r);
    return sizing::make_plan(r).shape.cell_bits;
  };
  EXPECT_EQ(bits([](request& r) { r.fpr = 0.01; }), 8U);
  EXPECT_EQ(bits([](request& r) { r.fpr = 0x1p-8; }), 8U);
  EXPECT_EQ(bits([](request& r) { r.fpr = 0.0039; }), 16U);
  EXPECT_EQ(bits([](request& r) { r.fpr = 1e-9; }), 32U);
  EXPECT_EQ(bits([](request& r) { r.bits_per_key = 9.1; }), 8U);
  EXPECT_EQ(bits([](request& r) { r.bits_per_key = 18.1; }), 16U);
  EXPECT_EQ(bits([](request& r) { r.bits_per_key = 100; }), 32U);
  EXPECT_EQ(bits([](request& r) { r.bytes = 2'300'000; }), 16U);
  EXPECT_EQ(bits([](request& r) { r.fpr = 0.5, r.cell_bits = 32; }), 32U);
  const auto refuses = [&](errc code, std::string_view text, auto change) {
    return throws(code, text, [&] { (void)bits(change); });
  };
  EXPECT_TRUE(refuses(errc::unreachable, "1e-11", [](request& r) { r.fpr = 1e-11; }));
  EXPECT_TRUE(refuses(errc::unreachable, "64-bit", [](request& r) { r.fpr = 1e-13; }));
  EXPECT_TRUE(refuses(errc::unreachable, "allowed", [](request& r) { r.bits_per_key = 9; }));
  EXPECT_TRUE(refuses(errc::unreachable, "8 bits in a cell", [](request& r) {
    r.fpr = 0.001;
    r.cell_bits = 8;
  }));
  EXPECT_TRUE(refuses(errc::bad_argument, "3 or 4", [](request& r) {
    r.fpr = 0.01;
    r.probes = 5;
  }));
  EXPECT_TRUE(refuses(errc::bad_argument, "power of two", [](request& r) {
    r.fpr = 0.01;
    r.cell_bits = 12;
  }));
  EXPECT_TRUE(refuses(errc::bad_argument, "fpr is 2", [](request& r) { r.fpr = 2; }));
  EXPECT_TRUE(refuses(errc::bad_argument, "2^48", [](request& r) {
    r.fpr = 0.5;
    r.keys = std::uint64_t{1} << 50U;
  }));
  shape s = fuse_plan(3, 8).shape;
  s.bits = 64;
  EXPECT_DOUBLE_EQ(sizing::fpr(s, 1'000'000), 0x1p-8 + 1'000'000 * 0x1p-64);
  EXPECT_EQ(sizing::fpr(s, 0), 0.0);
}

}  // namespace
