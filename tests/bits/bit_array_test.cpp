// The words of a filter: zeroed, aligned, owned by one, counted right, and of any size.
#include "bloomery/bits/bit_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"

namespace bloomery {
namespace {

constexpr std::uint64_t bits_of_huge_page = bit_array::huge_page * 8;

std::uintptr_t address(const bit_array& array) {
  return reinterpret_cast<std::uintptr_t>(array.words().data());
}

bool all_zero(const bit_array& array) {
  const auto words = array.words();
  return std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; });
}

TEST(BitArray, HasWholeWordsForItsBits) {
  EXPECT_EQ(bit_array::words_for(0), 0U);
  EXPECT_EQ(bit_array::words_for(1), 1U);
  EXPECT_EQ(bit_array::words_for(64), 1U);
  EXPECT_EQ(bit_array::words_for(65), 2U);
  EXPECT_EQ(bit_array::words_for(std::uint64_t{1} << 48U), std::uint64_t{1} << 42U);
  for (const std::uint64_t bits : {1U, 63U, 64U, 65U, 512U, 1000U}) {
    EXPECT_EQ(bit_array(bits).words().size(), (bits + 63) / 64);
  }
}

TEST(BitArray, OfNoBitsIsEmpty) {
  EXPECT_TRUE(bit_array().words().empty());
  EXPECT_TRUE(bit_array(0).words().empty());
  const bit_array empty(0);
  const bit_array copy(empty);
  EXPECT_TRUE(copy.words().empty());
}

TEST(BitArray, StartsAtACacheLine) {
  for (const std::uint64_t bits : {1U, 100U, 512U, 513U, 5000U, 100'000U, 10'000'000U}) {
    EXPECT_EQ(address(bit_array(bits)) % 64, 0U) << bits;
  }
}

TEST(BitArray, StartsAtAHugePageWhenLarge) {
  for (const std::uint64_t bits :
       {bits_of_huge_page, bits_of_huge_page + 1, 3 * bits_of_huge_page + 777}) {
    EXPECT_EQ(address(bit_array(bits)) % bit_array::huge_page, 0U) << bits;
  }
}

// Memory that was used before comes back dirty from the allocator, so that the zeros are its own
// work.
TEST(BitArray, IsZeroed) {
  for (const std::uint64_t bits : {std::uint64_t{64}, std::uint64_t{5000}, std::uint64_t{100'000},
                                   bits_of_huge_page - 64, bits_of_huge_page + 64}) {
    for (int round = 0; round < 3; ++round) {
      bit_array array(bits);
      EXPECT_TRUE(all_zero(array)) << bits << " bits, round " << round;
      std::fill(array.words().begin(), array.words().end(), ~std::uint64_t{0});
    }
  }
}

TEST(BitArray, UnsetWordsAreAsManyAndAsWellAligned) {
  for (const std::uint64_t bits :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5000}, bits_of_huge_page + 64}) {
    bit_array array(bits, detail::unset_words{});
    EXPECT_EQ(array.words().size(), bit_array::words_for(bits));
    EXPECT_EQ(address(array) % 64, 0U);
    std::fill(array.words().begin(), array.words().end(), ~std::uint64_t{0});
    EXPECT_EQ(count_bits(array.words()), 64 * bit_array::words_for(bits));
  }
}

TEST(BitArray, ACopyIsItsOwn) {
  for (const std::uint64_t bits : {std::uint64_t{1000}, bits_of_huge_page + 1000}) {
    bit_array original(bits);
    original.words().front() = 1;
    original.words().back() = 2;
    bit_array copy(original);
    ASSERT_EQ(copy.words().size(), original.words().size());
    EXPECT_NE(copy.words().data(), original.words().data());
    EXPECT_TRUE(std::ranges::equal(copy.words(), original.words()));
    copy.words().front() = 3;
    EXPECT_EQ(original.words().front(), 1U);
  }
}

