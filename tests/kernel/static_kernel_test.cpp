// The kernels of the static kinds for every instruction set that this machine has, against the
// one-key calls of the views: every width, three and four probes, one shard and many, shards
// without keys, any number of keys asked.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "../../src/kernel/dispatch.hpp"
#include "../../src/kernel/ribbon/ribbon.hpp"
#include "../../src/kernel/wide/wide.hpp"
#include "bloomery/core/sizing_static.hpp"
#include "bloomery/filter/bloomier.hpp"
#include "bloomery/filter/fuse.hpp"
#include "bloomery/filter/ribbon.hpp"
#include "filter/samples.hpp"
#include "levels.hpp"

namespace {

using namespace bloomery;
using bloomery_test::sample_hash;
using bloomery_test::sample_hashes;
using hash_list = std::vector<std::uint64_t>;
using kernel::level;

constexpr std::uint64_t shard_keys = std::uint64_t{1} << sizing::log2_shard_keys;

class static_kernel : public testing::TestWithParam<level> {};

INSTANTIATE_TEST_SUITE_P(every_level, static_kernel,
                         testing::ValuesIn(kernel_tests::available_levels()),
                         kernel_tests::name_of);

// A view whose directory the kernels can be given.
template <class View>
struct opened : View {
  using View::directory;
  using View::View;
  template <class Filter>
  explicit opened(const Filter& f) : View(f.planned(), f.words(), f.keys()) {}
};

kernel::fuse_array array_of(const opened<fuse_view>& view) {
  return {.directory = view.directory(),
          .probes = view.shape().probes,
          .cell_bits = view.shape().cell_bits};
}
kernel::fuse_array array_of(const opened<bloomier_view>& view) {
  return {.directory = view.directory(),
          .probes = view.shape().probes,
          .cell_bits = sizing::bloomier_tag_bits(view.shape()),
          .value_bits = view.value_bits()};
}

void ask(level l, const opened<fuse_view>& view, const kernel::key_run& run,
         std::uint64_t* bitmap) {
  kernel::wide_kernels_of(l).fuse.contains(array_of(view), run, bitmap);
}
void ask(level l, const opened<bloomier_view>& view, const kernel::key_run& run,
         std::uint64_t* bitmap) {
  kernel::wide_kernels_of(l).fuse.tagged(array_of(view), run, bitmap);
}
void ask(level l, const opened<ribbon_view>& view, const kernel::key_run& run,
         std::uint64_t* bitmap) {
  kernel::ribbon_kernels_of(l).contains(
      {.directory = view.directory(), .bits = view.shape().cell_bits}, {run.keys, run.count},
      bitmap);
}

template <class View>
hash_list answers_one_by_one(const View& view, std::span<const std::uint64_t> hashes) {
  hash_list answers((hashes.size() + 63) / 64);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    answers[i / 64] |= std::uint64_t{view.contains(hashes[i])} << (i % 64);
  }
  return answers;
}

// The values, too.
void check_values(level l, const opened<bloomier_view>& view,
                  std::span<const std::uint64_t> hashes) {
  const hash_list expected = answers_one_by_one(view, hashes);
  hash_list bitmap(expected.size(), 0xabcd);
  hash_list values(hashes.size() + 1, 0xabcd);  // what stands behind them stays
  kernel::wide_kernels_of(l).fuse.values(array_of(view), hashes, values.data(), bitmap.data());
  ASSERT_EQ(bitmap, expected);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    ASSERT_EQ(values[i], view.value(hashes[i]).value_or(0)) << i;
  }
  ASSERT_EQ(values.back(), 0xabcdU);
}

template <class View>
void check_answers(level l, const View& view, std::span<const std::uint64_t> hashes) {
  SCOPED_TRACE(testing::Message() << hashes.size() << " keys asked");
  hash_list expected = answers_one_by_one(view, hashes);
  expected.push_back(0xabcd);  // a word more than needed, which must be left alone
  hash_list bitmap(expected.size(), 0xabcd);
  ask(l, view, kernel::run_of(hashes), bitmap.data());
  ASSERT_EQ(bitmap, expected);
  if constexpr (std::is_same_v<View, opened<bloomier_view>>) check_values(l, view, hashes);
}

