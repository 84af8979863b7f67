#include "bloomery/format/version_name.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace bloomery {
namespace {

TEST(version_name, is_sixteen_digits_and_comes_back) {
  for (const std::uint64_t name :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x0123456789abcdef}, ~std::uint64_t{0}}) {
    const std::string text = version_name(name);
    EXPECT_EQ(text.size(), 16U);
    EXPECT_EQ(parse_version_name(text), name);
  }
  EXPECT_EQ(version_name(0xbeef), "000000000000beef");
}

TEST(version_name, has_one_spelling) {
  for (const char* text :
       {"", "0", "beef", "000000000000BEEF", "0x0000000000beef", "-00000000000beef",
        "+00000000000beef", " 00000000000beef", "00000000000beef ", "0000000000000beef",
        "\"00000000000bee\"", "000000000000bee/"}) {
    EXPECT_EQ(parse_version_name(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace bloomery