TEST(BitArray, AMoveTakesTheWords) {
  static_assert(std::is_nothrow_move_constructible_v<bit_array>);
  bit_array original(1000);
  original.words()[3] = 7;
  const auto* words = original.words().data();
  bit_array moved(std::move(original));
  EXPECT_EQ(moved.words().data(), words);
  EXPECT_EQ(moved.words()[3], 7U);
  EXPECT_TRUE(
      original.words().empty());  // NOLINT(bugprone-use-after-move): that it is, is the contract
}

TEST(BitArray, AssignmentReplacesTheWords) {
  bit_array target(64);
  target.words()[0] = 1;
  bit_array source(640);
  source.words()[9] = 9;
  target = source;
  EXPECT_EQ(target.words().size(), 10U);
  EXPECT_EQ(target.words()[9], 9U);
  EXPECT_EQ(source.words()[9], 9U);
  target = bit_array(128);
  EXPECT_EQ(target.words().size(), 2U);
  EXPECT_TRUE(all_zero(target));
}

TEST(BitArray, SurvivesAssignmentToItselfAndSwaps) {
  bit_array a(640);
  a.words()[9] = 9;
  bit_array& same = a;
  a = same;
  EXPECT_EQ(a.words()[9], 9U);
  std::swap(a, same);
  EXPECT_EQ(a.words().size(), 10U);
  EXPECT_EQ(a.words()[9], 9U);
  bit_array b(64);
  b.words()[0] = 5;
  std::swap(a, b);
  EXPECT_EQ(a.words().size(), 1U);
  EXPECT_EQ(a.words()[0], 5U);
  EXPECT_EQ(b.words()[9], 9U);
}

// More than any address space: 2^60 bits are 2^57 bytes.
TEST(BitArray, AnAllocationThatFailsSaysHowManyBytes) {
  try {
    const bit_array array(std::uint64_t{1} << 60U);
    FAIL() << "got " << array.words().size() << " words";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::no_memory);
    EXPECT_NE(std::string(e.what()).find("144115188075855872"), std::string::npos) << e.what();
  }
}

TEST(BitArray, EverySizeIsAllocatedOrRefused) {
  for (const std::uint64_t bits : {std::uint64_t{1} << 62U, std::uint64_t{1} << 63U,
                                   ~std::uint64_t{0} - 63, ~std::uint64_t{0}}) {
    EXPECT_THROW(bit_array{bits}, error) << bits;
  }
}

// 2^33 bits are 1 GiB, of which this touches three pages.
TEST(BitArray, HoldsMoreThanTwoToThe32Bits) {
  const std::uint64_t bits = std::uint64_t{1} << 33U;
  bit_array array(bits);
  ASSERT_EQ(array.words().size(), bits / 64);
  std::uint64_t* words = array.words().data();
  const std::array<std::uint64_t, 3> positions = {5, (std::uint64_t{1} << 32U) + 5, bits - 1};
  for (const std::uint64_t position : positions) {
    EXPECT_FALSE(detail::test_bit(words, position)) << position;
    detail::set_bit(words, position);
    EXPECT_TRUE(detail::test_bit(words, position)) << position;
  }
  EXPECT_FALSE(detail::test_bit(words, (std::uint64_t{1} << 32U) + 4));
  EXPECT_EQ(count_bits(array.words(), std::uint64_t{1} << 32U, (std::uint64_t{1} << 32U) + 6), 1U);
  EXPECT_EQ(count_bits(array.words(), bits - 1000, bits), 1U);
  EXPECT_EQ(count_bits(array.words(), bits - 1000, bits - 1), 0U);
}

// ---- single bits ------------------------------------------------------------------------------

// Position p is bit p % 8 of byte p / 8, on every machine: files are mapped.
TEST(Bits, LieInBytesFromTheLowestUp) {
  for (const std::uint64_t position : {0U, 1U, 7U, 8U, 31U, 32U, 63U, 64U, 100U, 127U}) {
    bit_array array(128);
    detail::set_bit(array.words().data(), position);
    std::array<unsigned char, 16> bytes{};
    std::memcpy(bytes.data(), array.words().data(), bytes.size());
    std::array<unsigned char, 16> expected{};
    expected[position / 8] = static_cast<unsigned char>(1U << (position % 8));
    EXPECT_EQ(bytes, expected) << position;
  }
}