// Keys of the set and others, some of them twice, and the ends of the range.
hash_list questions(const hash_list& in_the_set, std::size_t count) {
  hash_list all = sample_hashes(count, 99);
  for (std::size_t i = 0; i < count && !in_the_set.empty(); i += 3) {
    all[i] = in_the_set[i * 7 % in_the_set.size()];
    if (i % 2 == 0 && i > 0) all[i - 1] = all[i];
  }
  const hash_list ends = {0, 1, UINT64_MAX, std::uint64_t{1} << 63U, UINT32_MAX};
  std::copy_n(ends.begin(), std::min(count, ends.size()), all.begin());
  return all;
}

// The filter as it was built, and then with garbage in its arrays, where every cell counts.
template <class View, class Filter>
void check_filter(level l, const Filter& f, const hash_list& in_the_set,
                  std::span<const std::size_t> counts) {
  SCOPED_TRACE(testing::Message() << f.shape().probes << " probes, " << f.shape().cell_bits
                                  << " bits, variant " << f.shape().variant << ", "
                                  << in_the_set.size() << " keys");
  const opened<View> built(f);
  hash_list words(f.words().begin(), f.words().end());
  const auto arrays = static_cast<std::size_t>(built.directory().array_words);
  for (std::size_t i = 0; i < arrays; ++i) words[i] = sample_hash(i, 5);
  const opened<View> garbage(f.planned(), words, f.keys());
  for (const std::size_t count : counts) {
    const hash_list asked = questions(in_the_set, count);
    check_answers(l, built, asked);
    check_answers(l, garbage, asked);
    if (testing::Test::HasFatalFailure()) return;
  }
}

constexpr std::size_t few_counts[] = {0, 1, 9, 300};
constexpr std::size_t every_count[] = {0,   1,   2,    7,    8,    9,    15,   16,  17,  63,
                                       64,  65,  111,  112,  113,  127,  128,  129, 255, 256,
                                       257, 999, 1000, 1001, 1023, 1024, 1025, 5000};

struct set_size {
  std::uint64_t shards;
  std::size_t keys;
};
// Fewer keys than shards leave some without; 7000 in one are enough for a layer of a ribbon that
// bumps.
constexpr set_size sizes[] = {{1, 0}, {1, 1}, {1, 100}, {1, 7'000}, {3, 20'000}, {3, 0}, {40, 25}};

plan plan_of(filter_kind kind, std::uint32_t probes, std::uint32_t cell_bits, const set_size& size,
             std::uint32_t variant = 0) {
  return {.shape = {.kind = kind, .probes = probes, .cell_bits = cell_bits, .variant = variant},
          .keys = size.shards * shard_keys};
}

TEST_P(static_kernel, fuse_answers_as_one_by_one) {
  for (const set_size& size : sizes) {
    const hash_list hashes = sample_hashes(size.keys);
    for (const std::uint32_t probes : {3U, 4U}) {
      for (const std::uint32_t bits : {8U, 16U, 32U}) {
        const fuse_filter f(plan_of(filter_kind::fuse, probes, bits, size), hashes);
        check_filter<fuse_view>(GetParam(), f, hashes, few_counts);
      }
    }
  }
}

TEST_P(static_kernel, ribbon_answers_as_one_by_one) {
  for (const set_size& size : sizes) {
    const hash_list hashes = sample_hashes(size.keys);
    for (std::uint32_t bits = 1; bits <= 32; ++bits) {
      const ribbon_filter f(plan_of(filter_kind::ribbon, 1, bits, size), hashes);
      check_filter<ribbon_view>(GetParam(), f, hashes, few_counts);
    }
  }
}

bloomier_filter map_of(const set_size& size, std::uint32_t probes, std::uint32_t value_bits,
                       std::uint32_t check_bits, const hash_list& hashes) {
  hash_list values;
  for (const std::uint64_t hash : hashes) values.push_back(splitmix64(hash) >> (64 - value_bits));
  return {plan_of(filter_kind::bloomier, probes, value_bits + check_bits, size, value_bits), hashes,
          values};
}

