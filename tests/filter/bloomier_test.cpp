// Bloomier filters: values, absent keys, updates, and what every static kind must do.

#include "bloomery/filter/bloomier.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "bloomery/core/sizing_static.hpp"
#include "filter/static_checks.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

plan bloomier_plan(std::uint32_t value_bits, std::uint32_t check_bits, std::uint32_t probes = 3,
                   std::uint64_t keys = 0) {
  return {.shape = {.kind = filter_kind::bloomier,
                    .probes = probes,
                    .cell_bits = value_bits + check_bits,
                    .variant = value_bits},
          .keys = keys};
}

static_assert(queryable<bloomier_filter> && storable<bloomier_filter>);
static_assert(queryable<bloomier_view> && storable<bloomier_view> && !updatable<bloomier_view>);

// Key i of a stream has this value.
std::uint64_t sample_value(std::uint64_t hash, std::uint32_t bits) {
  return splitmix64(hash ^ 0x55) >> (64 - bits);
}
hash_list sample_values(const hash_list& hashes, std::uint32_t bits) {
  hash_list values;
  values.reserve(hashes.size());
  for (const std::uint64_t hash : hashes) values.push_back(sample_value(hash, bits));
  return values;
}

struct form {
  std::uint32_t value_bits;
  std::uint32_t check_bits;
  std::uint32_t probes;
};
class every_bloomier : public testing::TestWithParam<form> {
 protected:
  static plan planned(std::uint64_t keys = 0) {
    return bloomier_plan(GetParam().value_bits, GetParam().check_bits, GetParam().probes, keys);
  }
  static bloomier_filter map_of(const hash_list& hashes, std::uint64_t keys = 0,
                                unsigned threads = 1) {
    return {planned(keys), hashes, sample_values(hashes, GetParam().value_bits), threads};
  }
};
INSTANTIATE_TEST_SUITE_P(forms, every_bloomier,
                         testing::Values(form{1, 0, 3}, form{1, 8, 4}, form{7, 7, 3}, form{8, 8, 3},
                                         form{33, 13, 4}, form{64, 0, 4}, form{64, 32, 3}));

TEST_P(every_bloomier, returns_the_values) {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 10U, 100U, 1000U, 30'000U}) {
    const auto hashes = sample_hashes(count);
    const auto f = map_of(hashes);
    EXPECT_EQ(f.keys(), count);
    for (const std::uint64_t hash : hashes) {
      ASSERT_EQ(f.value(hash), sample_value(hash, GetParam().value_bits));
      ASSERT_TRUE(f.contains(hash));
    }
  }
}

TEST_P(every_bloomier, holds_every_small_map) {
  for (std::size_t count = 0; count < 200; count += 1 + count / 20) {
    for (std::uint64_t stream = 1; stream <= 10; ++stream) {
      const auto hashes = sample_hashes(count, stream);
      const auto f = map_of(hashes, stream == 1 ? 20 * shard_keys : 0);
      for (const std::uint64_t hash : hashes) {
        ASSERT_EQ(f.value(hash), sample_value(hash, GetParam().value_bits));
      }
    }
  }
}

TEST_P(every_bloomier, answers_many_as_it_answers_one) {
  const auto f = map_of(sample_hashes(3000));
  auto questions = sample_hashes(2500);
  const auto absent = sample_hashes(2500, 2);
  questions.insert(questions.begin(), absent.begin(), absent.end());
  questions = shuffled(questions);
  expect_batches_answer_as_single_calls(f, questions);
  expect_words_are_the_filter(f, questions);
  for (const std::size_t count : {0U, 1U, 31U, 32U, 33U, 63U, 64U, 65U, 100U, 5000U}) {
    const std::span hashes = std::span(questions).first(count);
    hash_list values(count + 1, 0xabcd);
    hash_list bitmap((count + 63) / 64 + 1, 0xabcd);
    f.value_batch(hashes, values, bitmap);
    for (std::size_t i = 0; i < count; ++i) {
      const auto expected = f.value(hashes[i]);
      ASSERT_EQ((bitmap[i / 64] >> (i % 64)) & 1U, expected ? 1U : 0U);
      ASSERT_EQ(values[i], expected.value_or(0));
    }
    EXPECT_EQ(values.back(), 0xabcdU);
    EXPECT_EQ(bitmap.back(), 0xabcdU);
  }
}