TEST(Bits, SettingOneLeavesTheOthers) {
  bit_array array(256);
  std::uint64_t* words = array.words().data();
  for (const std::uint64_t position : {3U, 64U, 255U, 3U}) detail::set_bit(words, position);
  for (std::uint64_t position = 0; position < 256; ++position) {
    EXPECT_EQ(detail::test_bit(words, position),
              position == 3 || position == 64 || position == 255);
  }
}

TEST(Bits, TheSharedFormsDoTheSame) {
  std::mt19937_64 random(3);
  bit_array plain(1000);
  bit_array shared(1000);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t position = random() % 1000;
    detail::set_bit(plain.words().data(), position);
    detail::set_bit_shared(shared.words().data(), position);
    EXPECT_TRUE(detail::test_bit_shared(shared.words().data(), position));
  }
  EXPECT_TRUE(std::ranges::equal(plain.words(), shared.words()));
  for (std::uint64_t position = 0; position < 1000; ++position) {
    EXPECT_EQ(detail::test_bit_shared(shared.words().data(), position),
              detail::test_bit(plain.words().data(), position));
  }
}

// ---- counting ---------------------------------------------------------------------------------

std::vector<std::string> asked_for;  // of a program that brings its memory

TEST(BitArray, AsksForUnsetMemoryWhereAllOfItIsWritten) {
  static constexpr auto take = [](const char* what, std::size_t bytes, int filled_with) {
    asked_for.emplace_back(what);
    void* const start = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (start != nullptr) std::memset(start, filled_with, bytes);
    return start;
  };
  use_array_memory({.take = [](std::size_t bytes) { return take("zeroed", bytes, 0); },
                    .give = [](void* start, std::size_t) { std::free(start); },
                    .take_unset = [](std::size_t bytes) { return take("unset", bytes, 0x5a); }});
  asked_for.clear();
  {
    bit_array array(1000);
    EXPECT_TRUE(all_zero(array));
    array.words()[3] = 5;
    const bit_array copy = array;
    EXPECT_TRUE(std::ranges::equal(copy.words(), array.words()));
    EXPECT_EQ(bit_array(1000, detail::unset_words{}).words().size(), 16U);
  }
  use_array_memory({});
  EXPECT_EQ(asked_for, (std::vector<std::string>{"zeroed", "unset", "unset"}));
}

std::uint64_t count_one_by_one(std::span<const std::uint64_t> words, std::uint64_t first,
                               std::uint64_t last) {
  std::uint64_t set = 0;
  for (std::uint64_t position = first; position < last; ++position) {
    if (detail::test_bit(words.data(), position)) ++set;
  }
  return set;
}

TEST(CountBits, OfWholeArrays) {
  std::mt19937_64 random(4);
  for (const std::size_t size : {0U, 1U, 2U, 7U, 8U, 9U, 100U}) {
    std::vector<std::uint64_t> words(size);
    for (std::uint64_t& word : words) word = random() & random();
    EXPECT_EQ(count_bits(words), count_one_by_one(words, 0, size * 64)) << size;
  }
  EXPECT_EQ(count_bits(std::vector<std::uint64_t>(1000, ~std::uint64_t{0})), 64'000U);
}

TEST(CountBits, OfEveryRangeOfAFewWords) {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> words(4);
  for (std::uint64_t& word : words) word = random();
  for (std::uint64_t first = 0; first <= 256; ++first) {
    for (std::uint64_t last = first; last <= 256; ++last) {
      ASSERT_EQ(count_bits(words, first, last), count_one_by_one(words, first, last))
          << first << " to " << last;
    }
  }
}

TEST(CountBits, OfAnEmptyOrBackwardRangeIsZero) {
  const std::vector<std::uint64_t> words(2, ~std::uint64_t{0});
  EXPECT_EQ(count_bits(words, 10, 10), 0U);
  EXPECT_EQ(count_bits(words, 20, 10), 0U);
  EXPECT_EQ(count_bits(words, 128, 128), 0U);
}

}  // namespace
}  // namespace bloomery
