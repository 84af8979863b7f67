// The kernels for counters in lines, of every instruction set that this machine has, against the
// calls for one key: the same counters and the same answers, for every number of probes and width,
// any length, keys that repeat themselves within a group, and counters that stick.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../../src/kernel/blocked/blocked.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/detail/hash/listed_lanes.hpp"
#include "bloomery/filter/counting.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/hash/hash.hpp"
#include "levels.hpp"

namespace {

using namespace bloomery;
using kernel::level;
using kernel_tests::integers;
using kernel_tests::mixed;
using kernel_tests::spread_seed;

// One key at a time, lane by lane.
class model {
 public:
  model(std::uint64_t blocks, std::uint32_t probes, std::uint32_t width)
      : words(blocks * 8), blocks_(blocks), tables_(probes), width_(width) {}

  void add(std::span<const std::uint64_t> hashes) {
    for (const std::uint64_t h : hashes) lanes().increment(h, block_of(h), width_);
  }
  std::size_t remove(std::span<const std::uint64_t> hashes) {
    std::size_t removed = 0;
    for (const std::uint64_t h : hashes) {
      removed += std::size_t{lanes().decrement(h, block_of(h), width_)};
    }
    return removed;
  }
  std::vector<std::uint64_t> answers(std::span<const std::uint64_t> hashes) {
    std::vector<std::uint64_t> bitmap((hashes.size() + 63) / 64);
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const bool there = lanes().counted(hashes[i], block_of(hashes[i]), width_);
      bitmap[i / 64] |= std::uint64_t{there} << (i % 64);
    }
    return bitmap;
  }
  std::vector<std::uint64_t> counts(std::span<const std::uint64_t> hashes) {
    std::vector<std::uint64_t> all;
    for (const std::uint64_t h : hashes) all.push_back(lanes().least(h, block_of(h), width_));
    return all;
  }

  std::vector<std::uint64_t> words;

 private:
  [[nodiscard]] detail::listed_lanes lanes() const { return detail::listed_lanes(tables_); }
  std::uint64_t* block_of(std::uint64_t hash) {
    return words.data() + detail::multiply_high(hash, blocks_) * 8;
  }

  std::uint64_t blocks_;
  detail::lane_tables tables_;
  std::uint32_t width_;
};

struct layout {
  std::uint64_t blocks;
  std::uint32_t probes;
  std::uint32_t width;
};

class CountingKernel : public testing::TestWithParam<level> {
 protected:
  [[nodiscard]] const kernel::blocked_kernels& kernels() const {
    return kernel::blocked_kernels_of(GetParam());
  }

