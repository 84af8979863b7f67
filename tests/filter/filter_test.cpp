// The filters of hashes: what every kind must do, and what owners and views promise.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "filter/samples.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

template <class Filter>
class every_filter : public testing::Test {
 public:
  using hash_type = typename Filter::hash_type;

  static Filter filled(std::size_t keys, double fpr = 0.01) {
    Filter f(options{.keys = keys, .fpr = fpr});
    f.add_batch(sample_hashes<hash_type>(keys));
    return f;
  }

  // As small as the kind allows, and with a last word that is not full but in filters of blocks.
  static plan small_plan() {
    const bool split = Filter::kind == filter_kind::split_block;
    plan p{.shape = {.kind = Filter::kind,
                     .scheme = Filter::probes_type::scheme,
                     .probes = split ? 8U : 5U,
                     .bits = 1005}};
    if constexpr (in_blocks<typename Filter::probes_type>) {
      p.shape.bits = 1024;
      p.shape.block_bits = Filter::probes_type::block_bits;
    }
    return p;
  }

  static std::set<std::uint64_t> positions(const Filter& f, const std::vector<hash_type>& hashes) {
    std::set<std::uint64_t> all;
    for (const hash_type& hash : hashes) {
      f.probes().all_of(hash, [&](std::uint64_t position) { return all.insert(position), true; });
    }
    return all;
  }
};

using filters = testing::Types<blocked_filter, split_block_filter, classic_filter,
                               partitioned_filter, digest_filter>;
TYPED_TEST_SUITE(every_filter, filters, );

template <class T>
concept has_add = requires(T& f, const typename T::hash_type& hash) { f.add(hash); };

TYPED_TEST(every_filter, models_its_concepts) {
  using view = typename TypeParam::view;
  static_assert(updatable<TypeParam> && storable<TypeParam>);
  static_assert(queryable<view> && storable<view> && !has_add<view>);
  static_assert(updatable<typename TypeParam::concurrent_handle>);
  static_assert(std::is_nothrow_move_constructible_v<TypeParam>);
}

// As in filter f({.keys = 1000, .fpr = 0.01}): the wrapped filters should be as easy to make.
template <class T>
concept made_from_bare_options = requires { T({.keys = 1000U, .fpr = 0.01}); };

TYPED_TEST(every_filter, can_be_made_from_bare_options) {
  EXPECT_TRUE(made_from_bare_options<TypeParam>);
}

TYPED_TEST(every_filter, finds_every_hash_that_was_added) {
  for (const std::size_t keys : {1U, 2U, 10U, 1000U, 20000U}) {
    for (const double fpr : {0.3, 0.01, 0.0001}) {
      const auto f = this->filled(keys, fpr);
      for (const auto& hash : sample_hashes<typename TypeParam::hash_type>(keys)) {
        ASSERT_TRUE(f.contains(hash)) << keys << " keys at " << fpr;
      }
    }
  }
}

TYPED_TEST(every_filter, finds_the_least_and_the_greatest_hash) {
  TypeParam f(this->small_plan());
  typename TypeParam::hash_type least{};
  auto greatest = sample_hash<typename TypeParam::hash_type>(0);
  if constexpr (std::is_same_v<decltype(greatest), digest>) {
    greatest.words.fill(UINT32_MAX);
  } else {
    greatest = UINT64_MAX;
  }
  f.add(least);
  f.add(greatest);
  EXPECT_TRUE(f.contains(least));
  EXPECT_TRUE(f.contains(greatest));
}

TYPED_TEST(every_filter, has_nothing_when_empty) {
  const TypeParam f(options{.keys = 1000, .fpr = 0.01});
  EXPECT_EQ(f.contains_count(sample_hashes<typename TypeParam::hash_type>(1000)), 0U);
  EXPECT_EQ(f.keys(), 0U);
  EXPECT_EQ(f.bits_set(), 0U);
  EXPECT_EQ(f.fill(), 0.0);
  EXPECT_EQ(f.fpr(), 0.0);
}