TEST_P(static_kernel, bloomier_answers_as_one_by_one) {
  for (const set_size& size : sizes) {
    const hash_list hashes = sample_hashes(size.keys);
    for (const std::uint32_t probes : {3U, 4U}) {
      for (std::uint32_t check_bits = 0; check_bits <= 32; ++check_bits) {
        // Every number of value bits has its turn.
        const std::uint32_t value_bits = 1 + (check_bits * 31 + probes * 29) % 64;
        const auto f = map_of(size, probes, value_bits, check_bits, hashes);
        check_filter<bloomier_view>(GetParam(), f, hashes, few_counts);
      }
    }
  }
}

TEST_P(static_kernel, has_values_of_every_width) {
  const hash_list hashes = sample_hashes(500);
  for (std::uint32_t value_bits = 1; value_bits <= 64; ++value_bits) {
    const auto f = map_of({1, 0}, 3, value_bits, value_bits % 9, hashes);
    check_filter<bloomier_view>(GetParam(), f, hashes, few_counts);
  }
}

TEST_P(static_kernel, takes_any_number_of_keys) {
  const set_size size{2, 20'000};
  const hash_list hashes = sample_hashes(size.keys);
  check_filter<fuse_view>(GetParam(), fuse_filter(plan_of(filter_kind::fuse, 3, 8, size), hashes),
                          hashes, every_count);
  check_filter<ribbon_view>(GetParam(),
                            ribbon_filter(plan_of(filter_kind::ribbon, 1, 7, size), hashes), hashes,
                            every_count);
  check_filter<bloomier_view>(GetParam(), map_of(size, 3, 11, 5, hashes), hashes, every_count);
}

// The answers for integers are those for their hashes, near and far, with a group that is not full.
TEST_P(static_kernel, hashes_integers_on_the_way) {
  const xxh3_hasher hasher(7);
  for (const std::size_t keys : {std::size_t{999}, std::size_t{2'200'000}}) {
    hash_list integers(keys + 1000);
    std::iota(integers.begin(), integers.end(), 5);
    hash_list hashes(integers.size());
    mix64_batch(hasher.integers(integers), hashes);
    const std::span<const std::uint64_t> inside = std::span(hashes).first(keys);
    const hash_list values(keys, 3);
    const set_size size{1 + keys / shard_keys, keys};
    const auto check = [&](const auto& view) {
      const std::size_t asked = 1997;
      const auto last = std::span(hashes).last(asked);
      hash_list bitmap((asked + 63) / 64);
      ask(GetParam(), view, kernel::run_of(hasher.integers(std::span(integers).last(asked))),
          bitmap.data());
      EXPECT_EQ(bitmap, answers_one_by_one(view, last));
    };
    check(opened<fuse_view>(fuse_filter(plan_of(filter_kind::fuse, 3, 32, size), inside)));
    check(opened<bloomier_view>(
        bloomier_filter(plan_of(filter_kind::bloomier, 3, 40, size, 8), inside, values)));
  }
}

// Larger than any cache that is taken for near: the pipelines with prefetches.
TEST_P(static_kernel, takes_large_arrays) {
  const hash_list hashes = sample_hashes(2'200'000);
  const hash_list some(hashes.begin(), hashes.begin() + 1'000'000);
  const set_size two_shards{2, hashes.size()};
  const set_size one_shard{1, some.size()};
  const auto large = [](const auto& f) { EXPECT_GT(f.shape().bits, std::uint64_t{8} << 23U); };
  const fuse_filter fuse(plan_of(filter_kind::fuse, 3, 32, two_shards), hashes);
  large(fuse);
  check_filter<fuse_view>(GetParam(), fuse, hashes, every_count);
  const ribbon_filter ribbon(plan_of(filter_kind::ribbon, 1, 32, two_shards), hashes);
  large(ribbon);
  check_filter<ribbon_view>(GetParam(), ribbon, hashes, every_count);
  const bloomier_filter bloomier = map_of(one_shard, 3, 64, 8, some);
  large(bloomier);
  check_filter<bloomier_view>(GetParam(), bloomier, some, every_count);
}

}  // namespace
