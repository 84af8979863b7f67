// Projections of counting filters and sums of them.
#include "bloomery/set/counting.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "filter/samples.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

plan planned(std::uint32_t width, std::uint32_t block_bits, std::uint64_t keys) {
  return sizing::make_plan({.kind = filter_kind::counting,
                            .keys = keys,
                            .fpr = 0.02,
                            .cell_bits = width,
                            .block_bits = block_bits});
}

// Keys that came and went leave nothing behind: only those that stayed are in the plain filter.
counting_filter came_and_went(const plan& p, std::size_t keys) {
  counting_filter f(p);
  f.add_batch(sample_hashes(keys, 1));
  f.add_batch(sample_hashes(keys / 2, 2));
  f.remove_batch(sample_hashes(keys / 2, 2));
  return f;
}

TEST(counting_projection, is_the_classic_filter_of_the_same_keys_to_the_bit) {
  for (const std::uint32_t width : {4U, 8U, 16U}) {
    const counting_filter f = came_and_went(planned(width, 0, 3000), 3000);
    ASSERT_EQ(f.saturated(), 0U);
    const classic_filter plain = project_classic(f);
    EXPECT_EQ(plain.shape().bits, f.counters());
    classic_filter built(plain.planned());
    built.add_batch(sample_hashes(3000, 1));
    EXPECT_EQ(words_of(plain), words_of(built));
    EXPECT_EQ(plain.keys(), 3000U);
    EXPECT_EQ(plain.fpr(), f.fpr());
  }
}

TEST(counting_projection, answers_as_the_counters_do) {
  const auto others = sample_hashes(50'000, 3);
  for (const std::uint32_t width : {2U, 4U, 8U, 16U}) {
    for (const std::uint32_t block_bits : {0U, 512U}) {
      const counting_filter f = came_and_went(planned(width, block_bits, 2000), 2000);
      std::vector<std::uint8_t> expected(others.size());
      std::vector<std::uint8_t> answered(others.size());
      f.contains_bytes(others, expected);
      const auto compare = [&](const auto& plain) {
        plain.contains_bytes(others, answered);
        EXPECT_EQ(answered, expected) << width << ' ' << block_bits;
        EXPECT_EQ(plain.contains_count(sample_hashes(2000, 1)), 2000U);
        EXPECT_DOUBLE_EQ(plain.fpr(), f.fpr());
        EXPECT_EQ(plain.keys(), f.keys());
      };
      EXPECT_GT(f.contains_count(others), 500U) << "of 1,000 expected false positives";
      if (block_bits == 0) {
        compare(project_classic(f));
      } else {
        compare(project_blocked(f));
      }
    }
  }
}

TEST(counting_projection, refuses_the_other_layout) {
  const counting_filter lines(planned(4, 512, 100));
  const counting_filter unblocked(planned(4, 0, 100));
  EXPECT_TRUE(throws(errc::mismatch, "blocked filter", [&] { (void)project_classic(lines); }));
  EXPECT_TRUE(throws(errc::mismatch, "classic filter", [&] { (void)project_blocked(unblocked); }));
}

TEST(counting_merge, is_the_filter_of_all_keys) {
  for (const std::uint32_t width : {2U, 4U, 8U, 16U}) {
    for (const std::uint32_t block_bits : {0U, 512U}) {
      const plan p = planned(width, block_bits, 2000);
      counting_filter a(p);
      counting_filter b(p);
      counting_filter both(p);
      a.add_batch(sample_hashes(1500, 1));
      b.add_batch(sample_hashes(1500, 2));
      both.add_batch(sample_hashes(1500, 1));
      both.add_batch(sample_hashes(1500, 2));
      EXPECT_EQ(words_of(merge(a, b)), words_of(both)) << width << ' ' << block_bits;
      a += b;
      EXPECT_EQ(words_of(a), words_of(both));
      EXPECT_EQ(a.keys(), 3000U);
    }
  }
}

// What sticks in one sticks in the sum, and sums beyond the maximum stick.
TEST(counting_merge, sums_stick_at_the_maximum) {
  const plan p = planned(4, 512, 10);
  counting_filter a(p);
  counting_filter b(p);
  const std::uint64_t hash = sample_hash(1);
  for (int i = 0; i < 9; ++i) a.add(hash);
  for (int i = 0; i < 9; ++i) b.add(hash);
  EXPECT_EQ(merge(a, b).count(hash), 15U);
  for (int i = 0; i < 9; ++i) a.add(hash);
  EXPECT_EQ(merge(a, counting_filter(p)).count(hash), 15U);
  EXPECT_EQ(merge(a, a).saturated(), p.shape.probes);
}

TEST(counting_merge, refuses_other_shapes_and_names_the_difference) {
  counting_filter f(planned(4, 512, 1000));
  const auto refused = [&](const char* text, const plan& p) {
    const auto before = words_of(f);
    EXPECT_TRUE(throws(errc::mismatch, text, [&] { f += counting_filter(p); }));
    EXPECT_EQ(words_of(f), before);
  };
  plan p = f.planned();
  p.shape.bits *= 2;
  refused("numbers of bits", p);
  p = f.planned();
  ++p.shape.probes;
  refused("numbers of probes", p);
  p = f.planned();
  p.shape.cell_bits = 8;
  refused("layouts differ", p);
}

}  // namespace