TYPED_TEST(every_filter, has_everything_when_full) {
  TypeParam f(this->small_plan());
  for (std::uint64_t i = 0; i < f.shape().bits; ++i) {
    detail::set_bit(f.mutable_words().data(), i);
  }
  EXPECT_EQ(f.contains_count(sample_hashes<typename TypeParam::hash_type>(1000)), 1000U);
  EXPECT_EQ(f.bits_set(), f.shape().bits);
  EXPECT_EQ(f.fill(), 1.0);
  EXPECT_DOUBLE_EQ(f.fpr(), 1.0);
}

TYPED_TEST(every_filter, answers_many_as_it_answers_one) {
  const auto f = this->filled(500, 0.1);
  // Half of the questions were added; of the others some are false positives.
  const auto all = sample_hashes<typename TypeParam::hash_type>(1000);
  for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 255U, 256U, 257U, 1000U}) {
    const std::span hashes = std::span(all).last(count);
    std::vector<std::uint8_t> expected;
    std::vector<std::uint32_t> expected_indexes;
    for (std::uint32_t i = 0; i < count; ++i) {
      expected.push_back(f.contains(hashes[i]) ? 1 : 0);
      if (expected.back() != 0) expected_indexes.push_back(i);
    }

    std::vector<std::uint64_t> bitmap((count + 63) / 64, ~std::uint64_t{0});
    f.contains_bits(hashes, bitmap);
    for (std::size_t i = 0; i < bitmap.size() * 64; ++i) {
      ASSERT_EQ((bitmap[i / 64] >> (i % 64)) & 1U, i < count ? expected[i] : 0U) << i;
    }
    std::vector<std::uint8_t> bytes(count, 0xee);
    f.contains_bytes(hashes, bytes);
    EXPECT_EQ(bytes, expected);
    EXPECT_EQ(f.contains_count(hashes), expected_indexes.size());
    std::vector<std::uint32_t> indexes(count);
    indexes.resize(f.contains_indexes(hashes, indexes));
    EXPECT_EQ(indexes, expected_indexes);
  }
}

TYPED_TEST(every_filter, leaves_the_answers_behind_the_last_alone) {
  const auto f = this->filled(100);
  const auto hashes = sample_hashes<typename TypeParam::hash_type>(65);
  std::vector<std::uint64_t> bitmap(3, 0xabcd);
  f.contains_bits(hashes, bitmap);
  EXPECT_EQ(bitmap, (std::vector<std::uint64_t>{~std::uint64_t{0}, 1, 0xabcd}));
  std::vector<std::uint8_t> bytes(66, 0xee);
  f.contains_bytes(hashes, bytes);
  EXPECT_EQ(bytes[64], 1);
  EXPECT_EQ(bytes[65], 0xee);
}

TYPED_TEST(every_filter, adds_many_as_it_adds_one) {
  for (const std::size_t count : {0U, 1U, 23U, 24U, 25U, 63U, 64U, 65U, 256U, 1000U}) {
    const auto hashes = sample_hashes<typename TypeParam::hash_type>(count);
    TypeParam one_by_one(options{.keys = 1000, .fpr = 0.01});
    for (const auto& hash : hashes) one_by_one.add(hash);
    TypeParam batch(options{.keys = 1000, .fpr = 0.01});
    batch.add_batch(hashes);
    EXPECT_EQ(words_of(batch), words_of(one_by_one));
    EXPECT_EQ(batch.keys(), count);
    EXPECT_EQ(one_by_one.keys(), count);
  }
}

TYPED_TEST(every_filter, counts_repetitions_as_keys_but_not_as_bits) {
  auto f = this->filled(100);
  const auto words = words_of(f);
  f.add_batch(sample_hashes<typename TypeParam::hash_type>(100));
  EXPECT_EQ(f.keys(), 200U);
  EXPECT_EQ(words_of(f), words);
  f.set_keys(7);
  EXPECT_EQ(f.keys(), 7U);
}

