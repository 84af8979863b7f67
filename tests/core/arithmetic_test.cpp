// Wide multiplication, against schoolbook multiplication of 32-bit halves.
#include "bloomery/detail/core/arithmetic.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>

namespace bloomery::detail {
namespace {

constexpr std::uint64_t all_ones = ~std::uint64_t{0};

std::uint64_t high_of_product(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t a_low = a & 0xffffffffU;
  const std::uint64_t a_high = a >> 32U;
  const std::uint64_t b_low = b & 0xffffffffU;
  const std::uint64_t b_high = b >> 32U;
  const std::uint64_t middle = a_high * b_low + ((a_low * b_low) >> 32U);
  const std::uint64_t carry = a_low * b_high + (middle & 0xffffffffU);
  return a_high * b_high + (middle >> 32U) + (carry >> 32U);
}

TEST(Arithmetic, MultiplyHighIsTheUpperHalf) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t a = random();
    const std::uint64_t b = random() >> (i % 64);
    ASSERT_EQ(multiply_high(a, b), high_of_product(a, b)) << a << " * " << b;
    ASSERT_EQ(multiply_fold(a, b), high_of_product(a, b) ^ (a * b)) << a << " * " << b;
  }
}

TEST(Arithmetic, MultiplyHighAtTheEdges) {
  static_assert(multiply_high(all_ones, all_ones) == all_ones - 1);
  static_assert(multiply_high(all_ones, 1) == 0);
  static_assert(multiply_high(std::uint64_t{1} << 63U, 10) == 5);
  static_assert(multiply_fold(all_ones, all_ones) == ((all_ones - 1) ^ 1U));
}

TEST(Arithmetic, LittleEndianPutsTheLowestByteFirst) {
  const std::uint64_t stored = little_endian(0x0807060504030201U);
  std::array<unsigned char, 8> bytes{};
  std::memcpy(bytes.data(), &stored, sizeof stored);
  EXPECT_EQ(bytes, (std::array<unsigned char, 8>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(little_endian(stored), 0x0807060504030201U);
}

}  // namespace
}  // namespace bloomery::detail
