// What a filter replaces: sizes against containers that exist, and against counting by hand.
#include "bloomery/core/alternatives.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <unordered_set>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "core/numbers.hpp"

namespace bloomery::sizing {
namespace {

std::uint64_t held_bytes = 0;

template <class T>
struct counting_allocator {
  using value_type = T;
  counting_allocator() = default;
  template <class U>
  counting_allocator(const counting_allocator<U>& /*other*/) {}
  T* allocate(std::size_t n) {
    held_bytes += n * sizeof(T);
    return static_cast<T*>(::operator new(n * sizeof(T)));
  }
  void deallocate(T* at, std::size_t n) noexcept {
    held_bytes -= n * sizeof(T);
    ::operator delete(at);
  }
  friend bool operator==(const counting_allocator&, const counting_allocator&) { return true; }
};

using counted_text = std::basic_string<char, std::char_traits<char>, counting_allocator<char>>;
struct text_hash {
  std::size_t operator()(const counted_text& t) const { return std::hash<std::string_view>()(t); }
};
using counted_set =
    std::unordered_set<counted_text, text_hash, std::equal_to<>, counting_allocator<counted_text>>;

std::uint64_t bytes_of_table(std::uint64_t keys, std::size_t key_bytes) {
  held_bytes = 0;
  counted_set set;
  for (std::uint64_t i = 0; i < keys; ++i) {
    const std::string number = std::to_string(i);
    counted_text key(key_bytes, '.');
    number.copy(key.data(), number.size());
    set.insert(key);
  }
  EXPECT_EQ(set.size(), keys);
  return held_bytes;
}

// Before and after the buckets grow (at 85,229 keys), too.
TEST(HashTable, TakesWhatTheStandardLibrarysTakes) {
  for (const std::uint64_t keys : {20'000U, 84'000U, 86'000U, 120'000U}) {
    for (const std::size_t key_bytes : {8U, 15U, 16U, 20U, 40U}) {
      const auto held = static_cast<double>(bytes_of_table(keys, key_bytes));
      EXPECT_NEAR(hash_table_bytes(keys, key_bytes) / held, 1, 0.005) << keys << ' ' << key_bytes;
    }
  }
}

// docs/when-to-use.md has measured that.
TEST(HashTable, OfTenMillionKeysOf20BytesTakes630BitsAKey) {
  EXPECT_NEAR(hash_table_bytes(10 * million, 20) * 8 / 1e7, 629.6, 0.1);
}

TEST(SortedHashes, TheRateOfAListIsTheChanceToMeetOneOfIt) {
  EXPECT_NEAR(sorted_hashes_fpr(1, 3), 1.0 / 8, 1e-15);
  EXPECT_NEAR(sorted_hashes_fpr(2, 1), 0.75, 1e-15);
  EXPECT_NEAR(sorted_hashes_fpr(million, 64) / (1e6 * 0x1p-64), 1, 1e-9);
}

TEST(SortedHashes, TheFewestBitsMeetTheRateAndOneLessDoesNot) {
  for (const std::uint64_t keys : {std::uint64_t{1}, std::uint64_t{1000}, 1000 * million}) {
    for (const double fpr : {0.5, 0.01, 1e-12}) {
      const std::uint32_t bits = sorted_hashes_bits(keys, fpr);
      EXPECT_LE(sorted_hashes_fpr(keys, bits), fpr);
      EXPECT_TRUE(bits == 1 || sorted_hashes_fpr(keys, bits - 1) > fpr);
    }
  }
}

// The survey, 2.3: with 2 log2 n bits an element, at most n/n^2 = 1/n.
TEST(SortedHashes, TwiceTheLogarithmOfTheKeysGivesOneByTheKeys) {
  const std::uint64_t keys = std::uint64_t{1} << 20U;
  EXPECT_NEAR(sorted_hashes_fpr(keys, 40) * static_cast<double>(keys), 1, 1e-6);
  EXPECT_LE(sorted_hashes_fpr(keys, 40), 1 / static_cast<double>(keys));
}

TEST(ExactSet, NeedsTheLogarithmOfTheNumberOfSets) {
  EXPECT_NEAR(exact_set_bits(3, 23), std::log2(1771.0), 1e-9);
  EXPECT_NEAR(exact_set_bits(1, 0x1p128), 128, 1e-9);
  EXPECT_EQ(exact_set_bits(1000, 1000), 0.0);
  // It is the bound of a filter whose rate is nothing.
  EXPECT_NEAR(exact_set_bits(1000, 1e9), lower_bound_bits(1000, 1e-15, 1e9), 0.01);
  EXPECT_LE(exact_set_bits(500, 1000), 1000);
}

double bits_of(const std::vector<alternative>& all, const std::string& name) {
  for (const alternative& a : all) {
    if (a.name == name) return a.bits;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST(Alternatives, HaveTheRateOfTheFilterOrALowerOne) {
  for (const std::uint64_t keys : {std::uint64_t{1}, std::uint64_t{2}, million, 1000 * million}) {
    for (const double fpr : {0.5, 0.01, 1e-17}) {
      for (const alternative& a : alternatives({.keys = keys, .fpr = fpr, .universe = 0x1p64})) {
        EXPECT_LE(a.fpr, fpr) << a.name;
        EXPECT_GE(a.bits, 0) << a.name;
      }
    }
  }
}

TEST(Alternatives, AUniverseHasABitmap) {
  const auto all = alternatives({.keys = million, .fpr = 0.01, .universe = 0x1p32});
  EXPECT_EQ(bits_of(all, "bitmap of the universe"), 0x1p32);
  EXPECT_NEAR(bits_of(all, "sorted list of 40-bit hashes, 2 log2 n"), 40e6, 1);
  // 1e6 keys of 2^32: log2 C(u, n) = 13.5 bits each.
  EXPECT_NEAR(bits_of(all, "least of an exact set") / 1e6, 13.51, 0.01);
}

// The lecture: five million URLs of 40 bytes are 200 MB, a filter of 30 slices of 2,500,000 bits is
// less than 10 MB. A table that exists takes more than the lecture's.
TEST(Alternatives, TheLectures200MegabytesAgainstLessThan10) {
  const auto all = alternatives({.keys = 5 * million, .fpr = 0.0128, .key_bytes = 40});
  EXPECT_EQ(bits_of(all, "list of 40-byte keys") / 8, 200e6);
  EXPECT_GT(bits_of(all, "hash table of 40-byte keys") / 8, 200e6);
  const plan p = make_plan(
      {.kind = filter_kind::partitioned, .keys = 5 * million, .fpr = 0.0128, .probes = 30});
  EXPECT_NEAR(static_cast<double>(p.shape.bits), 75e6, 0.3e6);
  EXPECT_LT(static_cast<double>(p.shape.bits) / 8, 10e6);
}

TEST(Alternatives, RefuseWhatCannotBe) {
  EXPECT_THROW(static_cast<void>(hash_table_bytes(0, 20)), error);
  EXPECT_THROW(static_cast<void>(sorted_hashes_fpr(1, 0)), error);
  EXPECT_THROW(static_cast<void>(sorted_hashes_fpr(1, 257)), error);
  EXPECT_THROW(static_cast<void>(exact_set_bits(1000, 999)), error);
  EXPECT_THROW(static_cast<void>(exact_set_bits(1, infinity)), error);
  EXPECT_THROW(static_cast<void>(alternatives({.keys = 1, .fpr = 0.01, .key_bytes = 0})), error);
  EXPECT_THROW(static_cast<void>(alternatives({.keys = 1, .fpr = 0})), error);
}

// ---- packed -----------------------------------------------------------------------------------

// The survey's table 1 turned round: for the rate of 48 bits and 3 probes nothing smaller is sent.
TEST(Packed, TheSmallestForARateIsTheBestForItsBits) {
  const packed_choice c = smallest_packed(0.000222, 48.1);
  EXPECT_EQ(c.probes, 3U);
  EXPECT_NEAR(c.bits_per_key, 48, 0.1);
  EXPECT_NEAR(c.sent_bits_per_key, 15.83, 0.01);
  for (const double fpr : {0.1, 0.01, 1e-6}) {
    for (const double more : {1.01, 2.0, 8.0}) {
      const double most = shortest_length(1, fpr).bits * more;
      const packed_choice small = smallest_packed(fpr, most);
      EXPECT_LE(small.bits_per_key, most);
      EXPECT_NEAR(classic_fpr_approx(small.bits_per_key, small.probes) / fpr, 1, 1e-9);
      EXPECT_NEAR(best_packed(small.sent_bits_per_key, most).fpr / fpr, 1, 1e-6);
    }
  }
  EXPECT_THROW(static_cast<void>(smallest_packed(0.01, 9.5)), error);
}

}  // namespace
}  // namespace bloomery::sizing
