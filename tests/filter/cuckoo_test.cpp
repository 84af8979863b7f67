// The cuckoo filter: what it promises about keys, layers, duplicates, failure and foreign words.
#include "bloomery/filter/cuckoo.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "bloomery/bits/counter_array.hpp"
#include "filter/samples.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

static_assert(removable<cuckoo_filter> && countable<cuckoo_filter>);
static_assert(storable<cuckoo_filter> && storable<cuckoo_view>);
static_assert(queryable<cuckoo_view> && countable<cuckoo_view>);
static_assert(std::is_nothrow_move_constructible_v<cuckoo_filter>);
static_assert(requires { cuckoo_filter({.keys = 1000U, .fpr = 0.01}); });

plan of_buckets(std::uint64_t buckets, std::uint32_t cell_bits, std::uint32_t cells) {
  const std::uint32_t bucket = cell_bits * cells;
  return {.shape = {.kind = filter_kind::cuckoo,
                    .probes = 2,
                    .block_bits = bucket,
                    .cell_bits = cell_bits,
                    .bits = 64 * (cuckoo_geometry::preamble_words(1) +
                                  cuckoo_geometry::layer_words(buckets, bucket))}};
}

std::vector<std::uint64_t> payload(const cuckoo_view& f) {
  std::vector<std::uint64_t> all;
  for (const auto part : f.parts()) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// All non-empty cells of the payload, counted the slow way.
std::uint64_t stored(const cuckoo_view& f) {
  std::uint64_t count = 0;
  const auto parts = f.parts();
  const std::uint32_t bits = f.shape().cell_bits;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    for (std::uint64_t p = 0; p + bits <= parts[i].size() * 64; p += bits) {
      count += std::uint64_t{detail::get_bits(parts[i].data(), p, bits) != 0};
    }
  }
  return count;
}

void expect_consistent(const cuckoo_view& f) {
  EXPECT_EQ(stored(f), f.keys());
  EXPECT_NEAR(f.fill() * static_cast<double>(f.slots()), static_cast<double>(f.keys()), 1e-6);
  EXPECT_EQ(payload(f).size() * 64, f.shape().bits);
}

TEST(cuckoo_filter, finds_every_hash_that_was_added) {
  for (const std::size_t keys : {1U, 2U, 3U, 10U, 1000U, 20000U}) {
    for (const double fpr : {0.3, 0.01, 0.0001, 1e-8}) {
      cuckoo_filter f(options{.keys = keys, .fpr = fpr});
      EXPECT_EQ(f.add_batch(sample_hashes(keys)), keys);
      EXPECT_EQ(f.contains_count(sample_hashes(keys)), keys) << keys << " keys at " << fpr;
      expect_consistent(f);
    }
  }
}

TEST(cuckoo_filter, is_empty_at_first) {
  const cuckoo_filter f({.keys = 1000, .fpr = 0.01});
  EXPECT_EQ(f.contains_count(sample_hashes(1000)), 0U);
  EXPECT_EQ(f.fill(), 0.0);
  EXPECT_EQ(f.fpr(), 0.0);
  EXPECT_EQ(f.layers(), 1U);
}

// Every width of a fingerprint and many sizes of a bucket, so that cells straddle words in all
// ways.
TEST(cuckoo_filter, works_with_all_cells_and_buckets) {
  const auto hashes = sample_hashes(600);
  for (std::uint32_t bits = 4; bits <= 32; ++bits) {
    for (const std::uint32_t cells : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 16U, 17U, 64U, 255U}) {
      cuckoo_filter f(of_buckets(500 / cells + 1, bits, cells));
      ASSERT_EQ(f.add_batch(hashes), hashes.size());
      ASSERT_EQ(f.contains_count(hashes), hashes.size()) << bits << " bits, " << cells << " cells";
      expect_consistent(f);
      ASSERT_EQ(f.remove_batch(hashes), hashes.size());
      expect_consistent(f);
      ASSERT_EQ(f.keys(), 0U);
    }
  }
}