  // Adds, asks, counts and removes; as hashes, and as integers that are hashed on the way.
  void check(const layout& l, std::span<const std::uint64_t> keys) {
    SCOPED_TRACE(testing::Message() << l.blocks << " blocks, " << l.probes << " probes, " << l.width
                                    << " bits, " << keys.size() << " keys");
    const std::vector<std::uint64_t> hashes = mixed(keys);
    // Every third key is there, the others mostly not.
    std::vector<std::uint64_t> asked = integers(keys.size(), 5);
    for (std::size_t i = 0; i < keys.size(); i += 3) asked[i] = keys[i];
    const std::vector<std::uint64_t> asked_hashes = mixed(asked);

    for (const bool on_the_way : {false, true}) {
      const auto run = [&](const auto& integer_keys, const auto& their_hashes) {
        return on_the_way ? kernel::run_of(
                                mixed_integers{.keys = integer_keys, .spread_seed = spread_seed})
                          : kernel::run_of(their_hashes);
      };
      model expected(l.blocks, l.probes, l.width);
      std::vector<std::uint64_t> words(expected.words.size());
      const kernel::const_blocks array{words.data(), l.blocks, l.probes, l.width};
      const kernel::changing_blocks changing{words.data(), l.blocks, l.probes, l.width};

      expected.add(hashes);
      kernels().add_counted(changing, run(keys, hashes));
      ASSERT_EQ(words, expected.words);

      std::vector<std::uint64_t> bitmap = {0x1234};  // a word before and after, to be left alone
      bitmap.resize(1 + (asked.size() + 63) / 64, ~std::uint64_t{0});
      bitmap.push_back(0x1234);
      kernels().contains_counted(array, run(asked, asked_hashes), bitmap.data() + 1);
      ASSERT_EQ(bitmap.front(), 0x1234);
      ASSERT_EQ(bitmap.back(), 0x1234);
      ASSERT_TRUE(
          std::equal(bitmap.begin() + 1, bitmap.end() - 1, expected.answers(asked_hashes).begin()));

      std::vector<std::uint64_t> counts(asked.size());
      kernels().count(array, run(asked, asked_hashes), counts.data());
      ASSERT_EQ(counts, expected.counts(asked_hashes));

      const std::size_t removed = expected.remove(asked_hashes);
      ASSERT_EQ(kernels().remove_counted(changing, run(asked, asked_hashes)), removed);
      ASSERT_EQ(words, expected.words);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(EveryLevel, CountingKernel,
                         testing::ValuesIn(kernel_tests::available_levels()),
                         kernel_tests::name_of);

TEST_P(CountingKernel, EveryShape) {
  for (std::uint32_t probes = 1; probes <= 16; ++probes) {
    for (const std::uint32_t width : {2U, 4U, 8U, 16U}) {
      for (const std::uint64_t blocks : {1U, 2U, 77U, 1000U}) {
        for (const std::size_t count : {1U, 7U, 8U, 9U, 63U, 64U, 65U, 1000U}) {
          check({blocks, probes, width}, integers(count));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(CountingKernel, AnyLength) {
  for (std::size_t count = 0; count <= 300; ++count) {
    check({100, 6, 4}, integers(count));
    if (HasFatalFailure()) return;
  }
}

// A key twice in a group counts twice, and of two removals the second may fail.
TEST_P(CountingKernel, KeysThatRepeatThemselves) {
  for (const std::size_t distinct : {1U, 2U, 3U, 7U, 50U}) {
    for (const std::uint32_t width : {2U, 4U, 8U, 16U}) {
      std::vector<std::uint64_t> keys;
      for (std::size_t i = 0; i < 500; ++i) keys.push_back(splitmix64(i) % distinct);
      check({10, 6, width}, keys);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(CountingKernel, LargeArrays) {
  for (const std::size_t count : {1U, 8U, 100U, 127U, 128U, 129U, 1000U, 5000U}) {
    check({150'001, 6, 4}, integers(count));
    if (HasFatalFailure()) return;
  }
}

// What the public calls run: the same as one key at a time, in both layouts.
TEST(CountingBatch, IsTheSameAsOneKeyAtATime) {
  for (const std::uint32_t block_bits : {0U, 512U}) {
    shape s{
        .kind = filter_kind::counting, .probes = 5, .block_bits = block_bits, .bits = 512 * 800};
    s.cell_bits = 4;
    keyed<counting_filter> one{counting_filter(plan{.shape = s})};
    keyed<counting_filter> many = one;
    const std::vector<std::uint64_t> keys = integers(3000);
    for (const std::uint64_t key : keys) one.add(key);
    many.add_batch(keys);
    EXPECT_TRUE(std::ranges::equal(one.filter().words(), many.filter().words()));
    EXPECT_EQ(one.keys(), many.keys());
    EXPECT_EQ(many.contains_count(keys), keys.size());

    const std::vector<std::uint64_t> others = integers(3000, 0x10001 * 1000 + 1);
    const mixed_integers on_the_way = many.hash_function().integers(others);
    std::size_t removed = 0;
    for (const std::uint64_t key : others) removed += one.remove(key) ? 1U : 0U;
    EXPECT_EQ(many.filter().remove_batch(on_the_way), removed);
    EXPECT_TRUE(std::ranges::equal(one.filter().words(), many.filter().words()));
    EXPECT_EQ(one.keys(), many.keys());
    std::vector<std::uint64_t> bitmap((keys.size() + 63) / 64);
    many.contains_bits(keys, bitmap);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ((bitmap[i / 64] >> (i % 64)) & 1U, one.contains(keys[i]) ? 1U : 0U);
    }
  }
}

}  // namespace
