// What every static kind must do, for the tests of fuse, ribbon and bloomier: each file says how
// its kind is made.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bloomery/detail/filter/static_filter.hpp"
#include "filter/samples.hpp"

namespace bloomery_test {

using bloomery::plan;
using hash_list = std::vector<std::uint64_t>;

inline constexpr std::uint64_t shard_keys = std::uint64_t{1} << 20U;

// The answers for hashes, in every form that a batch call has, against those of single calls.
template <class Filter>
void expect_batches_answer_as_single_calls(const Filter& f, const hash_list& all) {
  for (const std::size_t count : {0U, 1U, 31U, 32U, 33U, 63U, 64U, 65U, 127U, 256U, 257U, 1000U}) {
    ASSERT_LE(count, all.size());
    const std::span hashes = std::span(all).last(count);
    std::vector<std::uint8_t> expected;
    std::vector<std::uint32_t> expected_indexes;
    for (std::uint32_t i = 0; i < count; ++i) {
      expected.push_back(f.contains(hashes[i]) ? 1 : 0);
      if (expected.back() != 0) expected_indexes.push_back(i);
    }
    hash_list bitmap((count + 63) / 64 + 1, 0xabcd);
    f.contains_bits(hashes, bitmap);
    for (std::size_t i = 0; i < (count + 63) / 64 * 64; ++i) {
      ASSERT_EQ((bitmap[i / 64] >> (i % 64)) & 1U, i < count ? expected[i] : 0U) << i;
    }
    EXPECT_EQ(bitmap.back(), 0xabcdU);  // the word behind stays
    std::vector<std::uint8_t> bytes(count, 0xee);
    f.contains_bytes(hashes, bytes);
    EXPECT_EQ(bytes, expected);
    EXPECT_EQ(f.contains_count(hashes), expected_indexes.size());
    std::vector<std::uint32_t> indexes(count);
    indexes.resize(f.contains_indexes(hashes, indexes));
    EXPECT_EQ(indexes, expected_indexes);
  }
}

// A view of the words, a copy that owns them, copies and moves: all the same filter.
template <class Filter>
void expect_words_are_the_filter(const Filter& f, const hash_list& questions) {
  static_assert(std::is_nothrow_move_constructible_v<Filter>);
  static_assert(std::is_nothrow_move_assignable_v<Filter>);
  const auto same = [&](const auto& other) {
    EXPECT_EQ(words_of(other), words_of(f));
    EXPECT_EQ(other.keys(), f.keys());
    EXPECT_EQ(other.shape(), f.shape());
    EXPECT_EQ(other.fpr(), f.fpr());
    for (const std::uint64_t hash : questions) ASSERT_EQ(other.contains(hash), f.contains(hash));
  };
  EXPECT_EQ(f.words().size() * 64, f.shape().bits);
  const auto words = words_of(f);
  const typename Filter::view view(f.planned(), words, f.keys());
  same(view);
  same(Filter(view));
  EXPECT_NE(Filter(view).words().data(), view.words().data());
  Filter copy(f);
  same(copy);
  Filter moved(std::move(copy));
  same(moved);
  copy = moved;  // NOLINT(bugprone-use-after-move): a moved-from filter may be assigned to
  same(copy);
  copy = std::move(moved);
  same(copy);
}

// Single words of the directory and the footer replaced, words cut off, and garbage: a view throws,
// or it answers, whatever that is. A sanitizer sees what goes outside.
template <class Filter>
void expect_no_harm_from_hostile_words(const Filter& f, const hash_list& questions) {
  std::uint64_t thrown = 0;
  std::uint64_t opened = 0;
  const auto open = [&](plan p, const hash_list& words) {
    p.shape.bits = 64 * std::uint64_t{words.size()};
    try {
      const typename Filter::view view(p, words, UINT64_MAX);
      ++opened;
      hash_list bitmap((questions.size() + 63) / 64);
      view.contains_bits(questions, bitmap);
      for (std::size_t i = 0; i < questions.size(); ++i) {
        ASSERT_EQ(view.contains(questions[i]), ((bitmap[i / 64] >> (i % 64)) & 1U) != 0);
      }
    } catch (const bloomery::error&) {
      ++thrown;
    }
  };
  const hash_list good = words_of(f);
  const std::size_t tail = std::min<std::size_t>(good.size(), 72);
  for (std::size_t at = good.size() - tail; at < good.size(); ++at) {
    hash_list words = good;
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      words[at] = good[at] ^ bloomery::detail::little_endian(std::uint64_t{1} << bit);
      open(f.planned(), words);
    }
    for (const std::uint64_t value : {0ULL, 1ULL, 8ULL, 64ULL, 192ULL, 0xffffffffULL, 1ULL << 32U,
                                      1ULL << 63U, ~0ULL, ~7ULL, ~63ULL}) {
      words[at] = bloomery::detail::little_endian(value);
      open(f.planned(), words);
    }
  }
  for (std::size_t left = 1; left < good.size(); left += 1 + left / 16) {
    open(f.planned(), hash_list(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(left)));
    open(f.planned(), hash_list(good.end() - static_cast<std::ptrdiff_t>(left), good.end()));
  }
  for (std::uint64_t stream = 100; stream < 120; ++stream) {
    open(f.planned(), sample_hashes(64, stream));
    hash_list words = good;  // garbage in the arrays, the directory as it is
    std::ranges::copy(sample_hashes(words.size() - tail, stream), words.begin());
    open(f.planned(), words);
  }
  open(f.planned(), hash_list(100, 0));
  EXPECT_GT(thrown, 500U);
  EXPECT_GT(opened, 60U);
}