// Fills one layer to the first failure. Nothing may be lost, then or later.
TEST(cuckoo_filter, a_failed_insertion_is_told_and_changes_nothing) {
  for (const std::uint32_t cells : {1U, 2U, 4U, 8U}) {
    cuckoo_filter f(of_buckets(1000, 16, cells));
    f.set_max_layers(1);
    std::vector<std::uint64_t> in;
    std::size_t failures = 0;
    for (std::uint64_t i = 0; failures < 50; ++i) {
      const auto before = payload(f);
      if (f.add(sample_hash(i))) {
        in.push_back(sample_hash(i));
      } else {
        ++failures;
        ASSERT_EQ(payload(f), before);
      }
    }
    EXPECT_EQ(f.keys(), in.size());
    EXPECT_EQ(f.contains_count(in), in.size());
    expect_consistent(f);
    EXPECT_EQ(f.remove_batch(in), in.size());
    EXPECT_EQ(f.keys(), 0U);
    EXPECT_EQ(stored(f), 0U);
  }
}

TEST(cuckoo_filter, grows_by_layers_and_loses_nothing) {
  cuckoo_filter f(options{.keys = 1000, .fpr = 0.001});
  const auto hashes = sample_hashes(20'000);
  std::uint64_t bits = f.shape().bits;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::uint32_t layers = f.layers();
    ASSERT_TRUE(f.add(hashes[i]));
    if (f.layers() != layers) {
      ASSERT_GT(f.shape().bits, bits);
      ASSERT_EQ(f.contains_count(std::span(hashes).first(i + 1)), i + 1);
      EXPECT_GT(static_cast<double>(f.keys()), 0.95 * static_cast<double>(f.slots()) *
                                                   ((1U << layers) - 1) / ((2U << layers) - 1));
    }
    bits = f.shape().bits;
  }
  EXPECT_EQ(f.layers(), 5U);  // 1 + 2 + 4 + 8 + 16 thousand
  EXPECT_EQ(f.contains_count(hashes), hashes.size());
  expect_consistent(f);
  EXPECT_EQ(f.remove_batch(hashes), hashes.size());
  EXPECT_EQ(stored(f), 0U);
}

TEST(cuckoo_filter, the_owner_decides_about_growth) {
  cuckoo_filter f(of_buckets(64, 12, 4));
  EXPECT_EQ(f.max_layers(), 32U);
  EXPECT_EQ(f.expansion(), 2U);
  f.set_max_layers(3);
  f.set_expansion(4);
  std::uint64_t added = 0;
  while (f.add(sample_hash(added))) ++added;
  EXPECT_EQ(f.layers(), 3U);
  EXPECT_GT(static_cast<double>(added), 0.95 * 256 * (1 + 4 + 16));
  for (const std::uint32_t bad : {0U, 33U}) {
    EXPECT_TRUE(throws(errc::bad_argument, "from 1 to 32", [&] { f.set_max_layers(bad); }));
  }
  for (const std::uint32_t bad : {0U, 3U, 65536U}) {
    EXPECT_TRUE(throws(errc::bad_argument, "a power of two", [&] { f.set_expansion(bad); }));
  }
}

TEST(cuckoo_filter, counts_duplicates) {
  cuckoo_filter f(options{.keys = 10'000, .fpr = 0.001});
  f.add_batch(sample_hashes(5000));
  const std::uint64_t hash = sample_hash(0, 5);
  const std::uint64_t false_matches = f.count(hash);
  for (std::uint64_t times = 1; times <= 60; ++times) {
    ASSERT_TRUE(f.add(hash));
    ASSERT_EQ(f.count(hash), false_matches + times);
  }
  // Eight fit into a layer; the further ones are layers as small as the first, since that is half
  // empty.
  EXPECT_EQ(f.layers(), 8U);
  EXPECT_LT(f.shape().bits, 9 * cuckoo_filter(f.planned()).shape().bits);
  EXPECT_EQ(f.contains_count(sample_hashes(5000)), 5000U);
  for (std::uint64_t left = 60; left-- > 0;) {
    ASSERT_TRUE(f.remove(hash));
    ASSERT_EQ(f.count(hash), false_matches + left);
  }
  EXPECT_EQ(f.contains_count(sample_hashes(5000)), 5000U);
  expect_consistent(f);
}

TEST(cuckoo_filter, may_be_asked_not_to_grow) {
  cuckoo_filter f(of_buckets(63, 12, 4));  // which fill their lines
  const auto hashes = sample_hashes(400);
  const std::size_t taken = f.try_add_batch(hashes);
  EXPECT_GT(taken, 236U);
  EXPECT_LE(taken, 252U);
  EXPECT_FALSE(f.try_add(hashes[taken]));
  EXPECT_EQ(f.layers(), 1U);
  EXPECT_EQ(f.keys(), taken);
  const std::uint64_t before = f.shape().bits;
  const std::uint64_t more = f.growth_bytes();
  EXPECT_TRUE(f.add(hashes[taken]));
  EXPECT_EQ(f.shape().bits - before, more * 8);  // the preamble has entries for four layers
  f.set_max_layers(2);
  EXPECT_EQ(f.growth_bytes(), 0U);
  expect_consistent(f);
}

// With no fingerprint moved a table of buckets of one is full soon; the more may move, the later.
TEST(cuckoo_filter, moves_no_more_fingerprints_than_it_may) {
  const auto hashes = sample_hashes(2000);
  std::vector<std::size_t> taken;
  for (const std::uint32_t moves : {0U, 1U, 3U, 20U, 65535U}) {
    cuckoo_filter f(of_buckets(1000, 16, 1));
    f.set_longest_path(moves);
    cuckoo_filter copy(of_buckets(10, 16, 1));
    copy = f;
    taken.push_back(f.try_add_batch(hashes));
    EXPECT_EQ(copy.try_add_batch(hashes), taken.back());
    EXPECT_EQ(f.contains_count(std::span(hashes).first(taken.back())), taken.back());
    expect_consistent(f);
  }
  EXPECT_LT(taken[0] * 2, taken[2]);
  EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end()));
}