TYPED_TEST(every_filter, sets_the_bits_of_its_positions_and_no_others) {
  TypeParam f(this->small_plan());
  const auto hashes = sample_hashes<typename TypeParam::hash_type>(60);
  f.add_batch(hashes);
  const auto expected = this->positions(f, hashes);
  std::set<std::uint64_t> actual;
  for (std::uint64_t i = 0; i < f.words().size() * 64; ++i) {
    if (detail::test_bit(f.words().data(), i)) actual.insert(i);
  }
  EXPECT_EQ(actual, expected);
  EXPECT_LT(*actual.rbegin(), f.shape().bits);
  EXPECT_EQ(f.bits_set(), expected.size());
  EXPECT_DOUBLE_EQ(f.fill(),
                   static_cast<double>(expected.size()) / static_cast<double>(f.shape().bits));
}

TYPED_TEST(every_filter, keeps_what_was_planned) {
  const TypeParam f(options{.keys = 1000, .fpr = 0.01});
  const plan p = sizing::make_plan({.kind = TypeParam::kind, .keys = 1000, .fpr = 0.01});
  EXPECT_EQ(f.shape().bits, p.shape.bits);
  EXPECT_EQ(f.shape().probes, p.shape.probes);
  EXPECT_EQ(f.shape().scheme, TypeParam::probes_type::scheme);
  EXPECT_EQ(f.planned().keys, 1000U);
  EXPECT_EQ(f.planned().fpr_target, 0.01);
  EXPECT_EQ(f.planned().fpr, p.fpr);
}

// ---- owners and views -------------------------------------------------------------------------

TYPED_TEST(every_filter, copies_are_independent) {
  const auto original = this->filled(100);
  const auto words = words_of(original);
  TypeParam copy(original);
  EXPECT_NE(copy.words().data(), original.words().data());
  EXPECT_EQ(words_of(copy), words);
  EXPECT_EQ(copy.keys(), 100U);
  copy.add_batch(sample_hashes<typename TypeParam::hash_type>(100, 2));
  EXPECT_EQ(words_of(original), words);
  EXPECT_EQ(original.keys(), 100U);
  EXPECT_EQ(copy.keys(), 200U);
}

TYPED_TEST(every_filter, moves_its_words) {
  auto source = this->filled(100);
  const std::uint64_t* data = source.words().data();
  const TypeParam target(std::move(source));
  EXPECT_EQ(target.words().data(), data);
  EXPECT_EQ(target.keys(), 100U);
  EXPECT_EQ(target.contains_count(sample_hashes<typename TypeParam::hash_type>(100)), 100U);
}

TYPED_TEST(every_filter, can_be_assigned_to_after_a_move) {
  auto source = this->filled(100);
  TypeParam target(std::move(source));
  source = this->filled(300);  // NOLINT(bugprone-use-after-move): that is the point
  EXPECT_EQ(words_of(source), words_of(this->filled(300)));
  EXPECT_EQ(source.keys(), 300U);
  source = target;
  EXPECT_EQ(words_of(source), words_of(target));
  EXPECT_EQ(source.shape(), target.shape());
  source.add(sample_hash<typename TypeParam::hash_type>(0, 2));
  EXPECT_EQ(words_of(target), words_of(this->filled(100)));
}

TYPED_TEST(every_filter, survives_assignment_to_itself) {
  auto f = this->filled(100);
  const auto words = words_of(f);
  const TypeParam& same = f;
  f = same;
  EXPECT_EQ(words_of(f), words);
  EXPECT_EQ(f.keys(), 100U);
}

TYPED_TEST(every_filter, is_a_view_of_itself) {
  auto f = this->filled(100);
  const typename TypeParam::view view = f;
  EXPECT_EQ(view.words().data(), f.words().data());
  EXPECT_EQ(view.keys(), 100U);
  EXPECT_EQ(view.fpr(), f.fpr());
  f.add(sample_hash<typename TypeParam::hash_type>(0, 2));
  EXPECT_TRUE(view.contains(sample_hash<typename TypeParam::hash_type>(0, 2)));
}

TYPED_TEST(every_filter, can_be_copied_out_of_a_view) {
  const auto f = this->filled(100);
  const std::vector<std::uint64_t> words = words_of(f);
  const typename TypeParam::view view(f.planned(), words, 100);
  TypeParam copy(view);
  EXPECT_NE(copy.words().data(), words.data());
  EXPECT_EQ(words_of(copy), words);
  EXPECT_EQ(copy.keys(), 100U);
  EXPECT_EQ(copy.planned().fpr_target, f.planned().fpr_target);
  copy.add(sample_hash<typename TypeParam::hash_type>(0, 2));
  EXPECT_EQ(words, words_of(f));
}

