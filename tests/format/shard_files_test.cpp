// A filter of blocks in shards: slices of the one large filter, to the byte, whichever way they
// were made.
#include "bloomery/format/shard_files.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/shard.hpp"
#include "bloomery/filter/split_block.hpp"
#include "bloomery/format/any_filter.hpp"
#include "bloomery/format/combine.hpp"
#include "format/files.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

constexpr hash_spec spec{.id = hash_id::xxh3, .seed = 7};

plan whole_plan(std::uint64_t blocks, std::uint64_t keys = 1000) {
  return {.shape = {.probes = 6, .block_bits = 512, .bits = 512 * blocks},
          .keys = keys,
          .fpr_target = 0.01};
}

plan split_plan(std::uint64_t blocks) {
  plan p = whole_plan(blocks);
  p.shape.kind = filter_kind::split_block;
  p.shape.probes = 8;
  p.shape.block_bits = 256;
  p.shape.bits = 256 * blocks;
  return p;
}

plan shard_plan(const plan& whole, std::uint32_t index, std::uint32_t count) {
  plan p = whole;
  p.shape.bits /= count;
  p.shape.shard = {.index = index, .count = count};
  return p;
}

std::vector<std::uint64_t> hashes_of(std::uint64_t count, std::uint64_t from = 0) {
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < count; ++i) hashes.push_back(splitmix64(from + i));
  for (const std::uint64_t edge : {std::uint64_t{0}, UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 3}) {
    hashes.push_back(edge);
  }
  return hashes;
}

template <class Shard = shard_filter>
std::vector<Shard> shards_of(const plan& whole, std::uint32_t count,
                             std::span<const std::uint64_t> hashes) {
  std::vector<Shard> shards;
  for (std::uint32_t i = 0; i < count; ++i) {
    shards.emplace_back(shard_plan(whole, i, count));
    shards.back().add_batch(hashes);
  }
  return shards;
}

class every_count : public testing::TestWithParam<std::uint32_t> {};

// Every way to add, with all keys given to all shards: each takes its own.
template <class Whole, class Shard>
void expect_slices(const plan& p, std::uint32_t count) {
  const auto hashes = hashes_of(3001);
  Whole whole(p);
  whole.add_batch(hashes);
  std::vector<std::uint64_t> joined;
  std::uint64_t keys = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    Shard batch(shard_plan(p, i, count));
    batch.add_batch(hashes);
    Shard one(batch.planned());
    for (const std::uint64_t hash : hashes) one.add(hash);
    Shard shared(batch.planned());
    shared.concurrent().add_batch(hashes);
    typename Shard::shared_adder(shared).add_batch(hashes);
    EXPECT_TRUE(std::ranges::equal(batch.words(), one.words()));
    EXPECT_TRUE(std::ranges::equal(batch.words(), shared.words()));
    EXPECT_EQ(batch.keys(), one.keys());
    EXPECT_EQ(2 * batch.keys(), shared.keys());
    keys += batch.keys();
    joined.insert(joined.end(), batch.words().begin(), batch.words().end());
  }
  EXPECT_EQ(keys, hashes.size());
  EXPECT_TRUE(std::ranges::equal(joined, whole.words()));
}

TEST_P(every_count, slices_the_whole_filter) {
  const std::uint32_t count = GetParam();
  const std::uint64_t blocks = std::uint64_t{count} * 7;
  expect_slices<blocked_filter, shard_filter>(whole_plan(blocks), count);
  expect_slices<split_block_filter, split_block_shard_filter>(split_plan(blocks), count);
}

// What the whole says of a key, its shard says, and every other shard says no.
template <class Whole, class Shard>
void expect_answers_of_the_whole(const plan& p, std::uint32_t count) {
  const auto added = hashes_of(60 * count);
  Whole whole(p);
  whole.add_batch(added);
  auto shards = shards_of<Shard>(p, count, added);
  auto asked = hashes_of(4000, 1U << 30U);
  asked.insert(asked.end(), added.begin(), added.end());
  std::uint64_t found = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<std::uint64_t> bitmap((asked.size() + 63) / 64, ~std::uint64_t{0});
    std::vector<std::uint64_t> shared(bitmap.size());
    shards[i].contains_bits(asked, bitmap);
    shards[i].concurrent().contains_bits(asked, shared);
    EXPECT_EQ(bitmap, shared);
    EXPECT_EQ(bitmap.back() >> (asked.size() % 64), 0U);
    for (std::size_t k = 0; k < asked.size(); ++k) {
      const bool own = shard_of(asked[k], count) == i;
      const bool expected = own && whole.contains(asked[k]);
      ASSERT_EQ(shards[i].contains(asked[k]), expected);
      ASSERT_EQ(((bitmap[k / 64] >> (k % 64)) & 1U) != 0, expected);
      found += expected ? 1 : 0;
    }
  }
  EXPECT_GE(found, added.size());
}