TEST(cuckoo_filter, gives_layers_back_when_it_is_compacted) {
  for (const std::uint32_t expansion : {1U, 2U, 8U}) {
    cuckoo_filter f(of_buckets(100, 12, 4));
    f.set_expansion(expansion);
    const auto hashes = sample_hashes(4000);
    ASSERT_EQ(f.add_batch(hashes), hashes.size());
    const std::uint32_t layers = f.layers();
    const std::uint64_t bits = f.shape().bits;
    f.remove_batch(std::span(hashes).subspan(200));
    f.compact();
    EXPECT_EQ(f.contains_count(std::span(hashes).first(200)), 200U);
    EXPECT_EQ(f.layers(), 1U) << "of " << layers << " with expansion " << expansion;
    EXPECT_LT(f.shape().bits, bits / 4);
    expect_consistent(f);
    const auto words = payload(f);
    const cuckoo_view opened(f.planned(), words, f.keys());
    EXPECT_EQ(opened.contains_count(std::span(hashes).first(200)), 200U);
    ASSERT_EQ(f.add_batch(std::span(hashes).subspan(200)), 3800U);
    EXPECT_EQ(f.contains_count(hashes), hashes.size());
    EXPECT_EQ(f.remove_batch(hashes), hashes.size());
    f.compact();
    EXPECT_EQ(f.layers(), 1U);
    EXPECT_EQ(stored(f), 0U);
  }
}

// Short fingerprints in small layers: collisions within and across layers all the time. Whoever was
// added and not removed must be found, whatever the others do.
TEST(cuckoo_filter, removal_never_loses_another_key) {
  for (const std::uint32_t expansion : {1U, 2U, 4U}) {
    cuckoo_filter f(of_buckets(5, 4, 4));
    f.set_expansion(expansion);
    std::vector<std::uint64_t> in;
    std::uint64_t next = 0;
    std::uint32_t most_layers = 0;
    for (std::uint64_t step = 0; step < 15'000; ++step) {
      const std::uint64_t dice = sample_hash(step, 11);
      // Up and down: all layers are filled, and all but emptied, several times.
      const bool grow = (step / 2500) % 2 == 0 ? dice % 10 < 9 : dice % 10 < 1;
      if (in.empty() || grow) {
        const std::uint64_t hash = sample_hash(next++ % 5000);
        if (f.add(hash)) in.push_back(hash);
      } else {
        const std::size_t which = (dice >> 8U) % in.size();
        ASSERT_TRUE(f.remove(in[which]));
        in[which] = in.back();
        in.pop_back();
      }
      most_layers = std::max(most_layers, f.layers());
      if (step % 1000 == 700) f.compact();
      ASSERT_EQ(f.keys(), in.size());
      if (step % 20 == 0) {
        ASSERT_EQ(f.contains_count(in), in.size()) << "step " << step;
      }
    }
    EXPECT_GT(most_layers, 2U);
    expect_consistent(f);
    std::map<std::uint64_t, std::uint64_t> times;
    for (const std::uint64_t hash : in) ++times[hash];
    for (const auto& [hash, count] : times) EXPECT_GE(f.count(hash), count);
  }
}

