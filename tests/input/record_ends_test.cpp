#include "cli/input/record_ends.hpp"

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "cli/input/record_ends_kernel.hpp"

namespace bloomery {
namespace {

std::string random_text(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string text(size, '\0');
  // Neighbours of the byte that is looked for, and bytes with the top bit, are where tricks go
  // wrong.
  constexpr std::string_view bytes("\n\n\x0b\x09\x8a\x00\xff\x0e q", 10);
  for (char& c : text) c = bytes[random() % bytes.size()];
  return text;
}

struct by_hand {
  std::vector<std::uint32_t> ends;
  record_count count;

  by_hand(std::string_view text, char end) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != end) continue;
      ends.push_back(static_cast<std::uint32_t>(i));
      ++count.all;
      if (i != 0 && text[i - 1] != end) ++count.not_empty;
    }
  }
};

void expect_same(const by_hand& expected, std::span<const std::uint32_t> ends,
                 const record_count& count) {
  EXPECT_TRUE(std::equal(ends.begin(), ends.end(), expected.ends.begin(), expected.ends.end()));
  EXPECT_EQ(count.all, expected.count.all);
  EXPECT_EQ(count.not_empty, expected.count.not_empty);
}

TEST(Records, AreFoundInTextsOfEveryLength) {
  record_ends found;
  for (std::size_t size = 0; size < 300; ++size) {
    const std::string text = random_text(size, static_cast<std::uint32_t>(size));
    for (const char end : {'\n', '\0', '\xff'}) {
      std::vector<std::uint32_t> ends(found.find(text, end));
      for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = found.end(i);
      expect_same(by_hand(text, end), ends, count_records(text, end));
    }
  }
}

TEST(Records, OfNothingButEnds) {
  const std::string text(1000, '\n');
  record_ends found;
  EXPECT_EQ(found.find(text, '\n'), 1000U);
  EXPECT_EQ(found.end(999), 999U);
  EXPECT_EQ(count_records(text, '\n').all, 1000U);
  EXPECT_EQ(count_records(text, '\n').not_empty, 0U);
}

TEST(Records, AreTheSameForEveryKernel) {
  constexpr std::size_t blocks = 500;
  const std::string text = random_text(blocks * kernel::record_block, 7);
  for (const kernel::level l : kernel::levels) {
    if (!kernel::available(l)) continue;
    SCOPED_TRACE(kernel::level_name(l));
    const kernel::record_kernels& kernels = kernel::record_kernels_of(l);
    std::vector<std::uint32_t> ends(text.size() + kernel::record_block);
    ends.resize(kernels.find(text.data(), blocks, '\n', ends.data()));
    expect_same(by_hand(text, '\n'), ends, kernels.count(text.data(), blocks, '\n'));
  }
}

}  // namespace
}  // namespace bloomery