TEST_P(every_bloomier, updates_in_place) {
  const std::uint32_t bits = GetParam().value_bits;
  const auto hashes = sample_hashes(5000);
  for (const std::uint64_t keys : {std::uint64_t{0}, 3 * shard_keys}) {
    auto f = map_of(hashes, keys);
    for (std::size_t i = 0; i < hashes.size(); i += 2) {
      EXPECT_TRUE(f.update(hashes[i], sample_value(~hashes[i], bits)));
    }
    auto changed = sample_values(hashes, bits);
    for (std::size_t i = 0; i < hashes.size(); i += 2) changed[i] = sample_value(~hashes[i], bits);
    for (std::size_t i = 0; i < hashes.size(); ++i) ASSERT_EQ(f.value(hashes[i]), changed[i]);
    // The same as a map that was made with these values.
    EXPECT_EQ(words_of(f), words_of(bloomier_filter(planned(keys), hashes, changed)));
  }
}

TEST_P(every_bloomier, refuses_to_update_what_it_takes_for_absent) {
  auto f = map_of(sample_hashes(1000));
  const auto words = words_of(f);
  for (const std::uint64_t hash : sample_hashes(1000, 2)) {
    if (f.contains(hash)) continue;
    EXPECT_FALSE(f.update(hash, 0));
  }
  EXPECT_EQ(words_of(f), words);
}

