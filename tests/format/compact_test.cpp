#include "bloomery/format/compact.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/hash.hpp"
#include "filter/samples.hpp"

namespace bloomery {
namespace {

using bloomery_test::throws;

std::vector<std::uint64_t> hashes(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t& hash : all) hash = splitmix64(first++);
  return all;
}

bool all_match(std::string_view bytes, const std::vector<std::uint64_t>& asked) {
  for (const std::uint64_t hash : asked) {
    if (!compact_contains(bytes, hash)) return false;
  }
  return true;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += "0123456789abcdef"[byte / 16];
    text += "0123456789abcdef"[byte % 16];
  }
  return text;
}

class compact : public testing::TestWithParam<filter_kind> {};
INSTANTIATE_TEST_SUITE_P(kinds, compact, testing::Values(filter_kind::blocked, filter_kind::ribbon),
                         [](const auto& kind) { return std::string(kind_name(kind.param)); });

TEST_P(compact, finds_every_key_of_a_set_of_any_size) {
  const compact_builder by_rate({.kind = GetParam()});
  const compact_builder by_bits({.bits_per_key = 7.5, .kind = GetParam()});
  for (std::size_t keys = 0; keys < 300; ++keys) {
    std::vector<std::uint64_t> set = hashes(1000 * keys, keys);
    ASSERT_TRUE(all_match(by_rate.build(set), set)) << keys;
    ASSERT_TRUE(all_match(by_bits.build(set), set)) << keys;
    if (keys == 0) continue;
    const std::string once = by_rate.build(set);
    set.insert(set.end(), set.begin(), set.begin() + 1 + static_cast<std::ptrdiff_t>(keys / 2));
    ASSERT_EQ(by_rate.build(set), once) << "repetitions and order count for nothing";
  }
  const std::vector<std::uint64_t> many = hashes(1, 20'000);
  EXPECT_TRUE(all_match(by_rate.build(many), many));
  EXPECT_FALSE(all_match(by_rate.build({}), hashes(1, 1)));
}

TEST_P(compact, keeps_its_rate_and_its_size) {
  for (const double fpr : {0.1, 0.01, 0.001}) {
    const compact_builder b({.fpr = fpr, .kind = GetParam()});
    for (const std::size_t keys : {1U, 40U, 300U}) {
      constexpr std::size_t filters = 20;
      const std::size_t asked = 10'000;
      std::size_t found = 0;
      for (std::size_t f = 0; f < filters; ++f) {
        const std::string bytes = b.build(hashes(f * keys, keys));
        for (const std::uint64_t hash : hashes(1'000'000 + f * asked, asked)) {
          found += compact_contains(bytes, hash) ? 1U : 0U;
        }
      }
      // Five standard deviations of a count, twice as many for the rates of small filters, which
      // scatter.
      const double expected = fpr * static_cast<double>(filters * asked);
      EXPECT_LT(static_cast<double>(found), expected + 10 * std::sqrt(expected)) << keys << fpr;
    }
    // Blocked: what a classic filter of so many keys needs, and 5 %. Ribbon: the bound of whole
    // bits, and 3 %.
    const double bits = static_cast<double>(8 * b.build(hashes(0, 300)).size()) / 300;
    const double bound = std::log2(1 / fpr);
    EXPECT_LT(bits, GetParam() == filter_kind::blocked ? 1.05 * 1.4427 * bound + 0.1
                                                       : 1.03 * std::ceil(bound) + 0.2);
  }
}

TEST_P(compact, damaged_and_foreign_bytes_match_everything) {
  const compact_builder b({.kind = GetParam()});
  for (const std::size_t keys : {3U, 40U, 150U}) {
    const std::vector<std::uint64_t> set = hashes(7, keys);
    const std::vector<std::uint64_t> absent = hashes(1000, 100);
    const std::string whole = b.build(set);
    EXPECT_FALSE(all_match(whole, absent));
    std::size_t unnoticed = 0;
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string damaged = whole;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      unnoticed += all_match(damaged, set) && all_match(damaged, absent) ? 0U : 1U;
    }
    EXPECT_LE(unnoticed, 1U);  // one in 65,536 by chance, and the largest has 1,200 bits
    for (std::size_t length = 0; length < whole.size(); ++length) {
      ASSERT_TRUE(all_match(std::string_view(whole).substr(0, length), absent)) << length;
      ASSERT_TRUE(all_match(std::string_view(whole).substr(length + 1), absent)) << length;
    }
  }
  EXPECT_TRUE(all_match(std::string(100, '\0'), hashes(0, 100)));
  EXPECT_TRUE(all_match(std::string(100, '\6'), hashes(0, 100)));
}

// A forged check: what the tag promises must fit the length, and nothing outside is read (the
// sanitizer looks on).
TEST(compact_bytes, forged_ones_are_answered_without_harm) {
  for (std::size_t length = 1; length < 300; length += length < 20 ? 1 : 37) {
    for (int tag = 0; tag < 256; ++tag) {
      std::string exact(length, '\x5a');
      exact.back() = static_cast<char>(tag);
      const std::uint64_t check = XXH3_64bits(exact.data(), exact.size());
      exact.push_back(static_cast<char>(check & 0xffU));
      exact.push_back(static_cast<char>((check >> 8U) & 0xffU));
      const std::vector<char> heap(exact.begin(), exact.end());
      for (const std::uint64_t hash : hashes(0, 8)) {
        (void)compact_contains({heap.data(), heap.size()}, hash);
      }
    }
  }
}

// Frozen: these bytes stand in databases.
TEST(compact_bytes, are_those_of_the_format) {
  std::vector<std::uint64_t> set;
  for (const std::string_view key : {"apples", "pears", "plums", "cherries", "quinces"}) {
    set.push_back(hash_key(xxh3_hasher(), key));
  }
  const auto made = [&](filter_kind kind) {
    return hex(compact_builder({.bits_per_key = 10, .kind = kind}).build(set));
  };
  EXPECT_EQ(made(filter_kind::blocked), "78c182749055f527a603");
  EXPECT_EQ(made(filter_kind::ribbon), "84380463f88001481f77");
  // Several blocks, and more slots than an equation has coefficients: by a checksum.
  using golden = std::pair<std::size_t, std::uint64_t>;
  const auto sum = [](filter_kind kind) {
    const std::string bytes =
        compact_builder({.bits_per_key = 10, .kind = kind}).build(hashes(0, 500));
    return golden(bytes.size(), XXH3_64bits(bytes.data(), bytes.size()));
  };
  EXPECT_EQ(sum(filter_kind::blocked), golden(628, 5294848604665235569U));
  EXPECT_EQ(sum(filter_kind::ribbon), golden(576, 15353878143707840938U));
}

TEST(compact_builder, refuses_what_it_cannot_do) {
  EXPECT_TRUE(throws(errc::bad_argument, "not classic",
                     [] { compact_builder({.kind = filter_kind::classic}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "not both",
                     [] { compact_builder({.fpr = 0.1, .bits_per_key = 3}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "fpr is 1,", [] { compact_builder({.fpr = 1}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "fpr", [] { compact_builder({.fpr = std::nan("")}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "bits per key is 0.5",
                     [] { compact_builder({.bits_per_key = 0.5}); }));
}

}  // namespace
}  // namespace bloomery
