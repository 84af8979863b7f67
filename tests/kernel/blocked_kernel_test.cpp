// The kernels of every instruction set that this machine has, against the one-key calls of
// blocked_probes: the same bits set and the same answers, for every number of probes, any length
// and any alignment.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "../../src/kernel/blocked/blocked.hpp"
#include "../../src/kernel/blocked/layers.hpp"
#include "../../src/kernel/dispatch.hpp"
#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/probe.hpp"
#include "levels.hpp"

namespace {

using namespace bloomery;
using kernel::blocked_kernels;
using kernel::level;
using kernel_tests::integers;
using kernel_tests::mixed;
using kernel_tests::spread_seed;

blocked_probes probes_of(std::uint64_t blocks, std::uint32_t probes) {
  shape s{};
  s.kind = filter_kind::blocked;
  s.bits = blocks * bits_per_block;
  s.probes = probes;
  return blocked_probes(s);
}

void add_one(const blocked_probes& probes, std::uint64_t* words, std::uint64_t hash) {
  probes.all_of(hash, [words](std::uint64_t position) {
    detail::set_bit(words, position);
    return true;
  });
}

bool contains_one(const blocked_probes& probes, const std::uint64_t* words, std::uint64_t hash) {
  return probes.all_of(
      hash, [words](std::uint64_t position) { return detail::test_bit(words, position); });
}

class BlockedKernel : public testing::TestWithParam<level> {
 protected:
  [[nodiscard]] const blocked_kernels& kernels() const {
    return kernel::blocked_kernels_of(GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(EveryLevel, BlockedKernel,
                         testing::ValuesIn(kernel_tests::available_levels()),
                         kernel_tests::name_of);

// Adds `count` integers, once hashed before and once on the way, and asks for others.
void check(const blocked_kernels& kernels, std::uint64_t blocks, std::uint32_t k, std::size_t count,
           std::size_t shift) {
  SCOPED_TRACE(testing::Message() << blocks << " blocks, " << k << " probes, " << count << " keys");
  const blocked_probes probes = probes_of(blocks, k);
  const std::vector<std::uint64_t> all = integers(count + shift);
  const std::span<const std::uint64_t> keys = std::span(all).subspan(shift);
  const std::vector<std::uint64_t> hashes = mixed(keys);

  std::vector<std::uint64_t> expected(blocks * 8 + shift);
  for (const std::uint64_t hash : hashes) add_one(probes, expected.data() + shift, hash);
  std::vector<std::uint64_t> words(blocks * 8 + shift);
  kernels.add({words.data() + shift, blocks, k}, {hashes.data(), count});
  ASSERT_EQ(words, expected);
  std::fill(words.begin(), words.end(), 0);
  kernels.add({words.data() + shift, blocks, k}, {keys.data(), count, true, spread_seed});
  ASSERT_EQ(words, expected);

  // Every third key is there, the others mostly not.
  std::vector<std::uint64_t> asked = integers(count, 5);
  for (std::size_t i = 0; i < count; i += 3) asked[i] = keys[i];
  const std::vector<std::uint64_t> asked_hashes = mixed(asked);
  std::vector<std::uint64_t> answers((count + 63) / 64 + 1, 0);
  answers.back() = 0x1234;
  for (std::size_t i = 0; i < count; ++i) {
    const bool there = contains_one(probes, expected.data() + shift, asked_hashes[i]);
    answers[i / 64] |= std::uint64_t{there} << (i % 64);
  }
  std::vector<std::uint64_t> bitmap(answers.size(), ~std::uint64_t{0});
  bitmap.back() = 0x1234;  // one word more than needed, which must be left alone
  kernels.contains({words.data() + shift, blocks, k}, {asked_hashes.data(), count}, bitmap.data());
  ASSERT_EQ(bitmap, answers);
  std::fill(bitmap.begin(), bitmap.end() - 1, ~std::uint64_t{0});
  kernels.contains({words.data() + shift, blocks, k}, {asked.data(), count, true, spread_seed},
                   bitmap.data());
  ASSERT_EQ(bitmap, answers);
}

TEST_P(BlockedKernel, SetsAndFindsTheBitsOfTheOneKeyCalls) {
  for (std::uint32_t k = 1; k <= 16; ++k) {
    for (const std::uint64_t blocks : {1U, 2U, 3U, 1000U}) {
      for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 63U, 64U, 65U, 300U}) {
        check(kernels(), blocks, k, count, count % 3);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(BlockedKernel, AnyLength) {
  for (std::size_t count = 0; count <= 300; ++count) {
    check(kernels(), 100, 6, count, count % 2);
    if (HasFatalFailure()) return;
  }
}

// Larger than any cache that is taken for near: the pipeline with prefetches.
TEST_P(BlockedKernel, LargeArrays) {
  for (const std::size_t count : {1U, 8U, 100U, 127U, 128U, 129U, 1000U, 5000U}) {
    check(kernels(), 150'001, 6, count, count % 2);
    if (HasFatalFailure()) return;
  }
}

// Only keys that change a bit are counted: not those that were there, nor the second of two equal
// ones.
TEST_P(BlockedKernel, CountsTheKeysThatAreNew) {
  for (std::uint32_t k = 1; k <= 16; ++k) {
    for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 63U, 64U, 65U, 1000U}) {
      std::vector<std::uint64_t> keys = integers(count);
      for (std::size_t i = 1; i < count; i += 5) keys[i] = keys[i / 2];
      for (std::size_t i = 3; i < count; i += 9) keys[i] = keys[i - 1];
      constexpr std::uint64_t blocks = 200;
      const blocked_probes probes = probes_of(blocks, k);
      std::vector<std::uint64_t> expected(blocks * 8);
      std::size_t news = 0;
      for (const std::uint64_t hash : mixed(keys)) {
        news += contains_one(probes, expected.data(), hash) ? 0U : 1U;
        add_one(probes, expected.data(), hash);
      }
      std::vector<std::uint64_t> words(blocks * 8);
      EXPECT_EQ(
          kernels().add_new({words.data(), blocks, k}, {keys.data(), count, true, spread_seed}),
          news);
      ASSERT_EQ(words, expected);
    }
  }
}

// Blocks that are not side by side: those between them are left alone, and not asked.
TEST_P(BlockedKernel, BlocksThatAreApart) {
  for (const std::uint64_t blocks : {3U, 100U, 150'001U}) {
    for (const std::uint64_t apart : {2U, 5U}) {
      const std::vector<std::uint64_t> hashes = mixed(integers(517));
      const blocked_probes probes = probes_of(blocks, 6);
      std::vector<std::uint64_t> near(blocks * 8);
      for (const std::uint64_t hash : hashes) add_one(probes, near.data(), hash);
      std::vector<std::uint64_t> expected(blocks * apart * 8);
      for (std::uint64_t b = 0; b < blocks; ++b) {
        std::copy_n(&near[b * 8], 8, &expected[b * apart * 8]);
      }
      std::vector<std::uint64_t> words(expected.size());
      kernel::changing_blocks array{words.data(), blocks, 6};
      array.stride = apart * 8;
      kernels().add(array, kernel::run_of(hashes));
      ASSERT_EQ(words, expected);

      std::vector<std::uint64_t> asked = mixed(integers(700, 0x10001 * 300 + 1));
      std::vector<std::uint64_t> answers((asked.size() + 63) / 64);
      std::vector<std::uint64_t> bitmap = answers;
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const bool there = contains_one(probes, near.data(), asked[i]);
        answers[i / 64] |= std::uint64_t{there} << (i % 64);
      }
      kernel::const_blocks same{words.data(), blocks, 6};
      same.stride = array.stride;
      kernels().contains(same, kernel::run_of(asked), bitmap.data());
      ASSERT_EQ(bitmap, answers);
    }
  }
}

// Generations that share their lanes: what one key at a time does in the plane that is meant.
TEST_P(BlockedKernel, PlanesOfSharedLanes) {
  for (std::uint32_t k = 1; k <= 16; ++k) {
    for (const std::uint32_t sharing : {1U, 2U, 3U, 5U, 7U, 16U}) {
      const detail::lane_tables tables(k);
      const detail::listed_lanes lanes(tables);
      const std::uint32_t positions = 32 / sharing;
      for (const std::uint64_t blocks : {1U, 30U, 50'001U}) {
        if (blocks > 30 && k != 6) continue;  // once out of what is taken for near
        for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 64U, 65U, 517U}) {
          if (blocks > 30 && count < 65) continue;
          const std::vector<std::uint64_t> keys = integers(count);
          const std::vector<std::uint64_t> hashes = mixed(keys);
          kernel::changing_blocks array{
              .blocks = blocks, .probes = k, .stride = blocks < 50 ? 16U : 8U};
          const auto block_of = [&](std::vector<std::uint64_t>& words, std::uint64_t hash) {
            return &words[detail::multiply_high(hash, blocks) * array.stride];
          };
          std::vector<std::uint64_t> expected(blocks * array.stride);
          std::vector<std::uint64_t> words = expected;
          array.words = words.data();
          std::uint32_t firsts = 0;
          for (std::uint32_t plane = 0; plane < sharing; plane += 2) {
            array.planes = {positions, 1U << plane * positions};
            firsts |= array.planes.first;
            const std::size_t some = count / (plane + 1);
            std::size_t news = 0;
            for (std::size_t i = 0; i < some; ++i) {
              news +=
                  lanes.set_in(hashes[i], block_of(expected, hashes[i]), array.planes) ? 1U : 0U;
            }
            const kernel::key_run run = plane == 0
                                            ? kernel::key_run{keys.data(), some, true, spread_seed}
                                            : kernel::key_run{hashes.data(), some};
            ASSERT_EQ(kernels().add_new_in(array, run), news);
            ASSERT_EQ(words, expected);
          }
          std::vector<std::uint64_t> asked = integers(count, 5);
          for (std::size_t i = 0; i < count; i += 3) asked[i] = keys[i];
          const std::vector<std::uint64_t> asked_hashes = mixed(asked);
          for (const std::uint32_t first : {0U, 1U, firsts}) {
            kernel::const_blocks same{.words = words.data(),
                                      .blocks = blocks,
                                      .probes = k,
                                      .stride = array.stride,
                                      .planes = {positions, first}};
            std::vector<std::uint64_t> answers((count + 63) / 64);
            for (std::size_t i = 0; i < count; ++i) {
              const std::uint64_t h = asked_hashes[i];
              const bool there = lanes.covered_in(h, block_of(expected, h), same.planes);
              answers[i / 64] |= std::uint64_t{there} << (i % 64);
            }
            std::vector<std::uint64_t> bitmap(answers.size(), ~std::uint64_t{0});
            kernels().contains_in(same, {asked_hashes.data(), count}, bitmap.data());
            ASSERT_EQ(bitmap, answers);
            std::fill(bitmap.begin(), bitmap.end(), ~std::uint64_t{0});
            kernels().contains_in(same, {asked.data(), count, true, spread_seed}, bitmap.data());
            ASSERT_EQ(bitmap, answers);
          }
        }
      }
    }
  }
}

// Several filters, one after the other, in pieces.
TEST(ContainsAny, IsTheSameAsAskingEach) {
  std::vector<std::vector<std::uint64_t>> words;
  std::vector<kernel::const_blocks> all;
  for (const std::uint64_t blocks : {5U, 40U, 80U, 300U}) {
    const std::vector<std::uint64_t> hashes = mixed(integers(blocks * 20, blocks << 40U));
    std::vector<std::uint64_t>& own = words.emplace_back(blocks * 8);
    for (const std::uint64_t hash : hashes) add_one(probes_of(blocks, 7), own.data(), hash);
  }
  for (const auto& own : words) all.push_back({own.data(), own.size() / 8, 7});
  for (const std::size_t count : {0U, 1U, 64U, 65U, 4097U, 131'071U, 131'072U, 131'073U}) {
    const std::vector<std::uint64_t> asked = mixed(integers(count, std::uint64_t{40} << 40U));
    for (std::size_t filters = 0; filters <= all.size(); ++filters) {
      std::vector<std::uint64_t> bitmap((count + 63) / 64, ~std::uint64_t{0});
      kernel::contains_any(kernel::blocked_kernels_chosen().contains, std::span(all).first(filters),
                           kernel::run_of(asked), bitmap);
      for (std::size_t i = 0; i < count; ++i) {
        bool there = false;
        for (std::size_t f = 0; f < filters; ++f) {
          there = there || contains_one(probes_of(all[f].blocks, 7), all[f].words, asked[i]);
        }
        ASSERT_EQ((bitmap[i / 64] >> (i % 64)) & 1U, there ? 1U : 0U);
      }
    }
  }
}

// More than 2^32 blocks: 256 GiB, of which a few pages are touched.
TEST_P(BlockedKernel, MoreThan32BitsOfBlocks) {
  constexpr std::uint64_t blocks = (std::uint64_t{1} << 32U) + 12345;
  void* const memory = mmap(nullptr, blocks * 64, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no such address space";
  auto* const words = static_cast<std::uint64_t*>(memory);
  const blocked_probes probes = probes_of(blocks, 6);
  const std::vector<std::uint64_t> keys = integers(203);
  kernels().add({words, blocks, 6}, {keys.data(), keys.size(), true, spread_seed});
  std::vector<std::uint64_t> bitmap(4);
  kernels().contains({words, blocks, 6}, {keys.data(), keys.size(), true, spread_seed},
                     bitmap.data());
  EXPECT_EQ(count_bits(bitmap), keys.size());
  for (const std::uint64_t hash : mixed(keys)) {
    ASSERT_TRUE(contains_one(probes, words, hash));
  }
  munmap(memory, blocks * 64);
}

TEST_P(BlockedKernel, MixesLikeMix64) {
  for (std::size_t count = 0; count < 40; ++count) {
    std::vector<std::uint64_t> keys = integers(count, ~std::uint64_t{0} - 100'000);
    if (count > 2) keys[1] = 0xffffffff00000000U;
    std::vector<std::uint64_t> hashes(count);
    kernels().mix(keys.data(), count, spread_seed, hashes.data());
    EXPECT_EQ(hashes, mixed(keys));
  }
}

TEST(Dispatch, WhatIsAskedForIfTheMachineHasIt) {
  for (const level l : kernel::levels) {
    const level chosen = kernel::choose(level_name(l));
    EXPECT_TRUE(kernel::available(chosen));
    EXPECT_TRUE(chosen == l || !kernel::available(l));
  }
  EXPECT_EQ(kernel::choose("portable"), level::portable);
  EXPECT_EQ(kernel::choose("mmx"), kernel::choose(""));
  EXPECT_TRUE(kernel::available(kernel::choose("")));
}

// What the public calls run: the same as one key at a time, whatever the type of the keys.
TEST(KeyedBatch, IntegersOfEveryTypeAreTheSameKeys) {
  filter one({.keys = 5000, .fpr = 0.01, .seed = 3});
  filter many = one;
  filter signed_many = one;
  filter narrow = one;
  std::vector<std::uint64_t> keys;
  std::vector<std::int64_t> signed_keys;
  std::vector<std::int32_t> narrow_keys;
  for (int i = -2500; i < 2500; ++i) {
    one.add(i);
    keys.push_back(static_cast<std::uint64_t>(std::int64_t{i}));
    signed_keys.push_back(i);
    narrow_keys.push_back(i);
  }
  many.add_batch(keys);
  signed_many.add_batch(signed_keys);
  narrow.add_batch(narrow_keys);
  for (const filter* f : {&many, &signed_many, &narrow}) {
    EXPECT_TRUE(std::ranges::equal(f->filter().words(), one.filter().words()));
    EXPECT_EQ(f->keys(), one.keys());
    EXPECT_EQ(f->contains_count(keys), keys.size());
    EXPECT_EQ(f->contains_count(signed_keys), keys.size());
  }
  const std::vector<std::uint64_t> absent = integers(3000, 1U << 20U);
  std::size_t found = 0;
  for (const std::uint64_t key : absent) found += one.contains(key) ? 1U : 0U;
  EXPECT_EQ(one.contains_count(absent), found);
}

}  // namespace