TYPED_TEST(every_filter, refuses_a_number_of_words_that_is_not_its_own) {
  const plan p = this->small_plan();
  for (const std::size_t count : {0U, 15U, 17U}) {
    const std::vector<std::uint64_t> words(count);
    EXPECT_TRUE(throws(errc::bad_argument, "the number of words is " + std::to_string(count),
                       [&] { typename TypeParam::view(p, words, 0); }));
  }
}

TYPED_TEST(every_filter, refuses_shapes_of_other_kinds) {
  const std::vector<std::uint64_t> words(16);
  int accepted = 0;
  const auto try_shape = [&](const plan& other) {
    try {
      typename TypeParam::view(other, words, 0);
      TypeParam{other};
      ++accepted;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::bad_argument);
      EXPECT_NE(std::string(e.what()).find(kind_name(TypeParam::kind)), std::string::npos);
    }
  };
  try_shape(every_filter<blocked_filter>::small_plan());
  try_shape(every_filter<split_block_filter>::small_plan());
  try_shape(every_filter<classic_filter>::small_plan());
  try_shape(every_filter<partitioned_filter>::small_plan());
  try_shape(every_filter<digest_filter>::small_plan());
  EXPECT_EQ(accepted, 1) << "its own";
}

TYPED_TEST(every_filter, refuses_shapes_that_no_filter_can_have) {
  const auto refused = [&](auto change, std::string_view text) {
    plan p = this->small_plan();
    change(p.shape);
    return throws(errc::bad_argument, text, [&] { TypeParam{p}; });
  };
  EXPECT_TRUE(refused([](shape& s) { s.bits = 0; }, "the number of bits is 0"));
  EXPECT_TRUE(refused([](shape& s) { s.bits = max_bits + 1; }, "2^48"));
  EXPECT_TRUE(refused([](shape& s) { s.probes = 0; }, "the number of probes is 0"));
  EXPECT_TRUE(refused([](shape& s) { s.probes = 65; }, "the number of probes is 65"));
  EXPECT_TRUE(refused([](shape& s) { s.block_bits = 128; }, "128"));
}

TYPED_TEST(every_filter, refuses_options_that_no_plan_honours) {
  EXPECT_TRUE(throws(errc::bad_argument, "keys", [] { TypeParam(options{.keys = 0}); }));
  for (const double fpr : {0.0, 1.0, -0.5, 2.0}) {
    EXPECT_TRUE(
        throws(errc::bad_argument, "fpr", [&] { TypeParam(options{.keys = 10, .fpr = fpr}); }));
  }
  EXPECT_TRUE(
      throws(errc::unreachable, "1e-300", [] { TypeParam(options{.keys = 10, .fpr = 1e-300}); }));
}

// ---- sizes ------------------------------------------------------------------------------------

// 2^33 bits and some, so that 32-bit arithmetic anywhere would fold the positions. The pages that
// are not touched cost nothing.
template <class Filter>
class large_filter : public testing::Test {};
using large_filters =
    testing::Types<blocked_filter, split_block_filter, classic_filter, partitioned_filter>;
TYPED_TEST_SUITE(large_filter, large_filters, );

TYPED_TEST(large_filter, reaches_positions_beyond_32_bits) {
  shape s{.kind = TypeParam::kind, .probes = 4, .bits = (std::uint64_t{1} << 33U) + 4 * 512};
  if (s.kind == filter_kind::blocked) s.block_bits = 512;
  if (s.kind == filter_kind::split_block) {
    s.block_bits = 256;
    s.probes = 8;
  }
  TypeParam f(plan{.shape = s});
  const auto hashes = sample_hashes(16);
  f.add_batch(hashes);
  const auto positions = every_filter<TypeParam>::positions(f, hashes);
  EXPECT_EQ(positions.size(), 16U * s.probes) << "no two meet in so large an array";
  EXPECT_GT(*positions.rbegin(), std::uint64_t{1} << 32U);
  EXPECT_LT(*positions.rbegin(), s.bits);
  for (const std::uint64_t p : positions) {
    EXPECT_TRUE(detail::test_bit(f.words().data(), p));
    EXPECT_FALSE(detail::test_bit(f.words().data(), p ^ (std::uint64_t{1} << 32U)));
  }
  EXPECT_EQ(f.contains_count(hashes), 16U);
  EXPECT_EQ(f.contains_count(sample_hashes(1000, 2)), 0U);
}

