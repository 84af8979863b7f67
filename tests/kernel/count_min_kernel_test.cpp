// The kernels of the count-min sketch of every instruction set that this machine has, against
// count_min's one-key calls: the same counters and counts, for every width of counters, both rules
// and counts that saturate.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "../../src/kernel/dispatch.hpp"
#include "../../src/kernel/wide/wide.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/sketch/count_min.hpp"
#include "levels.hpp"

namespace {

using namespace bloomery;
using kernel::level;

constexpr std::size_t preamble_words = sizing::count_min_preamble_bits / 64;

// Few different ones, so that keys come again within a group of eight.
std::vector<std::uint64_t> repeated_hashes(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> hashes(count);
  for (std::size_t i = 0; i < count; ++i) hashes[i] = splitmix64(seed + i * i % 301);
  return hashes;
}

plan plan_of(std::uint32_t cell_bits, std::uint32_t depth, std::uint64_t width, bool conservative) {
  plan p{};
  p.shape.kind = filter_kind::count_min;
  p.shape.probes = depth;
  p.shape.cell_bits = cell_bits;
  p.shape.variant = conservative ? 1 : 0;
  const std::uint64_t bits = sizing::count_min_preamble_bits + width * depth * cell_bits;
  p.shape.bits = (bits + 63) / 64 * 64;
  return p;
}

template <class Word>
kernel::scatter_array<Word> cells_of(Word* words, const count_min_view& v) {
  return {.words = words + preamble_words,
          .range = v.width(),
          .step = v.width(),
          .probes = v.depth(),
          .cell_log = static_cast<std::uint32_t>(std::countr_zero(v.shape().cell_bits))};
}

class count_min_kernel : public testing::TestWithParam<level> {
 protected:
  // Adds ones, then counts of which some saturate, and asks for keys that were added and others.
  void check(const plan& p, std::size_t count) const {
    SCOPED_TRACE(testing::Message() << p.shape.cell_bits << " bits, depth " << p.shape.probes
                                    << ", variant " << p.shape.variant << ", " << count << " keys");
    const auto& kernels = kernel::wide_kernels_of(GetParam());
    const auto add = p.shape.variant == 1 ? kernels.count_min.raise : kernels.count_min.add;
    count_min expected(p);
    count_min sketch(p);
    const std::vector<std::uint64_t> hashes = repeated_hashes(count, 1);
    std::vector<std::uint64_t> counts = repeated_hashes(count, 77);
    for (std::size_t i = 0; i < count; ++i) counts[i] >>= i % 64;
    if (count > 2) counts[2] = 0;

    for (const std::uint64_t hash : hashes) expected.add(hash);
    add(cells_of(sketch.mutable_words().data(), sketch), {hashes.data(), count}, nullptr);
    expect_same_counters(sketch, expected);
    for (std::size_t i = 0; i < count; ++i) expected.add(hashes[i], counts[i]);
    add(cells_of(sketch.mutable_words().data(), sketch), {hashes.data(), count}, counts.data());
    expect_same_counters(sketch, expected);

    std::vector<std::uint64_t> asked = repeated_hashes(count, 5000);
    for (std::size_t i = 0; i < count; i += 3) asked[i] = hashes[i];
    std::vector<std::uint64_t> answers(count);
    std::vector<std::uint64_t> bits((count + 63) / 64);
    for (std::size_t i = 0; i < count; ++i) {
      answers[i] = expected.count(asked[i]);
      bits[i / 64] |= std::uint64_t{answers[i] > 0} << (i % 64);
    }
    std::vector<std::uint64_t> counted(count, 1);
    kernels.count_min.count(cells_of(sketch.words().data(), sketch), {asked.data(), count},
                            counted.data());
    EXPECT_EQ(counted, answers);
    std::vector<std::uint64_t> bitmap(bits.size(), ~std::uint64_t{0});
    kernels.scatter.contains(cells_of(sketch.words().data(), sketch), {asked.data(), count},
                             bitmap.data());
    EXPECT_EQ(bitmap, bits);
  }