TEST_P(every_count, answers_as_the_whole_does) {
  const std::uint32_t count = GetParam();
  const std::uint64_t blocks = std::uint64_t{count} * 5;
  expect_answers_of_the_whole<blocked_filter, shard_filter>(whole_plan(blocks), count);
  expect_answers_of_the_whole<split_block_filter, split_block_shard_filter>(split_plan(2 * blocks),
                                                                            count);
}

TEST_P(every_count, splits_and_joins_to_the_byte) {
  const std::uint32_t count = GetParam();
  const temporary_directory folder;
  blocked_filter whole(whole_plan(std::uint64_t{count} * 40, 12'347));
  whole.add_batch(hashes_of(12'345));
  save(whole, folder / "whole", spec);
  const any_filter opened = any_filter::open(folder / "whole");
  std::uint64_t keys = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const filter_version shard = bloomery::shard_of(opened.version(), {.index = i, .count = count});
    atomic_file file(folder / std::to_string(i));
    write_image(file, shard.header, shard.words);
    file.commit();
    keys += shard.header.keys;
  }
  EXPECT_EQ(keys, whole.keys());
  std::vector<any_filter> shards;
  std::vector<filter_version> versions;
  for (std::uint32_t i = 0; i < count; ++i) {
    shards.push_back(any_filter::load(folder / std::to_string(i)));
    EXPECT_EQ(shards.back().shape().shard, (shard_number{i, count}));
    versions.push_back(shards.back().version());
  }
  atomic_file file(folder / "joined");
  join(file, versions);
  file.commit();
  EXPECT_TRUE(read_bytes(folder / "joined") == read_bytes(folder / "whole"));
}

INSTANTIATE_TEST_SUITE_P(shards, every_count, testing::Values(2U, 3U, 16U, 101U));

TEST(shards, one_of_one_is_the_whole_filter) {
  const blocked_filter f = small_filter<blocked_filter>();
  const filter_version version{{.planned = f.planned(), .hash = spec, .keys = f.keys()}, f.words()};
  const filter_version same = bloomery::shard_of(version, {.index = 0, .count = 1});
  EXPECT_EQ(same.header.planned.shape, version.header.planned.shape);
  EXPECT_EQ(same.words.size(), version.words.size());
}

TEST(shards, integers_are_mixed_on_the_way) {
  const plan p = whole_plan(30);
  std::vector<std::uint64_t> numbers(2500);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i * 3;
  const mixed_integers keys{.keys = numbers, .spread_seed = splitmix64(9)};
  blocked_filter whole(p);
  whole.add_batch(keys);
  std::vector<std::uint64_t> any((numbers.size() + 63) / 64);
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < 3; ++i) {
    shard_filter f(shard_plan(p, i, 3));
    f.add_batch(keys);
    total += f.keys();
    EXPECT_TRUE(std::ranges::equal(f.words(), whole.words().subspan(i * 80, 80)));
    std::vector<std::uint64_t> bitmap(any.size());
    f.contains_bits(keys, bitmap);
    for (std::size_t w = 0; w < any.size(); ++w) any[w] |= bitmap[w];
  }
  EXPECT_EQ(total, numbers.size());
  for (std::size_t w = 0; w + 1 < any.size(); ++w) EXPECT_EQ(any[w], ~std::uint64_t{0});
}

TEST(shards, any_filter_takes_own_keys_only) {
  const auto hash = erase(xxh3_hasher(7));
  any_filter f(shard_plan(whole_plan(40), 1, 4), hash);
  std::vector<std::string> words;
  for (int i = 0; i < 400; ++i) words.push_back("word " + std::to_string(i));
  std::vector<std::string_view> own;
  std::vector<std::string_view> others;
  for (const std::string_view word : words) {
    std::uint64_t h = 0;
    hash->hash({&word, 1}, {&h, 1});
    (shard_of(h, 4) == 1 ? own : others).push_back(word);
  }
  f.add(own);
  f.add_concurrent(own);
  EXPECT_EQ(f.keys(), 2 * own.size());
  for (const std::string_view word : own) EXPECT_TRUE(f.contains(word));
  for (const std::string_view word : others) EXPECT_FALSE(f.contains(word));
  EXPECT_TRUE(throws(errc::mismatch, "belong to other shards; this is shard 1 of 4",
                     [&] { f.add(others); }));
  EXPECT_TRUE(throws(errc::mismatch, "other shards", [&] { f.add_concurrent(others); }));
  EXPECT_EQ(f.keys(), 2 * own.size());
}

TEST(shards, packed_and_patched_they_are_the_same) {
  const plan p = whole_plan(64);
  shard_filter old_one(shard_plan(p, 5, 8));
  old_one.add_batch(hashes_of(500));
  shard_filter new_one(old_one);
  new_one.add_batch(hashes_of(100, 77));
  const filter_version from{{.planned = old_one.planned(), .hash = spec, .keys = old_one.keys()},
                            old_one.words()};
  const filter_version to{{.planned = new_one.planned(), .hash = spec, .keys = new_one.keys()},
                          new_one.words()};
  const unpacked_filter again = unpack(pack(to.header, to.words));
  EXPECT_EQ(again.header.planned.shape, new_one.shape());
  EXPECT_TRUE(std::ranges::equal(again.words.words(), new_one.words()));
  const unpacked_filter patched = patch(from, diff(from, to));
  EXPECT_EQ(patched.header.planned.shape.shard, (shard_number{5, 8}));
  EXPECT_TRUE(std::ranges::equal(patched.words.words(), new_one.words()));
}

TEST(shards, unlike_ones_are_not_combined) {
  const plan p = whole_plan(64);
  const image_header one{.planned = shard_plan(p, 1, 8), .hash = spec};
  const image_header other{.planned = shard_plan(p, 2, 8), .hash = spec};
  check_combinable(one, one);
  EXPECT_TRUE(throws(errc::mismatch, "their shards differ, 1 of 8 and 2 of 8",
                     [&] { check_combinable(one, other); }));
}

TEST(shards, refuse_what_cannot_be_split_or_joined) {
  const blocked_filter f{whole_plan(12)};
  const filter_version whole{{.planned = f.planned(), .hash = spec}, f.words()};
  const auto shard = [&](std::uint32_t i, std::uint32_t n) {
    return bloomery::shard_of(whole, {.index = i, .count = n});
  };
  EXPECT_TRUE(throws(errc::bad_argument, "a divisor of 12, the number of the filter's blocks",
                     [&] { (void)shard(0, 5); }));
  EXPECT_TRUE(throws(errc::bad_argument, "number of shards is 0", [&] { (void)shard(0, 0); }));
  EXPECT_TRUE(throws(errc::bad_argument, "the number of a shard is 4", [&] { (void)shard(4, 4); }));
  EXPECT_TRUE(throws(errc::unsupported, "a shard already",
                     [&] { (void)bloomery::shard_of(shard(1, 3), {.index = 0, .count = 2}); }));
  const classic_filter c = small_filter<classic_filter>();
  EXPECT_TRUE(throws(errc::unsupported, "only blocked and split-block filters", [&] {
    (void)bloomery::shard_of({{.planned = c.planned()}, c.words()}, {.index = 0, .count = 2});
  }));

  const temporary_directory folder;
  const auto joining = [&](const std::vector<filter_version>& parts) {
    atomic_file file(folder / "never");
    join(file, parts);
  };
  EXPECT_TRUE(throws(errc::mismatch, "shard 2 of 3 is missing", [&] {
    joining({shard(0, 3), shard(1, 3)});
  }));
  EXPECT_TRUE(
      throws(errc::mismatch, "where shard 0 of 3 is needed", [&] { joining({shard(1, 3)}); }));
  EXPECT_TRUE(throws(errc::mismatch, "this is shard 1 of 4, where shard 1 of 3 is needed", [&] {
    joining({shard(0, 3), shard(1, 4)});
  }));
  EXPECT_TRUE(throws(errc::mismatch, "missing", [&] { joining({}); }));
  filter_version seeded = shard(1, 2);
  seeded.header.hash.seed = 8;
  EXPECT_TRUE(throws(errc::mismatch, "seeds", [&] { joining({shard(0, 2), seeded}); }));
  EXPECT_TRUE(folder.names().empty());
}

TEST(shards, a_shard_is_no_whole_filter_and_the_other_way_round) {
  EXPECT_TRUE(throws(errc::bad_argument, "where a whole filter is needed",
                     [] { blocked_filter{shard_plan(whole_plan(12), 0, 2)}; }));
  EXPECT_TRUE(
      throws(errc::bad_argument, "where a shard is needed", [] { shard_filter{whole_plan(12)}; }));
  plan huge = whole_plan(12);
  huge.shape.bits = max_bits / 2;
  huge.shape.shard = {.index = 0, .count = 3};
  EXPECT_TRUE(
      throws(errc::bad_argument, "2^48 in all shards together", [&] { check_shape(huge.shape); }));
  huge.shape.shard = {.index = 0, .count = 65537};
  EXPECT_TRUE(throws(errc::bad_argument, "from 1 to 65536", [&] { check_shape(huge.shape); }));
}

}  // namespace
