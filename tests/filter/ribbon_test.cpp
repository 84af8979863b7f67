// Ribbon filters: what every static kind must do, the equations, and the sizes that the planner
// promises.

#include "bloomery/filter/ribbon.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "bloomery/core/sizing_static.hpp"
#include "filter/static_checks.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

plan ribbon_plan(std::uint32_t cell_bits, std::uint64_t keys = 0) {
  return {.shape = {.kind = filter_kind::ribbon, .probes = 1, .cell_bits = cell_bits},
          .keys = keys};
}

static_assert(queryable<ribbon_filter> && storable<ribbon_filter> && !updatable<ribbon_filter>);
static_assert(queryable<ribbon_view> && storable<ribbon_view>);

class every_ribbon : public testing::TestWithParam<std::uint32_t> {
 protected:
  static plan planned() { return ribbon_plan(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(bits, every_ribbon, testing::Values(1, 5, 8, 9, 32));

TEST_P(every_ribbon, holds_every_small_set) {
  expect_every_small_set_is_held<ribbon_filter>(planned());
}
TEST_P(every_ribbon, holds_poor_hashes) { expect_poor_hashes_are_held<ribbon_filter>(planned()); }
TEST_P(every_ribbon, depends_on_the_set_only) {
  expect_words_depend_on_the_set_only<ribbon_filter, ribbon_builder>(planned());
}
TEST_P(every_ribbon, may_have_empty_shards) {
  expect_shards_may_be_empty<ribbon_filter, ribbon_builder>(planned());
}
TEST_P(every_ribbon, names_misuse) {
  expect_misuse_is_named<ribbon_filter, ribbon_builder>(planned());
}
TEST_P(every_ribbon, answers_many_as_it_answers_one) {
  const ribbon_filter f(planned(), sample_hashes(12'000));  // two layers
  auto questions = sample_hashes(2500);
  const auto absent = sample_hashes(2500, 2);
  questions.insert(questions.begin(), absent.begin(), absent.end());
  expect_batches_answer_as_single_calls(f, questions);
  expect_words_are_the_filter(f, questions);
}
TEST_P(every_ribbon, survives_hostile_words) {
  plan p = planned();
  for (const std::uint64_t shards : {1U, 4U}) {
    p.keys = shards * shard_keys;
    expect_no_harm_from_hostile_words(ribbon_filter(p, sample_hashes(300)), sample_hashes(200, 9));
  }
  // Layers that bump, so that thresholds lead on.
  p.keys = 7000;
  expect_no_harm_from_hostile_words(ribbon_filter(p, sample_hashes(7000)), sample_hashes(50, 9));
}

TEST(ribbon, holds_every_number_of_bits) {
  const auto hashes = sample_hashes(8000);
  for (std::uint32_t bits = 1; bits <= 32; ++bits) {
    const ribbon_filter f(ribbon_plan(bits), hashes);
    EXPECT_EQ(f.contains_count(hashes), hashes.size()) << bits;
  }
}

// Sizes around where a layer is added, and three layers that bump.
TEST(ribbon, holds_sets_of_all_layers) {
  for (const std::size_t count : {6143U, 6144U, 6200U, 150'000U, 159'000U, 160'000U}) {
    const auto hashes = sample_hashes(count);
    const ribbon_filter f(ribbon_plan(4), hashes);
    EXPECT_EQ(f.contains_count(hashes), count);
  }
  EXPECT_EQ(sizing::ribbon_size_for(6143)[0], 0U);
  EXPECT_NE(sizing::ribbon_size_for(6144)[0], 0U);
  EXPECT_EQ(sizing::ribbon_size_for(6144)[1], 0U);
  EXPECT_NE(sizing::ribbon_size_for(200'000)[1], 0U);
  EXPECT_NE(sizing::ribbon_size_for(10'000'000)[2], 0U);
}

// The words by the text of docs/format.md, read bit by bit.
TEST(ribbon, stores_what_the_format_says) {
  constexpr std::uint32_t bits = 5;
  const auto hashes = sample_hashes(10'000);
  const ribbon_filter f(ribbon_plan(bits), hashes);
  const auto word = [&](std::uint64_t i) { return detail::little_endian(f.words()[i]); };
  const std::size_t entry = f.words().size() - 16;
  const auto fold = [](std::uint64_t a, std::uint64_t b) {
    const detail::uint128 product = static_cast<detail::uint128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  };
  const auto mix = [&](std::uint64_t hash, std::uint64_t seed) {
    return fold(hash ^ seed, 0x9fb21c651e98df25U) * 0xd6e8feb86659fd93U;
  };
  std::uint64_t bumped_keys = 0;
  for (const std::uint64_t hash : hashes) {
    std::uint64_t x = mix(hash, word(entry + 1));
    std::uint64_t first = 0;  // word of the layer's columns
    std::uint64_t slots = word(entry + 2);
    std::uint64_t start = detail::multiply_high(x, slots - 128);
    const std::uint64_t code =
        word(word(entry + 6) + start / 512 / 32) >> (start / 512 % 32 * 2) & 3U;
    if (start % 512 < std::array<std::uint64_t, 4>{0, 50, 110, 512}[code]) {
      ++bumped_keys;
      first = slots / 64 * bits;
      slots = word(entry + 5);
      x = mix(x, 0x589965cc75374cc3U);
      start = detail::multiply_high(x, slots - 128);
    }
    const std::array coefficients = {fold(x, 0xa0761d6478bd642fU) | 1U,
                                     fold(x, 0xe7037ed1a0b428dbU)};
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < 128; ++i) {
      if ((coefficients[i / 64] >> (i % 64) & 1U) == 0) continue;
      const std::uint64_t slot = start + i;
      for (std::uint64_t j = 0; j < bits; ++j) {
        sum ^= (word(first + slot / 64 * bits + j) >> (slot % 64) & 1U) << j;
      }
    }
    ASSERT_EQ(sum, (x * 0x9e6c63d0876a9a47U) >> (64U - bits));
  }
  // 4 % of the keys must be bumped, since there is no slot for them; and some 50 for the slots that
  // stay empty.
  EXPECT_GE(bumped_keys, 10'000 - sizing::ribbon_size_for(10'000)[0]);
  EXPECT_LE(bumped_keys, 10'000 - sizing::ribbon_size_for(10'000)[0] + 200);
}

TEST(ribbon, has_nothing_when_empty) {
  const ribbon_filter f(ribbon_plan(1), {});
  EXPECT_EQ(f.contains_count(sample_hashes(10'000)), 0U);
  EXPECT_EQ(f.fpr(), 0.0);
  EXPECT_EQ(f.fill(), 0.0);
  EXPECT_EQ(f.words().size(), 16U);
}

TEST(ribbon, states_its_rate_and_fill) {
  const ribbon_filter f(ribbon_plan(7), sample_hashes(50'000));
  EXPECT_DOUBLE_EQ(f.fpr(), 0x1p-7 + 50'000 * 0x1p-64);
  EXPECT_DOUBLE_EQ(f.fill(), 50'000.0 * 7 / static_cast<double>(f.shape().bits));
}

// ---- sizes ------------------------------------------------------------------------------------

TEST(ribbon, is_planned_at_its_exact_size) {
  for (const std::uint64_t keys : {1U, 2U, 100U, 5000U, 100'000U}) {
    const shape s =
        sizing::make_plan({.kind = filter_kind::ribbon, .keys = keys, .fpr = 0.001}).shape;
    EXPECT_EQ(s.cell_bits, 10U);
    const ribbon_filter f({.shape = s, .keys = keys}, sample_hashes(keys));
    EXPECT_EQ(f.shape(), s);
  }
}

TEST(ribbon, is_within_a_percent_of_the_bound_from_a_million_keys_on) {
  for (std::uint32_t bits = 1; bits <= 32; ++bits) {
    for (std::uint64_t keys = 1'000'000; keys < 10'000'000'000; keys += keys / 7) {
      EXPECT_LE(static_cast<double>(sizing::static_bits(ribbon_plan(bits).shape, keys)),
                1.01 * static_cast<double>(keys) * bits)
          << bits << " bits, " << keys << " keys";
    }
  }
  EXPECT_LE(static_cast<double>(sizing::static_bits(ribbon_plan(8).shape, 7'000'000)) / 7e6, 8.02);
}

TEST(ribbon, is_planned_by_what_is_asked_for) {
  using sizing::request;
  const request base{.kind = filter_kind::ribbon, .keys = 1'000'000};
  const auto bits = [&](auto change) {
    request r = base;
    change(r);
    return sizing::make_plan(r).shape.cell_bits;
  };
  EXPECT_EQ(bits([](request& r) { r.fpr = 0.5; }), 1U);
  EXPECT_EQ(bits([](request& r) { r.fpr = 0.49; }), 2U);
  EXPECT_EQ(bits([](request& r) { r.fpr = 0.01; }), 7U);
  EXPECT_EQ(bits([](request& r) { r.fpr = 0x1p-8; }), 8U);
  EXPECT_EQ(bits([](request& r) { r.fpr = 1e-9; }), 30U);
  EXPECT_EQ(bits([](request& r) { r.bits_per_key = 9.1; }), 9U);
  EXPECT_EQ(bits([](request& r) { r.bits_per_key = 100; }), 32U);
  EXPECT_EQ(bits([](request& r) { r.bytes = 1'255'000; }), 10U);
  EXPECT_EQ(bits([](request& r) { r.fpr = 0.5, r.cell_bits = 32; }), 32U);
  const auto refuses = [&](errc code, std::string_view text, auto change) {
    return throws(code, text, [&] { (void)bits(change); });
  };
  EXPECT_TRUE(refuses(errc::unreachable, "1e-11", [](request& r) { r.fpr = 1e-11; }));
  EXPECT_TRUE(refuses(errc::unreachable, "allowed", [](request& r) { r.bits_per_key = 1; }));
  EXPECT_TRUE(refuses(errc::bad_argument, "from 1 to 32", [](request& r) {
    r.fpr = 0.01;
    r.cell_bits = 33;
  }));
  EXPECT_TRUE(refuses(errc::bad_argument, "1 in a ribbon", [](request& r) {
    r.fpr = 0.01;
    r.probes = 3;
  }));
  shape s = ribbon_plan(3).shape;
  s.bits = 64;
  EXPECT_DOUBLE_EQ(sizing::fpr(s, 1'000'000), 0.125 + 1'000'000 * 0x1p-64);
}

}  // namespace