TEST(cuckoo_filter, refuses_to_remove_what_is_surely_not_there) {
  cuckoo_filter f(options{.keys = 1000, .fpr = 0.01});
  f.add_batch(sample_hashes(1000));
  const auto before = payload(f);
  std::size_t refused = 0;
  for (const std::uint64_t hash : sample_hashes(2000, 9)) {
    if (f.contains(hash)) continue;
    ASSERT_FALSE(f.remove(hash));
    ++refused;
  }
  EXPECT_GT(refused, 1900U);
  EXPECT_EQ(payload(f), before);
}

TEST(cuckoo_filter, does_many_as_it_does_one) {
  const auto all = sample_hashes(1000);
  for (const std::size_t count : {0U, 1U, 23U, 24U, 25U, 64U, 65U, 256U, 257U, 1000U}) {
    cuckoo_filter one(of_buckets(30, 8, 4));  // up to four layers
    cuckoo_filter many(of_buckets(30, 8, 4));
    const std::span hashes = std::span(all).first(count);
    for (const std::uint64_t hash : hashes) EXPECT_TRUE(one.add(hash));
    EXPECT_EQ(many.add_batch(hashes), count);
    ASSERT_EQ(payload(one), payload(many));
    std::vector<std::uint64_t> gone(hashes.begin(),
                                    hashes.begin() + static_cast<std::ptrdiff_t>(count / 2));
    gone.insert(gone.end(), gone.begin(), gone.end());
    std::size_t removed = 0;
    for (const std::uint64_t hash : gone) removed += std::size_t{one.remove(hash)};
    EXPECT_EQ(many.remove_batch(gone), removed);
    ASSERT_EQ(payload(one), payload(many));

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
    std::vector<std::uint64_t> counts(all.size(), 77);
    many.count_batch(all, counts);
    EXPECT_EQ(counts, expected_counts);
    EXPECT_EQ(many.contains_count(all), expected_indexes.size());
    std::vector<std::uint32_t> indexes(all.size());
    indexes.resize(many.contains_indexes(all, indexes));
    EXPECT_EQ(indexes, expected_indexes);
  }
}

// In a table of more than 16 MiB a batch also looks ahead where fingerprints may move. It is made
// of words, of which each is a bucket, with a twentieth of the cells empty.
TEST(cuckoo_filter, does_many_as_it_does_one_out_of_the_cache) {
  const cuckoo_filter empty(of_buckets((std::uint64_t{16} << 20U) / 8 + 1000, 16, 4));
  auto words = payload(empty);
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < words.size() - 16; ++i) {
    const std::uint64_t dice = sample_hash(i);
    if (i >= detail::little_endian(words[8])) break;
    words[16 + i] = detail::little_endian((dice | 0x0001000100010001U) >> (dice % 5 == 0 ? 16 : 0));
    used += dice % 5 == 0 ? 3U : 4U;
  }
  words[9] = detail::little_endian(used);
  const cuckoo_view view(empty.planned(), words, used);
  cuckoo_filter one(view);
  cuckoo_filter many(view);
  const auto hashes = sample_hashes(20'000);
  std::size_t added = 0;
  for (const std::uint64_t hash : hashes) added += std::size_t{one.try_add(hash)};
  EXPECT_EQ(added, hashes.size());
  EXPECT_EQ(many.try_add_batch(hashes), added);
  EXPECT_EQ(payload(one), payload(many));
}

TEST(cuckoo_filter, opens_from_words_and_goes_on_as_if_nothing_had_been) {
  cuckoo_filter f(of_buckets(20, 12, 4));
  f.set_expansion(4);
  f.add_batch(sample_hashes(700));
  ASSERT_GE(f.layers(), 3U);
  const auto words = payload(f);
  const cuckoo_view view(f.planned(), words, f.keys());
  EXPECT_EQ(view.contains_count(sample_hashes(700)), 700U);
  EXPECT_EQ(view.fpr(), f.fpr());
  EXPECT_EQ(view.fill(), f.fill());
  EXPECT_EQ(view.expansion(), 4U);
  EXPECT_EQ(payload(view), words);

  cuckoo_filter owner(view);
  EXPECT_EQ(payload(owner), words);
  EXPECT_EQ(owner.shape(), f.shape());
  f.add_batch(sample_hashes(2000, 2));
  owner.add_batch(sample_hashes(2000, 2));
  f.remove_batch(sample_hashes(700));
  owner.remove_batch(sample_hashes(700));
  EXPECT_EQ(payload(owner), payload(f));
  EXPECT_EQ(owner.shape(), f.shape());
  EXPECT_EQ(owner.keys(), f.keys());
}