TEST_P(every_bloomier, depends_on_the_map_only) {
  const std::uint32_t bits = GetParam().value_bits;
  const auto hashes = sample_hashes(10'000, 77);
  auto repeated = hashes;
  repeated.insert(repeated.end(), hashes.begin(), hashes.begin() + 5000);
  repeated.insert(repeated.end(), 500, hashes[7]);
  for (const std::uint64_t shards : {1U, 3U}) {
    const auto f = map_of(hashes, shards * shard_keys);
    for (const auto& list : {shuffled(hashes), shuffled(repeated)}) {
      for (const unsigned threads : {1U, 3U}) {
        EXPECT_EQ(words_of(map_of(list, shards * shard_keys, threads)), words_of(f));
      }
      std::vector<valued_hash> items;
      for (const std::uint64_t hash : list) items.push_back({hash, sample_value(hash, bits)});
      for (const unsigned threads : {1U, 3U}) {
        bloomier_builder builder(planned(shards * shard_keys));
        EXPECT_EQ(streamed(builder, items, threads), words_of(f));
        EXPECT_EQ(builder.keys(), 10'000U);
        EXPECT_EQ(builder.planned().shape, f.shape());
      }
    }
  }
}

TEST_P(every_bloomier, survives_hostile_words) {
  for (const std::uint64_t shards : {1U, 4U}) {
    const auto f = map_of(sample_hashes(300), shards * shard_keys);
    expect_no_harm_from_hostile_words(f, sample_hashes(200, 9));
    // Values of garbage, all of them found or not.
    auto words = words_of(f);
    std::ranges::copy(sample_hashes(words.size() - (4 * shards + 8), 5), words.begin());
    const bloomier_view view(f.planned(), words, f.keys());
    const auto questions = sample_hashes(3000, 6);
    hash_list values(3000);
    hash_list bitmap(47);
    view.value_batch(questions, values, bitmap);
    for (std::size_t i = 0; i < 3000; ++i) {
      ASSERT_EQ(view.value(questions[i]).value_or(0), values[i]);
    }
  }
}

TEST(bloomier, has_nothing_when_empty) {
  const bloomier_filter f(bloomier_plan(8, 0), {}, {});
  EXPECT_EQ(f.contains_count(sample_hashes(1000)), 0U);
  EXPECT_EQ(f.value(1), std::nullopt);
  EXPECT_EQ(f.fpr(), 0.0);
}

TEST(bloomier, states_its_rate_and_bits) {
  const auto hashes = sample_hashes(1000);
  const bloomier_filter three(bloomier_plan(5, 8, 3), hashes, sample_values(hashes, 5));
  EXPECT_DOUBLE_EQ(three.fpr(), 0.75 * 0x1p-8 + 1000 * 0x1p-64);
  EXPECT_EQ(three.value_bits(), 5U);
  EXPECT_EQ(three.check_bits(), 8U);
  const bloomier_filter four(bloomier_plan(5, 0, 4), hashes, sample_values(hashes, 5));
  EXPECT_DOUBLE_EQ(four.fpr(), 1.0);
}

TEST(bloomier, names_misuse) {
  const auto hashes = sample_hashes(100);
  const hash_list values(100, 3);
  const auto build = [&](const plan& p, const hash_list& h, const hash_list& v) {
    return [p, &h, &v] { (void)bloomier_filter(p, h, v); };
  };
  const plan good = bloomier_plan(2, 8);
  EXPECT_TRUE(throws(errc::bad_argument, "the number of values is 100",
                     build(good, sample_hashes(99), values)));
  EXPECT_TRUE(throws(errc::bad_argument, "below 2^1", build(bloomier_plan(1, 8), hashes, values)));
  EXPECT_TRUE(throws(errc::bad_argument, "0 to 32 check bits",
                     build(bloomier_plan(2, 33), hashes, values)));
  auto twice = hashes;
  twice[50] = twice[7];
  auto other = values;
  EXPECT_NO_THROW(bloomier_filter(good, twice, other));
  other[50] = 1;
  EXPECT_TRUE(throws(errc::bad_argument, "two values", build(good, twice, other)));
  bloomier_filter f(good, hashes, values);
  EXPECT_TRUE(throws(errc::bad_argument, "the value is 4, but it must be below 2^2",
                     [&] { f.update(hashes[0], 4); }));
  plan p = f.planned();
  p.shape.cell_bits = 2 + 33;
  EXPECT_TRUE(
      throws(errc::bad_argument, "check bits", [&] { bloomier_view(p, f.words(), f.keys()); }));
  EXPECT_TRUE(throws(errc::corrupt, "only 99", [&] { bloomier_view(f.planned(), f.words(), 99); }));
}

// 2 bits a cell more than value and check bits, and 1.13 cells a key: docs/math.md.
TEST(bloomier, takes_what_is_planned) {
  for (const std::uint32_t bits : {1U, 8U, 64U}) {
    const auto hashes = sample_hashes(50'000);
    const plan p = bloomier_plan(bits, 8, 3, hashes.size());
    EXPECT_EQ(bloomier_filter(p, hashes, sample_values(hashes, bits)).shape().bits,
              sizing::static_bits(p.shape, hashes.size()));
    for (std::uint64_t keys = 1'000'000; keys < 1'000'000'000; keys += keys / 7) {
      EXPECT_LE(static_cast<double>(sizing::static_bits(p.shape, keys)),
                1.13 * static_cast<double>(keys) * (bits + 8 + 2));
    }
  }
}

TEST(bloomier, is_planned_by_what_is_asked_for) {
  using sizing::request;
  const request base{.kind = filter_kind::bloomier, .keys = 1'000'000};
  const auto planned = [&](auto change) {
    request r = base;
    change(r);
    return sizing::make_plan(r).shape;
  };
  const shape s = planned([](request& r) { r.fpr = 0.01; });
  EXPECT_EQ(s.variant, 8U);
  EXPECT_EQ(s.cell_bits, 8U + 7U);
  EXPECT_EQ(planned([](request& r) { r.fpr = 0.01, r.variant = 20; }).cell_bits, 27U);
  EXPECT_EQ(planned([](request& r) { r.fpr = 0.9, r.variant = 1; }).cell_bits, 1U);
  EXPECT_EQ(planned([](request& r) { r.fpr = 0.9, r.variant = 1, r.probes = 4; }).cell_bits, 2U);
  EXPECT_EQ(planned([](request& r) { r.bits_per_key = 1.13 * 12, r.variant = 2; }).cell_bits, 10U);
  EXPECT_EQ(planned([](request& r) { r.fpr = 0.5, r.variant = 2, r.cell_bits = 9; }).cell_bits, 9U);
  EXPECT_TRUE(throws(errc::bad_argument, "from 1 to 64",
                     [&] { planned([](request& r) { r.fpr = 0.5, r.variant = 65; }); }));
  EXPECT_TRUE(throws(errc::bad_argument, "bits in a cell is 8", [&] {
    planned([](request& r) { r.fpr = 0.5, r.variant = 9, r.cell_bits = 8; });
  }));
  EXPECT_TRUE(throws(errc::unreachable, "cannot honour",
                     [&] { planned([](request& r) { r.fpr = 1e-11; }); }));
  EXPECT_DOUBLE_EQ(sizing::fpr(s, 1000), 0.75 * 0x1p-7 + 1000 * 0x1p-64);
}

}  // namespace
