#include "bloomery/bits/byte_mask.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "../../src/kernel/byte_mask.hpp"

namespace bloomery {
namespace {

std::string random_text(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string text(size, '\0');
  // Neighbours of the byte that is looked for, and bytes with the top bit, are where tricks go wrong.
  constexpr std::string_view bytes("\n\n\x0b\x09\x8a\x00\xff\x0e q", 10);
  for (char& c : text) c = bytes[random() % bytes.size()];
  return text;
}

void expect_mask_of(std::string_view text, char byte, const std::vector<std::uint64_t>& bitmap) {
  for (std::size_t i = 0; i < bitmap.size() * 64; ++i) {
    const bool marked = ((bitmap[i / 64] >> (i % 64)) & 1U) != 0;
    ASSERT_EQ(marked, i < text.size() && text[i] == byte) << "byte " << i << " of " << text.size();
  }
}

TEST(ByteMask, MarksTheBytesOfEveryLength) {
  for (std::size_t size = 0; size < 200; ++size) {
    const std::string text = random_text(size, static_cast<std::uint32_t>(size));
    for (const char byte : {'\n', '\0', '\xff'}) {
      std::vector<std::uint64_t> bitmap((size + 63) / 64, ~std::uint64_t{0});
      byte_mask(text, byte, bitmap);
      expect_mask_of(text, byte, bitmap);
    }
  }
}

TEST(ByteMask, IsTheSameForEveryKernel) {
  constexpr std::size_t blocks = 500;
  const std::string text = random_text(blocks * 64, 7);
  for (const kernel::level l : kernel::levels) {
    if (!kernel::available(l)) continue;
    SCOPED_TRACE(kernel::level_name(l));
    std::vector<std::uint64_t> bitmap(blocks);
    kernel::byte_mask_of(l)(text.data(), '\n', blocks, bitmap.data());
    expect_mask_of(text, '\n', bitmap);
  }
}

}  // namespace
}  // namespace bloomery