TEST(cuckoo_filter, copies_and_moves) {
  cuckoo_filter f(of_buckets(20, 12, 4));
  f.add_batch(sample_hashes(300));
  cuckoo_filter copy = f;
  EXPECT_EQ(payload(copy), payload(f));
  copy.add_batch(sample_hashes(300, 2));
  EXPECT_EQ(copy.contains_count(sample_hashes(300, 2)), 300U);
  EXPECT_NE(payload(copy), payload(f));
  EXPECT_EQ(f.keys(), 300U);
  const auto words = payload(copy);
  cuckoo_filter moved = std::move(copy);
  EXPECT_EQ(payload(moved), words);
  EXPECT_TRUE(moved.add(sample_hash(1, 3)));
  f = moved;
  EXPECT_EQ(payload(f), payload(moved));
  EXPECT_TRUE(f.remove(sample_hash(1, 3)));
  EXPECT_TRUE(moved.contains(sample_hash(1, 3)));
  f = std::move(moved);
  EXPECT_TRUE(f.contains(sample_hash(1, 3)));
  expect_consistent(f);
}

TEST(cuckoo_filter, an_empty_filter_of_any_plan) {
  cuckoo_filter grown(of_buckets(20, 12, 5));
  grown.add_batch(sample_hashes(1000));
  const cuckoo_filter again(grown.planned());
  EXPECT_EQ(again.layers(), 1U);
  EXPECT_LE(again.shape().bits, grown.shape().bits);
  EXPECT_GT(again.shape().bits + 512 + 64, grown.shape().bits);
  EXPECT_EQ(payload(again).size() * 64, again.shape().bits);
  plan p = of_buckets(1, 32, 255);
  EXPECT_NO_THROW(cuckoo_filter{p});
  p.shape.bits -= 512;
  EXPECT_TRUE(throws(errc::bad_argument, "at least", [&] { cuckoo_filter{p}; }));
  p = {.shape = {.probes = 3, .block_bits = 512, .bits = 512}};
  EXPECT_TRUE(throws(errc::bad_argument, "blocked", [&] { cuckoo_filter{p}; }));
}

// ---- foreign words ----------------------------------------------------------------------------

// Opens, asks and changes; any of it may throw bloomery::error and none may do anything else.
void use(const plan& p, std::span<const std::uint64_t> words) {
  try {
    const cuckoo_view view(p, words, 7);
    (void)view.contains_count(sample_hashes(100));
    EXPECT_GE(view.fpr(), 0.0);
    EXPECT_LE(view.fpr(), 1.0);
    (void)view.fill();
    cuckoo_filter f(view);
    f.set_max_layers(std::min(f.layers() + 1, 32U));
    (void)f.remove_batch(sample_hashes(100));
    (void)f.add_batch(sample_hashes(200, 3));
    (void)f.remove_batch(sample_hashes(200, 3));
    EXPECT_EQ(payload(f).size() * 64, f.shape().bits);
  } catch (const error& e) {
    EXPECT_TRUE(e.code() == errc::corrupt || e.code() == errc::bad_argument) << e.what();
  }
}

TEST(cuckoo_filter, hostile_words_are_refused_or_harmless) {
  cuckoo_filter f(of_buckets(9, 12, 4));
  f.add_batch(sample_hashes(150));
  const plan p = f.planned();
  const auto good = payload(f);
  const std::size_t preamble = f.parts().front().size();
  ASSERT_EQ(f.layers(), 3U);
  constexpr std::array<std::uint64_t, 12> values = {
      0, 1, 2, 3, 33, 255, 1ULL << 31U, 1ULL << 32U, 1ULL << 47U, 1ULL << 48U, 1ULL << 63U, ~0ULL};
  for (std::size_t w = 0; w < preamble; ++w) {
    for (const std::uint64_t value : values) {
      auto words = good;
      words[w] = detail::little_endian(value);
      use(p, words);
    }
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      auto words = good;
      words[w] ^= std::uint64_t{1} << bit;
      use(p, words);
    }
  }
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto words = good;
    const std::size_t from = seed % 2 == 0 ? 0 : preamble;  // everything, or the cells
    for (std::size_t i = from; i < words.size(); ++i) words[i] = sample_hash(i, seed);
    use(p, words);
  }
}

