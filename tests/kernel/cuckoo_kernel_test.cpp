// The kernels of a cuckoo filter's layer of every instruction set that this machine has, against
// the calls of cuckoo_table for one key.

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "../../src/kernel/dispatch.hpp"
#include "../../src/kernel/wide/wide.hpp"
#include "bloomery/detail/bits/cuckoo_table.hpp"
#include "bloomery/detail/core/cuckoo_geometry.hpp"
#include "bloomery/hash/hash.hpp"
#include "levels.hpp"

namespace {

using namespace bloomery;
using kernel::level;

// A table of random cells, of which many are empty and some fingerprints there.
struct random_table {
  random_table(std::uint32_t cell_bits, std::uint32_t cells, std::uint64_t base,
               std::uint32_t scale)
      : shape{.kind = filter_kind::cuckoo,
              .probes = 2,
              .block_bits = cell_bits * cells,
              .cell_bits = cell_bits},
        words(static_cast<std::size_t>(
            cuckoo_geometry::layer_words(base << scale, shape.block_bits))),
        table(shape, words.data(), base, scale) {
    for (std::uint64_t i = 0; i < table.buckets() * cells; ++i) {
      if (splitmix64(i) % 4 == 0) continue;
      const std::uint64_t print = 1 + splitmix64(~i) % ((std::uint64_t{1} << cell_bits) - 1);
      table.set_cell(words.data(), i / cells, static_cast<std::uint32_t>(i % cells), print);
    }
  }

  bloomery::shape shape;
  std::vector<std::uint64_t> words;
  cuckoo_table table;
};

class cuckoo_kernel : public testing::TestWithParam<level> {
 protected:
  [[nodiscard]] static const kernel::cuckoo_kernels& kernels() {
    return kernel::wide_kernels_of(GetParam()).cuckoo;
  }

  // Keys of which half are put into the table first, where there is room.
  static std::vector<std::uint64_t> hashes_for(random_table& t, std::size_t count) {
    std::vector<std::uint64_t> hashes(count);
    for (std::size_t i = 0; i < count; ++i) {
      hashes[i] = i == 0 ? 0 : i == 1 ? ~std::uint64_t{0} : splitmix64(i * 1000 + count);
      if (i % 2 == 0) continue;
      const cuckoo_table::place p = t.table.place_of(hashes[i]);
      const cuckoo_table::spot s = t.table.find_empty(p);
      if (s.bit != cuckoo_table::nowhere) t.table.toggle(t.words.data(), s, p.fingerprint);
    }
    return hashes;
  }

  static void check(random_table& t, std::size_t count) {
    SCOPED_TRACE(testing::Message() << t.shape.cell_bits << " bits, " << t.table.cells()
                                    << " cells, " << t.table.buckets() << " buckets, scale "
                                    << t.table.scale() << ", " << count << " keys");
    ASSERT_TRUE(t.table.numbers().in_one_load);
    const std::vector<std::uint64_t> hashes = hashes_for(t, count);
    std::vector<std::uint64_t> bitmap((count + 63) / 64 + 1, ~std::uint64_t{0});
    kernels().contains(t.table.numbers(), kernel::hashes_of(hashes), bitmap.data());
    EXPECT_EQ(bitmap.back(), ~std::uint64_t{0}) << "behind the last word";
    for (std::size_t i = 0; i < (bitmap.size() - 1) * 64; ++i) {
      const bool expected = i < count && t.table.contains(hashes[i]);
      ASSERT_EQ((bitmap[i / 64] >> (i % 64)) & 1U, std::uint64_t{expected}) << i;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(every_level, cuckoo_kernel,
                         testing::ValuesIn(kernel_tests::available_levels()),
                         kernel_tests::name_of);

TEST_P(cuckoo_kernel, finds_what_one_key_finds) {
  for (std::uint32_t bits = 4; bits <= 32; ++bits) {
    for (const std::uint32_t cells : {1U, 2U, 3U, 4U, 5U, 8U, 16U}) {
      for (const std::uint32_t scale : {0U, 3U}) {
        random_table t(bits, cells, 61, scale);
        if (!t.table.numbers().in_one_load) continue;
        check(t, 300);
      }
    }
  }
}

// The last buckets end where the table does, and a table may have one bucket.
TEST_P(cuckoo_kernel, tables_of_every_size) {
  for (const std::uint32_t bits : {8U, 10U, 12U, 13U, 15U, 16U}) {
    for (std::uint64_t buckets = 1; buckets < 70; ++buckets) {
      random_table t(bits, 4, buckets, 0);
      check(t, 100);
    }
  }
}

TEST_P(cuckoo_kernel, every_number_of_keys) {
  random_table t(12, 4, 1000, 0);
  for (std::size_t count = 0; count < 300; ++count) check(t, count);
}

TEST_P(cuckoo_kernel, tables_out_of_the_cache) {
  random_table t(12, 4, 500'003, 0);
  check(t, 2000);
}

TEST_P(cuckoo_kernel, places_are_those_of_one_key) {
  for (const std::uint64_t base : {1ULL, 2ULL, 37ULL, 65'537ULL, (1ULL << 32U) - 1}) {
    for (const std::uint32_t scale : {0U, 1U, 7U}) {
      if (base << scale >> 32U != 0) continue;
      for (const std::uint32_t bits : {4U, 9U, 12U, 32U}) {
        const cuckoo_table table(
            {.kind = filter_kind::cuckoo, .probes = 2, .block_bits = 4 * bits, .cell_bits = bits},
            nullptr, base, scale);
        for (std::size_t count = 0; count <= kernel::cuckoo_places::most; ++count) {
          std::vector<std::uint64_t> hashes(count);
          for (std::size_t i = 0; i < count; ++i) hashes[i] = splitmix64(i + 100 * count);
          if (count > 1) hashes[1] = ~std::uint64_t{0};
          kernel::cuckoo_places places;
          kernels().places(table.numbers(), kernel::hashes_of(hashes), places);
          for (std::size_t i = 0; i < count; ++i) {
            const cuckoo_table::place expected = table.place_of(hashes[i]);
            ASSERT_EQ(places.first[i], expected.first);
            ASSERT_EQ(places.second[i], expected.second);
            ASSERT_EQ(places.fingerprint[i], expected.fingerprint);
          }
        }
      }
    }
  }
}

// Filters of more than 20 GB: only the portable kernels.
TEST(cuckoo_kernel_portable, takes_any_number_of_buckets) {
  const cuckoo_table table(
      {.kind = filter_kind::cuckoo, .probes = 2, .block_bits = 48, .cell_bits = 12}, nullptr,
      (std::uint64_t{1} << 33U) + 5, 4);
  const std::uint64_t hash = splitmix64(5);
  kernel::cuckoo_places places;
  kernel::wide_portable.cuckoo.places(table.numbers(), {.hashes = &hash, .count = 1}, places);
  EXPECT_EQ(places.first[0], table.place_of(hash).first);
  EXPECT_EQ(places.second[0], table.place_of(hash).second);
}

}  // namespace