TEST(partitioned_filter, has_one_bit_of_a_key_in_each_slice) {
  // The shape of the article, in small: 30 slices.
  plan p{.shape = {.kind = filter_kind::partitioned, .probes = 30, .bits = 30 * 2500}};
  const partitioned_filter f(p);
  for (const std::uint64_t hash : sample_hashes(100)) {
    std::uint64_t slice = 0;
    f.probes().all_of(hash, [&](std::uint64_t position) { return position / 2500 == slice++; });
    EXPECT_EQ(slice, 30U);
  }
}

TEST(blocked_filter, keeps_a_key_in_one_cache_line) {
  blocked_filter f(options{.keys = 1000, .fpr = 0.001});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(f.words().data()) % 64, 0U);
  for (const std::uint64_t hash : sample_hashes(100)) {
    std::set<std::uint64_t> lines;
    std::set<std::uint64_t> lanes;
    f.probes().all_of(hash, [&](std::uint64_t position) {
      lines.insert(position / 512);
      lanes.insert(position / 32);
      return true;
    });
    EXPECT_EQ(lines.size(), 1U);
    EXPECT_EQ(lanes.size(), f.shape().probes) << "one bit in each of its lanes";
  }
}

TEST(blocked_filter, needs_no_more_bits_than_promised) {
  for (const auto& [fpr, most] : {std::pair{0.01, 10.0}, std::pair{0.001, 15.7}}) {
    const blocked_filter f(options{.keys = 1'000'000, .fpr = fpr});
    EXPECT_LE(static_cast<double>(f.shape().bits) / 1e6, most);
  }
}

TEST(split_block_filter, has_a_bit_of_a_key_in_each_lane_of_half_a_line) {
  split_block_filter f(options{.keys = 1000, .fpr = 0.001});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(f.words().data()) % 64, 0U);
  for (const std::uint64_t hash : sample_hashes(100)) {
    std::set<std::uint64_t> blocks;
    std::set<std::uint64_t> lanes;
    f.probes().all_of(hash, [&](std::uint64_t position) {
      blocks.insert(position / 256);
      lanes.insert(position % 256 / 32);
      return true;
    });
    EXPECT_EQ(blocks.size(), 1U);
    EXPECT_EQ(lanes, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  }
}

// The rate of the bits as they are: of blocks that are empty, full, and full but for one lane.
TEST(split_block_filter, states_the_rate_of_its_bits) {
  const plan p{
      .shape = {.kind = filter_kind::split_block, .probes = 8, .block_bits = 256, .bits = 1024}};
  std::vector<std::uint64_t> words(16);
  EXPECT_EQ(split_block_view(p, words, 0).fpr(), 0.0);
  std::fill_n(words.begin(), 4, ~std::uint64_t{0});
  EXPECT_EQ(split_block_view(p, words, 0).fpr(), 0.25);
  std::fill_n(words.begin() + 4, 4, ~std::uint64_t{0});
  words[5] = 0xff00ff00ffffffff;  // half of lane 3
  const split_block_view view(p, words, 0);
  EXPECT_EQ(view.fpr(), 1.5 / 4);
  EXPECT_EQ(view.fpr_at(std::uint64_t{1} << 62U), 0.5);
  EXPECT_EQ(view.fpr_at(0), 1.0);
}

TEST(digest_filter, refuses_more_than_32_bits_can_reach) {
  const plan p{.shape = {.kind = filter_kind::classic,
                         .scheme = probe_scheme::modulo,
                         .probes = 4,
                         .bits = (std::uint64_t{1} << 32U) + 1}};
  EXPECT_TRUE(throws(errc::bad_argument, "2^32", [&] { digest_filter{p}; }));
}

}  // namespace
