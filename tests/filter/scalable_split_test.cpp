// The scalable filter whose lines split: where it is chosen, its rate and memory while it doubles,
// its stash, unions, and what its image may say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "../../src/kernel/scalable/scalable.hpp"
#include "bloomery/detail/bits/split_table.hpp"
#include "bloomery/filter/scalable.hpp"
#include "filter/samples.hpp"
#include "kernel/levels.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

std::vector<std::uint64_t> joined(const scalable_view& f) {
  std::vector<std::uint64_t> all;
  for (const auto part : f.parts()) all.insert(all.end(), part.begin(), part.end());
  return all;
}

scalable_filter grown(std::size_t keys, std::uint64_t first, std::uint64_t stream = 1) {
  scalable_filter f(options{.keys = first});
  f.add_batch(sample_hashes(keys, stream));
  return f;
}

// One that may double so often, whatever its rate.
scalable_filter with_doublings(std::uint64_t lines, std::uint32_t doublings) {
  return scalable_filter(plan{.shape = {.kind = filter_kind::scalable,
                                        .probes = 1,
                                        .block_bits = 512,
                                        .cell_bits = 16,
                                        .variant = (1U << 18U) | doublings,
                                        .bits = (2 + lines) * 512}});
}

// What docs/math.md says of a filter that has doubled so often.
double bound(std::uint64_t lines, std::uint64_t first_lines) {
  const double doublings = std::log2(static_cast<double>(lines / first_lines));
  return 26 * (1 + doublings / 2) / 32768;
}

TEST(scalable_split, is_the_default_where_it_pays) {
  for (const double fpr : {0.01, 0.0105, 0.0088}) {
    const scalable_filter f(options{.keys = 1000, .fpr = fpr});
    EXPECT_TRUE(f.is_split()) << fpr;
    EXPECT_LE(f.planned().fpr, fpr);
  }
  for (const double fpr : {0.5, 0.02, 0.008, 1e-6}) {
    EXPECT_FALSE(scalable_filter(options{.keys = 1000, .fpr = fpr}).is_split()) << fpr;
  }
  EXPECT_FALSE(scalable_filter(sizing::make_plan({.kind = filter_kind::scalable,
                                                  .keys = 1000,
                                                  .fpr = 0.01,
                                                  .growth = growth_rule::tapered}))
                   .is_split());
}