 private:
  static void expect_same_counters(const count_min& sketch, const count_min& expected) {
    EXPECT_TRUE(std::ranges::equal(sketch.words().subspan(preamble_words),
                                   expected.words().subspan(preamble_words)));
  }
};

INSTANTIATE_TEST_SUITE_P(every_level, count_min_kernel,
                         testing::ValuesIn(kernel_tests::available_levels()),
                         kernel_tests::name_of);

TEST_P(count_min_kernel, every_width_of_counters) {
  for (const std::uint32_t cell_bits : {8U, 16U, 32U, 64U}) {
    for (const std::uint32_t depth : {1U, 2U, 5U, 64U}) {
      for (const std::uint64_t width : {1U, 7U, 1009U}) {
        for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 63U, 64U, 65U, 300U}) {
          check(plan_of(cell_bits, depth, width, false), count);
          check(plan_of(cell_bits, depth, width, true), count);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Out of any cache that is taken for near.
TEST_P(count_min_kernel, large_arrays) {
  for (const std::uint32_t cell_bits : {8U, 16U, 32U, 64U}) {
    const std::uint64_t width = (std::uint64_t{9} << 20U) * 8 / cell_bits / 5 + 13;
    check(plan_of(cell_bits, 5, width, false), 1000);
    check(plan_of(cell_bits, 5, width, true), 1025);
    if (HasFailure()) return;
  }
}

template <class Word>
kernel::counter_lines<Word> lines_of(Word* words, const count_min_view& v) {
  return {.words = words + preamble_words,
          .lines = sizing::count_min_lines_of(v.shape()),
          .row = sizing::count_min_line_row(v.shape()),
          .rows = v.depth(),
          .cell_log = static_cast<std::uint32_t>(std::countr_zero(v.shape().cell_bits))};
}

// Counters of a key in one line, near and far, with counts of which some saturate.
TEST_P(count_min_kernel, counters_in_one_line) {
  const auto& kernels = kernel::wide_kernels_of(GetParam()).count_min;
  constexpr std::size_t count = 301;
  const std::vector<std::uint64_t> hashes = repeated_hashes(count, 1);
  std::vector<std::uint64_t> counts = repeated_hashes(count, 77);
  for (std::size_t i = 0; i < count; ++i) counts[i] >>= i % 64;
  counts[2] = 0;
  const std::vector<std::uint64_t> asked = repeated_hashes(count, 30);
  for (const std::uint32_t cell_bits : {8U, 16U, 32U, 64U}) {
    for (std::uint32_t depth = 1; depth <= std::min(16U, 256 / cell_bits); ++depth) {
      for (const std::uint64_t lines : {std::uint64_t{5}, std::uint64_t{33000}}) {
        if (lines > 5 && depth != 4) continue;  // the rows do not matter to what is fetched
        for (const std::uint32_t variant : {4U, 5U}) {
          plan p = plan_of(cell_bits, depth, 1, false);
          p.shape.variant = variant;
          p.shape.bits = 512 + lines * 512;
          count_min expected(p);
          count_min sketch(p);
          const auto add = variant == 5 ? kernels.raise_in_lines : kernels.add_in_lines;
          for (const std::uint64_t hash : hashes) expected.add(hash);
          add(lines_of(sketch.mutable_words().data(), sketch), {hashes.data(), count}, nullptr);
          for (std::size_t i = 0; i < count; ++i) expected.add(hashes[i], counts[i]);
          add(lines_of(sketch.mutable_words().data(), sketch), {hashes.data(), count},
              counts.data());
          ASSERT_TRUE(std::ranges::equal(sketch.words().subspan(preamble_words),
                                         expected.words().subspan(preamble_words)))
              << cell_bits << " bits, depth " << depth << ", variant " << variant;
          std::vector<std::uint64_t> counted(count, 1);
          kernels.count_in_lines(lines_of(sketch.words().data(), sketch), {asked.data(), count},
                                 counted.data());
          for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(counted[i], expected.count(asked[i]));
        }
      }
    }
  }
}

// What the public calls run, with totals and keys.
TEST(count_min_batch, the_same_as_one_key_at_a_time) {
  for (const bool conservative : {false, true}) {
    const plan p = plan_of(16, 4, 211, conservative);
    count_min one(p);
    count_min many(p);
    const std::vector<std::uint64_t> hashes = repeated_hashes(3000, 9);
    std::vector<std::uint64_t> counts(hashes.size());
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i % 5;
    for (std::size_t i = 0; i < hashes.size(); ++i) one.add(hashes[i], counts[i]);
    for (const std::uint64_t hash : hashes) one.add(hash);
    many.add_batch(hashes, counts);
    many.add_batch(hashes);
    EXPECT_TRUE(std::ranges::equal(many.words(), one.words()));
    EXPECT_EQ(many.keys(), one.keys());
    EXPECT_EQ(many.total(), one.total());
    std::vector<std::uint64_t> counted(hashes.size());
    many.count_batch(hashes, counted);
    for (std::size_t i = 0; i < hashes.size(); ++i) EXPECT_EQ(counted[i], one.count(hashes[i]));
    EXPECT_EQ(many.contains_count(hashes), hashes.size());
  }
}

// A total that is full stays so, whatever the batch brings.
TEST(count_min_batch, totals_saturate) {
  const plan p = plan_of(64, 3, 11, false);
  count_min one(p);
  count_min many(p);
  const std::vector<std::uint64_t> hashes = {1, 2, 3};
  const std::vector<std::uint64_t> counts = {~std::uint64_t{0} - 5, 4, 9};
  for (std::size_t i = 0; i < hashes.size(); ++i) one.add(hashes[i], counts[i]);
  many.add_batch(hashes, counts);
  EXPECT_TRUE(std::ranges::equal(many.words(), one.words()));
  EXPECT_EQ(many.total(), ~std::uint64_t{0});
}

}  // namespace
