// Where fingerprints may be in a layer of a cuckoo filter, and how they are found there.
#include "bloomery/detail/bits/cuckoo_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "bloomery/hash/hash.hpp"

namespace {

using namespace bloomery;

shape shape_of(std::uint32_t cell_bits, std::uint32_t cells = 4) {
  return {.kind = filter_kind::cuckoo,
          .probes = 2,
          .block_bits = cell_bits * cells,
          .cell_bits = cell_bits};
}

TEST(cuckoo_table, the_partner_of_the_partner_is_the_bucket) {
  for (const std::uint64_t base : {1U, 2U, 3U, 7U, 64U, 1000U, 65537U}) {
    for (const std::uint32_t scale : {0U, 1U, 3U, 12U}) {
      const cuckoo_table table(shape_of(9), nullptr, base, scale);
      std::uint64_t fixed = 0;
      for (std::uint64_t i = 0; i < 2000; ++i) {
        const std::uint64_t bucket = splitmix64(i) % table.buckets();
        const std::uint64_t fingerprint = 1 + splitmix64(~i) % 511;
        const std::uint64_t other = table.partner(bucket, fingerprint);
        ASSERT_LT(other, table.buckets());
        ASSERT_EQ(table.partner(other, fingerprint), bucket);
        fixed += std::uint64_t{other == bucket};
      }
      if (table.buckets() > 1000) {
        EXPECT_LT(fixed, 30U) << table.buckets();
      }
    }
  }
}

// What makes removal safe: in a layer with a smaller scale, buckets are prefixes.
TEST(cuckoo_table, places_in_smaller_layers_are_prefixes) {
  const shape s = shape_of(11);
  const cuckoo_table small(s, nullptr, 37, 2);
  const cuckoo_table large(s, nullptr, 37, 7);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto a = small.place_of(splitmix64(i));
    const auto b = large.place_of(splitmix64(i));
    ASSERT_EQ(a.fingerprint, b.fingerprint);
    ASSERT_EQ(a.first, b.first >> 5U);
    ASSERT_EQ(a.second, b.second >> 5U);
  }
}