inline hash_list shuffled(hash_list hashes) {
  std::sort(hashes.begin(), hashes.end(), [](std::uint64_t a, std::uint64_t b) {
    return bloomery::splitmix64(a) < bloomery::splitmix64(b);
  });
  return hashes;
}

// The items of every shard, from items in any order.
template <class Item>
std::vector<std::vector<Item>> items_by_shard(const std::vector<Item>& items,
                                              std::uint64_t shards) {
  std::vector<std::vector<Item>> parts(shards);
  for (const Item& item : items) {
    std::uint64_t hash = 0;
    if constexpr (std::is_same_v<Item, std::uint64_t>) {
      hash = item;
    } else {
      hash = item.hash;
    }
    parts[bloomery::detail::multiply_high(hash, shards)].push_back(item);
  }
  return parts;
}

// The pieces of a builder, one after the other: a shard at a time, or several by as many threads.
template <class Builder, class Item>
hash_list streamed(Builder& builder, const std::vector<Item>& items, unsigned threads = 1) {
  hash_list words;
  const auto take = [&](std::span<const std::uint64_t> piece) {
    words.insert(words.end(), piece.begin(), piece.end());
  };
  auto parts = items_by_shard(items, builder.shards());
  for (std::size_t first = 0; first < parts.size(); first += threads) {
    if (threads == 1) {
      take(builder.add_shard(parts[first]));
      continue;
    }
    const std::size_t count = std::min<std::size_t>(threads, parts.size() - first);
    const std::vector<std::span<Item>> some(&parts[first], &parts[first] + count);
    take(builder.add_shards(some, threads));
  }
  EXPECT_TRUE(builder.add_shards({}, threads).empty());
  take(builder.finish());
  return words;
}

