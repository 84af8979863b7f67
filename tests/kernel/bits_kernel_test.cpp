// Kernels over whole arrays, of every instruction set that this machine has: counting set bits,
// halving and folding, against one bit or one word after the other.

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "../../src/kernel/bits/fold.hpp"
#include "../../src/kernel/bits/halve.hpp"
#include "../../src/kernel/bits/popcount.hpp"
#include "../../src/kernel/dispatch.hpp"
#include "bloomery/bits/bit_array.hpp"
#include "bloomery/hash/hash.hpp"
#include "levels.hpp"

namespace {

using namespace bloomery;
using kernel::level;

std::vector<std::uint64_t> random_words(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> words(count);
  for (std::size_t i = 0; i < count; ++i) words[i] = splitmix64(seed + i);
  if (count > 2) words[1] = 0;
  if (count > 3) words[2] = ~std::uint64_t{0};
  return words;
}

bool bit_of(std::span<const std::uint64_t> words, std::size_t position) {
  return ((words[position / 64] >> (position % 64)) & 1U) != 0;
}

class bits_kernel : public testing::TestWithParam<level> {};

INSTANTIATE_TEST_SUITE_P(every_level, bits_kernel,
                         testing::ValuesIn(kernel_tests::available_levels()),
                         kernel_tests::name_of);

TEST_P(bits_kernel, counts_set_bits) {
  const auto& kernels = kernel::popcount_kernels_of(GetParam());
  for (std::size_t count = 0; count < 1000; count += count < 200 ? 1 : 37) {
    const std::vector<std::uint64_t> a = random_words(count, 1);
    const std::vector<std::uint64_t> b = random_words(count, 1000);
    std::uint64_t ones = 0;
    std::uint64_t in_either = 0;
    for (std::size_t p = 0; p < count * 64; ++p) {
      ones += bit_of(a, p) ? 1U : 0U;
      in_either += bit_of(a, p) || bit_of(b, p) ? 1U : 0U;
    }
    EXPECT_EQ(kernels.count(a.data(), count), ones);
    EXPECT_EQ(kernels.count_union(a.data(), b.data(), count), in_either);
    EXPECT_EQ(count_bits(a), ones);
  }
}

TEST_P(bits_kernel, halves_in_place_and_elsewhere) {
  const kernel::halve_kernel halve = kernel::halve_kernel_of(GetParam());
  for (std::size_t count = 0; count < 40; ++count) {
    std::vector<std::uint64_t> from = random_words(2 * count, count);
    for (std::size_t i = 0; i < from.size(); i += 3) from[i] &= splitmix64(i) & splitmix64(~i);
    std::vector<std::uint64_t> expected(count);
    for (std::size_t p = 0; p < count * 64; ++p) {
      const bool either = bit_of(from, 2 * p) || bit_of(from, 2 * p + 1);
      expected[p / 64] |= std::uint64_t{either} << (p % 64);
    }
    std::vector<std::uint64_t> to(count + 1, 0x1234);
    halve(from.data(), to.data(), count);
    EXPECT_EQ(to.back(), 0x1234U);
    to.pop_back();
    EXPECT_EQ(to, expected);
    halve(from.data(), from.data(), count);
    from.resize(count);
    EXPECT_EQ(from, expected);
  }
}

TEST_P(bits_kernel, folds_blocks) {
  const kernel::fold_kernel fold = kernel::fold_kernel_of(GetParam());
  for (const std::size_t block : {4U, 8U}) {
    for (const std::size_t divisor : {1U, 2U, 3U, 8U, 17U}) {
      for (std::size_t count = 0; count < 20; ++count) {
        const std::vector<std::uint64_t> from = random_words(count * block * divisor, divisor);
        std::vector<std::uint64_t> expected(count * block);
        for (std::size_t w = 0; w < from.size(); ++w) {
          expected[w / block / divisor * block + w % block] |= from[w];
        }
        std::vector<std::uint64_t> to(count * block + 1, 0x1234);
        fold(from.data(), to.data(), count, divisor, block);
        EXPECT_EQ(to.back(), 0x1234U);
        to.pop_back();
        EXPECT_EQ(to, expected);
      }
    }
  }
}

}  // namespace