TEST(cuckoo_table, fingerprints_are_never_zero_and_one_stands_for_it) {
  const cuckoo_table table(shape_of(4), nullptr, 100, 0);
  std::map<std::uint64_t, int> histogram;
  constexpr int draws = 160'000;
  for (std::uint64_t i = 0; i < draws; ++i) ++histogram[table.place_of(splitmix64(i)).fingerprint];
  ASSERT_EQ(histogram.size(), 15U);
  EXPECT_EQ(histogram.begin()->first, 1U);
  EXPECT_EQ(histogram.rbegin()->first, 15U);
  // 10,000 each, with a standard deviation of 97, and twice as many of 1.
  EXPECT_NEAR(histogram.extract(1).mapped(), 20'000, 700);
  for (const auto& [fingerprint, count] : histogram) EXPECT_NEAR(count, 10'000, 500);
}

// Of a table of so many buckets that these take 33 bits of the hash, too.
TEST(cuckoo_table, fingerprints_are_of_bits_that_no_bucket_has) {
  const cuckoo_table table(shape_of(12), nullptr, std::uint64_t{1} << 33U, 0);
  std::vector<bool> seen(4096);
  const std::uint64_t start = splitmix64(7) >> 20U << 20U;
  const std::uint64_t bucket = table.place_of(start).first;
  for (std::uint64_t i = 0; i < 1U << 20U; ++i) {
    const cuckoo_table::place p = table.place_of(start + i);
    ASSERT_EQ(p.first, bucket);
    seen[static_cast<std::size_t>(p.fingerprint)] = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 4095);
}

// Lookups read eight bytes from the one where a bucket begins, and never ask if it is the last.
TEST(cuckoo_table, eight_bytes_of_every_bucket_are_in_the_layer) {
  for (std::uint64_t bits = 4; bits <= 300; ++bits) {
    for (std::uint64_t buckets = 1; buckets < 200; ++buckets) {
      const std::uint64_t words = cuckoo_geometry::layer_words(buckets, bits);
      ASSERT_LE((buckets - 1) * bits / 8 + 8, words * 8);
      ASSERT_LE(buckets * bits, words * 64);
      ASSERT_GE(cuckoo_geometry::buckets_in(words * 64, bits), buckets);
      ASSERT_EQ(cuckoo_geometry::layer_words(cuckoo_geometry::buckets_in(words * 64, bits), bits),
                words);
    }
  }
  EXPECT_EQ(cuckoo_geometry::buckets_in(63, 48), 0U);
  EXPECT_EQ(cuckoo_geometry::buckets_in(64, 48), 1U);
}

// Cells that straddle words, buckets that straddle groups: against a plain search.
TEST(cuckoo_table, finds_what_is_in_a_bucket) {
  for (std::uint32_t bits = 4; bits <= 32; ++bits) {
    for (const std::uint32_t cells : {1U, 3U, 4U, 9U, 40U, 255U}) {
      const shape s = shape_of(bits, cells);
      constexpr std::uint64_t buckets = 3;
      std::vector<std::uint64_t> words(
          static_cast<std::size_t>(cuckoo_geometry::layer_words(buckets, s.block_bits)));
      const cuckoo_table table(s, words.data(), buckets, 0);
      ASSERT_EQ(table.words().size(), words.size());
      std::vector<std::uint64_t> plain(buckets * cells);
      for (std::uint64_t i = 0; i < 4 * plain.size(); ++i) {
        const std::uint64_t at = splitmix64(i) % plain.size();
        // Few different ones, so that they repeat; and the greatest, which has all bits set.
        const std::uint64_t value = (splitmix64(~i) % 5) * (((std::uint64_t{1} << bits) - 1) / 4);
        plain[at] = value;
        table.set_cell(words.data(), at / cells, static_cast<std::uint32_t>(at % cells), value);
        const std::uint64_t bucket = splitmix64(i + 77) % buckets;
        const auto first = plain.begin() + static_cast<std::ptrdiff_t>(bucket * cells);
        const auto last = first + cells;
        const auto found = std::find(first, last, value);
        ASSERT_EQ(table.find(bucket, value), found == last
                                                 ? cuckoo_table::nowhere
                                                 : static_cast<std::uint32_t>(found - first));
        ASSERT_EQ(table.occurrences(bucket, value), std::count(first, last, value));
        ASSERT_EQ(table.cell(bucket, 0), *first);
      }
    }
  }
}

// The less loaded of two buckets, without a load of eight bytes too.
TEST(cuckoo_table, the_lowest_empty_cell_of_both_buckets) {
  for (const std::uint32_t bits : {4U, 12U, 16U, 21U}) {
    for (const std::uint32_t cells : {1U, 3U, 4U, 9U}) {
      const shape s = shape_of(bits, cells);
      for (std::uint32_t a = 0; a <= cells; ++a) {
        for (std::uint32_t b = 0; b <= cells; ++b) {
          std::vector<std::uint64_t> words(
              static_cast<std::size_t>(cuckoo_geometry::layer_words(2, s.block_bits)));
          const cuckoo_table table(s, words.data(), 2, 0);
          // Bucket 1 is the key's first. Above the lowest empty cell there may be others.
          for (std::uint32_t i = 0; i < cells; ++i) {
            if (i != a && i != a + 2) table.set_cell(words.data(), 1, i, 1);
            if (i != b && i != b + 1) table.set_cell(words.data(), 0, i, 1);
          }
          const auto spot = table.find_empty({.first = 1, .second = 0, .fingerprint = 1});
          if (std::min(a, b) == cells) {
            ASSERT_EQ(spot.bit, cuckoo_table::nowhere);
            continue;
          }
          ASSERT_EQ(spot.bucket, a <= b ? 1U : 0U);
          ASSERT_EQ(spot.bit, std::min(a, b) * bits);
        }
      }
    }
  }
}

}  // namespace