// For sets of hashes (fuse and ribbon): order, repetitions, threads and shards.
template <class Filter, class Builder>
void expect_words_depend_on_the_set_only(plan p) {
  auto hashes = sample_hashes(20'000, 77);
  for (const std::uint64_t shards : {1U, 3U}) {
    p.keys = shards * shard_keys;
    const Filter f(p, hashes);
    EXPECT_EQ(bloomery::detail::little_endian(f.words()[f.words().size() - 8]), shards);
    EXPECT_EQ(f.keys(), 20'000U);
    auto repeated = hashes;
    repeated.insert(repeated.end(), hashes.begin(), hashes.begin() + 15'000);
    repeated.insert(repeated.end(), 1000, hashes[7]);
    repeated = shuffled(repeated);
    for (const unsigned threads : {1U, 2U, 5U}) {
      EXPECT_EQ(words_of(Filter(p, shuffled(hashes), threads)), words_of(f));
      const Filter g(p, repeated, threads);
      EXPECT_EQ(words_of(g), words_of(f));
      EXPECT_EQ(g.keys(), 20'000U);
      EXPECT_EQ(g.shape(), f.shape());
    }
    for (const auto& items : {hashes, repeated}) {
      for (const unsigned threads : {1U, 2U, 5U}) {
        Builder builder(p);
        ASSERT_EQ(builder.shards(), shards);
        EXPECT_EQ(streamed(builder, items, threads), words_of(f));
        EXPECT_EQ(builder.keys(), 20'000U);
        EXPECT_EQ(builder.planned().shape, f.shape());
      }
    }
    EXPECT_EQ(f.contains_count(hashes), hashes.size());
  }
}

// Shards without a key between others: nothing is written for them, whoever solves the others.
template <class Filter, class Builder>
void expect_shards_may_be_empty(plan p) {
  p.keys = 40 * shard_keys;
  for (std::uint64_t stream = 1; stream <= 20; ++stream) {
    const auto hashes = sample_hashes(30, stream);
    Builder builder(p);
    const hash_list words = streamed(builder, hashes);
    for (const unsigned threads : {1U, 2U, 5U}) {
      EXPECT_EQ(words_of(Filter(p, hashes, threads)), words) << threads << ", stream " << stream;
      Builder parallel_builder(p);
      EXPECT_EQ(streamed(parallel_builder, hashes, threads), words) << threads;
    }
  }
}

// Sets of every small size, several of each, and shards without a key.
template <class Filter>
void expect_every_small_set_is_held(plan p) {
  for (std::size_t count = 0; count < 400; count += 1 + count / 20) {
    for (std::uint64_t stream = 1; stream <= 20; ++stream) {
      const auto hashes = sample_hashes(count, stream);
      p.keys = stream == 1 ? 40 * shard_keys : stream == 2 ? 0 : count;
      const Filter f(p, hashes);
      ASSERT_EQ(f.contains_count(hashes), count) << count << " keys, stream " << stream;
      ASSERT_EQ(f.keys(), count);
      ASSERT_EQ(f.fpr() == 0.0, count == 0);
    }
  }
}

// Hashes that are no hashes: the mixing inside a shard makes up for it.
template <class Filter>
void expect_poor_hashes_are_held(plan p) {
  for (const std::uint64_t step :
       {std::uint64_t{1}, std::uint64_t{1} << 20U, std::uint64_t{1} << 48U}) {
    hash_list hashes;
    for (std::uint64_t i = 0; i < 10'000; ++i) hashes.push_back(i * step);
    p.keys = 3 * shard_keys;
    const Filter f(p, hashes);
    EXPECT_EQ(f.contains_count(hashes), hashes.size());
  }
}

template <class Filter, class Builder>
void expect_misuse_is_named(plan p) {
  using bloomery::errc;
  const auto hashes = sample_hashes(1000);
  p.keys = 1000;
  const Filter f(p, hashes);
  const auto words = words_of(f);
  using view = typename Filter::view;
  plan other = f.planned();
  other.shape = {
      .kind = bloomery::filter_kind::blocked, .probes = 8, .block_bits = 512, .bits = 512};
  EXPECT_TRUE(throws(errc::bad_argument, "blocked", [&] { view(other, words, 1000); }));
  EXPECT_TRUE(throws(errc::bad_argument, "blocked", [&] { Filter(other, hashes); }));
  EXPECT_TRUE(throws(errc::bad_argument, "number of words",
                     [&] { view(f.planned(), std::span(words).first(words.size() - 1), 1000); }));
  EXPECT_TRUE(throws(errc::corrupt, "only 999 were given", [&] { view(f.planned(), words, 999); }));
  EXPECT_NO_THROW(view(f.planned(), words, 1001));
  auto reserved = words;
  reserved.back() = 1;
  EXPECT_TRUE(throws(errc::corrupt, "reserved", [&] { view(f.planned(), reserved, 1000); }));

  p.keys = 3 * shard_keys;
  Builder builder(p);
  EXPECT_TRUE(throws(errc::bad_argument, "shards added", [&] { (void)builder.finish(); }));
  hash_list wrong = {~std::uint64_t{0}};
  EXPECT_TRUE(throws(errc::bad_argument, "the shard of a hash is 2, but it must be 0",
                     [&] { (void)builder.add_shard(wrong); }));
  hash_list none;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(builder.add_shard(none).empty());
  EXPECT_TRUE(throws(errc::bad_argument, "all shards", [&] { (void)builder.add_shard(none); }));
  Builder other_builder(p);
  const std::vector<std::span<std::uint64_t>> four(4, none);
  EXPECT_TRUE(
      throws(errc::bad_argument, "all shards", [&] { (void)other_builder.add_shards(four, 2); }));
  const std::vector<std::span<std::uint64_t>> last_first = {wrong, none};
  EXPECT_TRUE(throws(errc::bad_argument, "the shard of a hash is 2, but it must be 0",
                     [&] { (void)other_builder.add_shards(last_first, 2); }));
  EXPECT_EQ(builder.keys(), 0U);
  EXPECT_EQ(builder.finish(), words_of(Filter(p, none)));
}

}  // namespace bloomery_test
