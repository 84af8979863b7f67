// The kernels of every instruction set that this machine has, against the one-key calls of
// split_block_probes: the same bits set and the same answers, for any length and any alignment.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "../../src/kernel/dispatch.hpp"
#include "../../src/kernel/split_block/split_block.hpp"
#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/detail/hash/split_lanes.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/probe.hpp"
#include "levels.hpp"

namespace {

using namespace bloomery;
using kernel::level;
using kernel::split_block_kernels;
using kernel_tests::integers;
using kernel_tests::mixed;
using kernel_tests::spread_seed;

split_block_probes split_probes_of(std::uint64_t blocks) {
  return split_block_probes({.kind = filter_kind::split_block,
                             .probes = split_probes,
                             .block_bits = bits_per_split_block,
                             .bits = blocks * bits_per_split_block});
}

void add_one(const split_block_probes& probes, std::uint64_t* words, std::uint64_t hash) {
  probes.all_of(hash, [words](std::uint64_t position) {
    detail::set_bit(words, position);
    return true;
  });
}

bool contains_one(const split_block_probes& probes, const std::uint64_t* words,
                  std::uint64_t hash) {
  return probes.all_of(
      hash, [words](std::uint64_t position) { return detail::test_bit(words, position); });
}

template <class Word>
kernel::block_array<Word> split_blocks(Word* words, std::uint64_t blocks) {
  return {.words = words, .blocks = blocks, .probes = split_probes, .stride = 4};
}

class SplitBlockKernel : public testing::TestWithParam<level> {
 protected:
  [[nodiscard]] const split_block_kernels& kernels() const {
    return kernel::split_block_kernels_of(GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(EveryLevel, SplitBlockKernel,
                         testing::ValuesIn(kernel_tests::available_levels()),
                         kernel_tests::name_of);

// Adds `count` integers, once hashed before and once on the way, and asks for others.
void check(const split_block_kernels& kernels, std::uint64_t blocks, std::size_t count,
           std::size_t shift) {
  SCOPED_TRACE(testing::Message() << blocks << " blocks, " << count << " keys");
  const split_block_probes probes = split_probes_of(blocks);
  const std::vector<std::uint64_t> all = integers(count + shift);
  const std::span<const std::uint64_t> keys = std::span(all).subspan(shift);
  const std::vector<std::uint64_t> hashes = mixed(keys);

  std::vector<std::uint64_t> expected(blocks * 4 + shift);
  for (const std::uint64_t hash : hashes) add_one(probes, expected.data() + shift, hash);
  std::vector<std::uint64_t> words(blocks * 4 + shift);
  const auto changing = split_blocks(words.data() + shift, blocks);
  kernels.add(changing, {hashes.data(), count});
  ASSERT_EQ(words, expected);
  std::fill(words.begin(), words.end(), 0);
  kernels.add(changing, {keys.data(), count, true, spread_seed});
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
  const auto fixed = split_blocks<const std::uint64_t>(words.data() + shift, blocks);
  std::vector<std::uint64_t> bitmap(answers.size(), ~std::uint64_t{0});
  bitmap.back() = 0x1234;  // one word more than needed, which must be left alone
  kernels.contains(fixed, {asked_hashes.data(), count}, bitmap.data());
  ASSERT_EQ(bitmap, answers);
  std::fill(bitmap.begin(), bitmap.end() - 1, ~std::uint64_t{0});
  kernels.contains(fixed, {asked.data(), count, true, spread_seed}, bitmap.data());
  ASSERT_EQ(bitmap, answers);
}

TEST_P(SplitBlockKernel, SetsAndFindsTheBitsOfTheOneKeyCalls) {
  for (const std::uint64_t blocks : {1U, 2U, 3U, 1000U}) {
    for (std::size_t count = 0; count <= 300; ++count) {
      check(kernels(), blocks, count, count % 3);
      if (HasFatalFailure()) return;
    }
  }
}

// Larger than any cache that is taken for near: the pipeline with prefetches.
TEST_P(SplitBlockKernel, LargeArrays) {
  for (const std::size_t count : {1U, 8U, 100U, 127U, 128U, 129U, 1000U, 5000U}) {
    check(kernels(), 300'001, count, count % 2);
    if (HasFatalFailure()) return;
  }
}

// More than 2^32 blocks: 128 GiB, of which a few pages are touched.
TEST_P(SplitBlockKernel, MoreThan32BitsOfBlocks) {
  constexpr std::uint64_t blocks = (std::uint64_t{1} << 32U) + 12345;
  void* const memory = mmap(nullptr, blocks * 32, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no such address space";
  auto* const words = static_cast<std::uint64_t*>(memory);
  const split_block_probes probes = split_probes_of(blocks);
  const std::vector<std::uint64_t> keys = integers(203);
  kernels().add(split_blocks(words, blocks), {keys.data(), keys.size(), true, spread_seed});
  std::vector<std::uint64_t> bitmap(4);
  kernels().contains(split_blocks<const std::uint64_t>(words, blocks),
                     {keys.data(), keys.size(), true, spread_seed}, bitmap.data());
  EXPECT_EQ(count_bits(bitmap), keys.size());
  for (const std::uint64_t hash : mixed(keys)) {
    ASSERT_TRUE(contains_one(probes, words, hash));
  }
  munmap(memory, blocks * 32);
}

// The calls for one key, against the lanes one by one: in blocks that are nearly empty, half full
// and nearly full.
TEST_P(SplitBlockKernel, OneKeyIsThatOfTheLanesOneByOne) {
  const detail::split_lane_calls& calls = kernels().one_key;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const std::uint64_t hash = splitmix64(i);
    std::vector<std::uint64_t> a(4);
    for (std::size_t w = 0; w < a.size(); ++w) {
      const std::uint64_t r = splitmix64(i * 100 + w);
      const std::uint64_t s = splitmix64(r);
      a[w] = i % 3 == 0 ? r & s : i % 3 == 1 ? r | s | splitmix64(s) : r;
    }
    std::vector<std::uint64_t> b = a;
    using listed = detail::listed_split_lanes;
    ASSERT_EQ(calls.covered(hash, a.data()), listed::covered(hash, b.data()));
    ASSERT_EQ(calls.set(hash, a.data()), listed::set(hash, b.data()));
    ASSERT_EQ(a, b);
    ASSERT_TRUE(calls.covered(hash, a.data()));
  }
}

}  // namespace