TEST(cuckoo_filter, says_what_is_wrong_with_words) {
  cuckoo_filter f(of_buckets(9, 12, 4));
  f.add_batch(sample_hashes(150));
  const auto good = payload(f);
  ASSERT_EQ(f.layers(), 3U);
  const std::uint64_t base = detail::little_endian(good[8]);
  const auto refused = [&](const char* text, std::size_t word, std::uint64_t value) {
    auto words = good;
    words[word] = detail::little_endian(value);
    EXPECT_TRUE(throws(errc::corrupt, text, [&] { const cuckoo_view v(f.planned(), words, 0); }));
  };
  refused("number of layers is 0", 0, 0);
  refused("number of layers is 33", 0, 33);
  refused("greatest number of layers is 0", 1, 0);
  refused("expansion is 3", 2, 3);
  refused("reserved", 5, 1);
  refused("0 buckets", 8, 0);
  refused("buckets", 10, 19);
  refused("longer", 10, base << 8U);
  refused("shorter", 12, base);
  refused("cells", 9, base * 4 + 1);
  refused("reserved", 15, 1);
  // One key fewer than there are: enough to answer from, not to change or to write again.
  auto words = good;
  words[9] = detail::little_endian(detail::little_endian(words[9]) - 1);
  const cuckoo_view forged(f.planned(), words, 150);
  EXPECT_EQ(forged.contains_count(sample_hashes(150)), 150U);
  const char* const text = "of its cells are in use";
  EXPECT_TRUE(throws(errc::corrupt, text, [&] { forged.check(); }));
  EXPECT_TRUE(throws(errc::corrupt, text, [&] { const cuckoo_filter owner(forged); }));
  for (std::size_t count = 0; count < good.size(); count += 7) {
    plan p = f.planned();
    p.shape.bits = std::max<std::uint64_t>(1, count) * 64;
    use(p, std::span(good).first(std::max<std::size_t>(1, count)));
    EXPECT_TRUE(throws(errc::bad_argument, "the number of words",
                       [&] { const cuckoo_view v(f.planned(), std::span(good).first(count), 0); }));
  }
}

// 64 buckets of 48 bits fill six lines. Eight bytes from where the last of them begins do not fit.
TEST(cuckoo_filter, a_layer_has_room_behind_its_last_bucket) {
  const cuckoo_filter f(of_buckets(63, 12, 4));
  auto words = payload(f);
  ASSERT_EQ(words.size(), 16U + 48);
  ASSERT_EQ(detail::little_endian(words[8]), 63U);
  words[8] = detail::little_endian(64);
  EXPECT_TRUE(throws(errc::corrupt, "longer", [&] { const cuckoo_view v(f.planned(), words, 0); }));
}

// The whole arithmetic for one key, spelt out from the text of the format.
TEST(cuckoo_filter, has_the_positions_of_the_format) {
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::uint64_t h = sample_hash(i);
    cuckoo_filter f(of_buckets(40, 11, 4));
    const std::uint64_t buckets = (f.shape().bits - 1024 - 64) / 44 + 1;
    const auto high = [](std::uint64_t a, std::uint64_t b) {
      return static_cast<std::uint64_t>((static_cast<detail::uint128>(a) * b) >> 64U);
    };
    const std::uint64_t fingerprint = std::max<std::uint64_t>(1, h % 2048);
    std::uint64_t m = fingerprint * 0x9fb21c651e98df25U;
    m ^= m << 32U;
    const std::uint64_t first = high(h, buckets);
    const std::uint64_t second = (high(m, buckets) + buckets - first) % buckets;
    for (int n = 0; n < 8; ++n) ASSERT_TRUE(f.add(h));
    const auto words = payload(f);
    EXPECT_EQ(detail::little_endian(words[9]), first == second ? 4U : 8U);
    for (const std::uint64_t bucket : {first, second}) {
      for (std::uint64_t cell = 0; cell < 4; ++cell) {
        EXPECT_EQ(detail::get_bits(words.data() + 16, (bucket * 4 + cell) * 11, 11), fingerprint);
      }
    }
  }
}

}  // namespace