TEST(scalable_split, finds_every_key_and_stays_below_its_rate_while_it_doubles) {
  scalable_filter f(options{.keys = 1});
  const std::uint64_t first_lines = f.shape().bits / 512 - 2;
  std::uint64_t keys = 0;
  for (const std::uint64_t more : {400U, 20U, 3'000U, 100'000U, 1'000'000U, 300'000U}) {
    std::vector<std::uint64_t> hashes;
    for (std::uint64_t i = 0; i < more; ++i) hashes.push_back(sample_hash(keys + i));
    f.add_batch(hashes);
    keys += more;
    EXPECT_EQ(f.contains_count(sample_hashes(keys)), keys);
    const std::uint64_t lines = f.parts()[1].size() / 8;
    EXPECT_EQ(lines % first_lines, 0U);
    EXPECT_GE(lines * 26, f.keys_stored());
    EXPECT_LE(f.fpr(), bound(lines, first_lines)) << keys;
    EXPECT_LE(f.fpr(), 0.01);
    // 4 standard deviations around the reported rate.
    constexpr double asked = 400'000;
    const auto passed = static_cast<double>(f.contains_count(sample_hashes(400'000, 9)));
    EXPECT_NEAR(passed, asked * f.fpr(), 4 * std::sqrt(asked * f.fpr()) + 4) << keys;
  }
  EXPECT_EQ(f.layers(), 1U);
}

// Against the filter that knew the number of keys: at most 2.5 times its size when the lines are
// full, at most 4 times at any moment from a first size of 64 KiB on.
TEST(scalable_split, stays_within_its_memory) {
  scalable_filter f(options{.keys = 30'000});
  ASSERT_GE(f.shape().bits, 64U * 1024 * 8);
  const auto presized = [&](std::uint64_t keys) {
    return static_cast<double>(sizing::make_plan({.keys = keys, .fpr = 0.01}).shape.bits);
  };
  int doublings = 0;
  for (std::uint64_t i = 0; i < 2'000'000; ++i) {
    const std::uint64_t before = f.shape().bits;
    f.add(sample_hash(i));
    const std::uint64_t bits = f.shape().bits;
    if (bits == before || f.keys() < 30'000) continue;
    EXPECT_LE(static_cast<double>(bits), 4 * presized(f.keys_stored()));
    if (bits * 2 < before * 3) continue;  // the stash alone
    EXPECT_LE(static_cast<double>(before), 2.5 * presized(f.keys_stored() - 1));
    ++doublings;
  }
  EXPECT_EQ(doublings, 7);
}

// A cell loses a bit with every doubling; those without one are in both halves of their line.
TEST(scalable_split, keeps_keys_whose_fingerprints_have_no_bits_left) {
  detail::split_table table(1);
  std::vector<std::uint64_t> hashes = sample_hashes(20);
  for (const std::uint64_t hash : hashes) table.put(hash);
  for (int doublings = 1; doublings <= 18; ++doublings) {
    table = table.doubled();
    for (const std::uint64_t hash : hashes) ASSERT_TRUE(table.view().contains(hash)) << doublings;
  }
  EXPECT_EQ(table.view().lines, std::uint64_t{1} << 18U);
  // 20 keys of 15 bits, in 2^3 cells each.
  EXPECT_EQ(table.entries(), 160U);
  EXPECT_NEAR(detail::split_rate(table.view()), 160.0 / 262144, 1e-9);
}

TEST(scalable_split, keeps_every_key_when_it_may_not_double) {
  scalable_filter f = with_doublings(4, 2);
  f.add_batch(sample_hashes(5'000));
  EXPECT_EQ(f.parts()[1].size(), 16U * 8);
  EXPECT_EQ(f.next_layer_bytes(), 0U);
  EXPECT_EQ(f.contains_count(sample_hashes(5'000)), 5'000U);
  // More than 512 cells hold; the others are whole in the stash and match nothing else.
  EXPECT_GE(f.parts().at(2).size(), 2 * (f.keys_stored() - 512));
  EXPECT_NEAR(f.fpr(), 32 * 1.5 / 32768, 0.0005);
}

bool refuses_memory = false;

// Where there is no memory to double, or for a larger stash, the keys before the one that needs it
// are in.
TEST(scalable_split, goes_on_after_there_was_no_memory) {
  use_array_memory({.take = [](std::size_t bytes) -> void* {
                      if (refuses_memory) return nullptr;
                      void* const start = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
                      if (start != nullptr) std::memset(start, 0, bytes);
                      return start;
                    },
                    .give = [](void* start, std::size_t) { std::free(start); }});
  for (const auto& [lines, doublings] : {std::pair{4U, 3U}, std::pair{1U, 0U}}) {
    scalable_filter expected = with_doublings(lines, doublings);
    scalable_filter f = with_doublings(lines, doublings);
    const auto all = sample_hashes(700);
    expected.add_batch(all);
    int refusals = 0;
    while (f.keys() < all.size()) {
      const auto left = std::span(all).subspan(f.keys());
      refuses_memory = true;
      const bool refused = throws(errc::no_memory, "", [&] { f.add_batch(left); });
      refuses_memory = false;
      EXPECT_EQ(f.contains_count(std::span(all).first(f.keys())), f.keys());
      if (!refused) continue;
      ++refusals;
      f.add(all[f.keys()]);
    }
    EXPECT_GE(refusals, 3);
    EXPECT_EQ(joined(f), joined(expected));
    EXPECT_EQ(f.keys_stored(), expected.keys_stored());
  }
  use_array_memory({});
}

// Hash 0 is kept as 1 there.
TEST(scalable_split, stashes_any_hash) {
  detail::split_table table(1);
  for (const std::uint64_t hash : sample_hashes(40, 5)) table.put(hash);
  EXPECT_FALSE(table.view().stash.contains(0));
  for (const std::uint64_t hash : {std::uint64_t{0}, UINT64_MAX}) {
    table.put(hash);
    EXPECT_TRUE(table.view().stash.contains(hash));
  }
}

TEST(scalable_split, every_instruction_set_gives_the_same_answers) {
  for (const std::uint64_t keys : {10U, 25'000U}) {
    scalable_filter f = with_doublings(7, 3);
    f.add_batch(sample_hashes(keys));
    const auto parts = f.parts();
    detail::split_lines lines{.words = parts[1].data(), .lines = parts[1].size() / 8};
    if (parts.size() > 2) lines.stash = {.slots = parts[2].data(), .count = parts[2].size()};
    for (const kernel::level level : kernel_tests::available_levels()) {
      for (const std::size_t count : {0U, 1U, 63U, 4'096U, 9'001U}) {
        std::vector<std::uint64_t> hashes = sample_hashes(count);
        for (std::size_t i = 0; i < count; i += 2) hashes[i] = sample_hash(i, 3);
        std::vector<std::uint64_t> bitmap((count + 63) / 64, ~std::uint64_t{0});
        const auto& kernels = kernel::scalable_kernels_of(level);
        const auto check = [&](auto hash_of) {
          for (std::size_t i = 0; i < bitmap.size() * 64; ++i) {
            const bool expected = i < count && lines.contains(hash_of(hashes[i]));
            ASSERT_EQ((bitmap[i / 64] >> (i % 64)) & 1U, expected ? 1U : 0U) << i;
          }
        };
        kernels.contains(lines, kernel::run_of(hashes), bitmap.data());
        check([](std::uint64_t hash) { return hash; });
        constexpr std::uint64_t seed = 99;
        kernels.contains(lines, kernel::run_of(mixed_integers{hashes, seed}), bitmap.data());
        check([](std::uint64_t hash) { return mix64(hash, seed); });
      }
    }
  }
}

TEST(scalable_split, merges_filters_of_different_age) {
  for (const auto& [mine, theirs] : {std::pair{100U, 60'000U}, std::pair{60'000U, 100U},
                                     std::pair{30'000U, 31'000U}, std::pair{0U, 500U}}) {
    scalable_filter a = grown(mine, 500);
    const scalable_filter b = grown(theirs, 500, 2);
    a.merge(b);
    EXPECT_EQ(a.contains_count(sample_hashes(mine)), mine);
    EXPECT_EQ(a.contains_count(sample_hashes(theirs, 2)), theirs);
    EXPECT_EQ(a.keys(), mine + theirs);
    EXPECT_LE(a.fpr(), 0.01);
    // And goes on growing.
    a.add_batch(sample_hashes(100'000, 3));
    EXPECT_EQ(a.contains_count(sample_hashes(100'000, 3)), 100'000U);
    EXPECT_LE(a.fpr(), 0.01);
  }
  // What both have is there once.
  scalable_filter same = grown(10'000, 500);
  const auto words = joined(same);
  same.merge(same);
  EXPECT_EQ(joined(same), words);
  scalable_filter more = grown(10'400, 500);
  EXPECT_EQ(more.shape().bits, same.shape().bits);
  same.merge(more);
  EXPECT_EQ(same.contains_count(sample_hashes(10'400)), 10'400U);
  EXPECT_EQ(same.shape().bits, more.shape().bits);
}

// Two tables of one key each, the one's older: the longer fingerprint goes, never the shorter.
TEST(scalable_split, merges_to_the_shorter_fingerprint) {
  const std::uint64_t hash = sample_hash(1);
  detail::split_table old(1);
  old.put(hash);
  for (int i = 0; i < 4; ++i) old = old.doubled();
  detail::split_table fresh(16);
  fresh.put(hash);
  detail::split_table a(old.view());
  detail::split_table b(fresh.view());
  a.put_all(fresh.view());
  b.put_all(old.view());
  EXPECT_EQ(a.entries(), 1U);
  EXPECT_EQ(b.entries(), 2U);
  for (const auto& table : {a, b}) {
    EXPECT_NEAR(detail::split_rate(table.view()), 0x1p-11 / 16, 0x1p-14 / 16);
  }
}

// A line that is full takes the keys of others in cells that fit both.
TEST(scalable_split, merges_into_full_lines) {
  detail::split_table a(1);
  detail::split_table b(1);
  for (const std::uint64_t hash : sample_hashes(32)) a.put(hash);
  for (const std::uint64_t hash : sample_hashes(40, 2)) b.put(hash);
  a.put_all(b.view());
  for (const std::uint64_t hash : sample_hashes(32)) EXPECT_TRUE(a.view().contains(hash));
  for (const std::uint64_t hash : sample_hashes(40, 2)) EXPECT_TRUE(a.view().contains(hash));
  // 64 fingerprints in 32 cells: those that were joined have about 5 bits in common.
  EXPECT_LT(detail::split_rate(a.view()), 0.75);
  a = a.doubled();
  for (const std::uint64_t hash : sample_hashes(40, 2)) EXPECT_TRUE(a.view().contains(hash));
}

TEST(scalable_split, refuses_to_merge_what_does_not_fit) {
  scalable_filter a = grown(5'000, 500);
  const auto before = joined(a);
  EXPECT_TRUE(throws(errc::mismatch, "not planned alike", [&] { a.merge(grown(5'000, 700)); }));
  const scalable_filter layers(options{.keys = 500, .fpr = 0.1});
  EXPECT_TRUE(throws(errc::mismatch, "layers", [&] { a.merge(layers); }));
  scalable_filter once = with_doublings(16, 1);
  scalable_filter other = with_doublings(16, 1);
  once.add_batch(sample_hashes(800));  // 32 lines
  other.add_batch(sample_hashes(800, 2));
  EXPECT_TRUE(throws(errc::full, "double", [&] { once.merge(other); }));
  EXPECT_EQ(joined(a), before);
  EXPECT_EQ(once.contains_count(sample_hashes(800)), 800U);
}

TEST(scalable_split, refuses_hostile_words) {
  scalable_filter f = with_doublings(5, 3);
  f.add_batch(sample_hashes(2'000));
  const auto good = joined(f);
  ASSERT_EQ(f.parts().size(), 3U);
  const auto refused = [&](auto change) {
    std::vector<std::uint64_t> words = good;
    change(words);
    plan p = f.planned();
    p.shape.bits = words.size() * 64;
    return throws(errc::corrupt, "damaged", [&] { scalable_view(p, words, 1); });
  };
  EXPECT_FALSE(refused([](auto&) {}));
  EXPECT_TRUE(refused([](auto& words) { words[0] = 0; }));
  EXPECT_TRUE(refused([](auto& words) { words[0] = 2; }));
  EXPECT_TRUE(refused([](auto& words) { words[1] = 64; }));
  EXPECT_TRUE(refused([](auto& words) { words[2] = 1; }));
  EXPECT_TRUE(refused([](auto& words) { words[8] = 0; }));
  EXPECT_TRUE(refused([](auto& words) { words[8] += 1; }));
  EXPECT_TRUE(refused([](auto& words) { words[8] = UINT64_MAX; }));
  EXPECT_TRUE(refused([](auto& words) { words[9] += 1; }));
  EXPECT_TRUE(refused([](auto& words) { words[11] = 0; }));
  EXPECT_TRUE(refused([](auto& words) { words[11] = UINT64_MAX; }));
  EXPECT_TRUE(refused([](auto& words) { words[12] = 1; }));
  EXPECT_TRUE(refused([](auto& words) { words.resize(words.size() - 8); }));
  EXPECT_TRUE(refused([](auto& words) { words.resize(16); }));
  // Slots that are no power of two.
  EXPECT_TRUE(refused([](auto& words) {
    words[11] = detail::little_endian(detail::little_endian(words[11]) - 8);
    words.resize(words.size() - 8);
  }));
  const auto shape_refused = [&](auto change) {
    plan p = f.planned();
    change(p.shape);
    return throws(errc::bad_argument, "", [&] { scalable_view(p, good, 1); });
  };
  EXPECT_TRUE(shape_refused([](auto& s) { s.probes = 2; }));
  EXPECT_TRUE(shape_refused([](auto& s) { s.cell_bits = 0; }));
  EXPECT_TRUE(shape_refused([](auto& s) { s.cell_bits = 8; }));
  EXPECT_TRUE(shape_refused([](auto& s) { s.variant = 2; }));
  EXPECT_TRUE(shape_refused([](auto& s) { s.variant = (1U << 18U) | 64U; }));
  EXPECT_TRUE(shape_refused([](auto& s) { s.variant |= 1U << 17U; }));
}

// A file that says it has many keys does not make its reader's memory double with every key that is
// added.
TEST(scalable_split, does_not_believe_in_more_keys_than_there_are) {
  const scalable_filter f = grown(50, 100);
  auto words = joined(f);
  words[10] = UINT64_MAX;
  scalable_filter owner(scalable_view(f.planned(), words, 1));
  owner.add_batch(sample_hashes(300, 4));
  EXPECT_EQ(owner.contains_count(sample_hashes(300, 4)), 300U);
  EXPECT_EQ(owner.shape().bits, f.shape().bits);
}

// A stash without a free slot, and lines with holes.
TEST(scalable_split, answers_whatever_the_cells_say) {
  scalable_filter f = with_doublings(3, 5);
  f.add_batch(sample_hashes(60));
  auto words = joined(f);
  words.resize(16 + 3 * 8 + 16);
  words[11] = detail::little_endian(16);
  for (std::size_t i = 16; i < words.size(); ++i) words[i] = splitmix64(i) | 1U;
  for (std::size_t i = 16; i < 40; i += 3) words[i] = 0;
  plan p = f.planned();
  p.shape.bits = words.size() * 64;
  scalable_filter owner(scalable_view(p, words, 1));
  owner.add_batch(sample_hashes(3'000));
  EXPECT_EQ(owner.contains_count(sample_hashes(3'000)), 3'000U);
  EXPECT_LE(owner.fpr(), 1);
}

}  // namespace
