// Pairwise independence, as it is defined: over the functions of the family, the values of two
// different keys are uniform together. 64 cells (three top bits of each value) and 64,000 functions
// of seed 5 for each pair; chi-square with 63 degrees of freedom is above 132 once in three
// million.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <utility>

#include "bloomery/hash/pairwise.hpp"

namespace bloomery {
namespace {

constexpr std::uint32_t functions = 64'000;
constexpr double most = 132;

template <class Cell>
double chi_square(std::uint64_t seed, Cell cell) {
  std::array<int, 64> counts{};
  for (std::uint32_t i = 0; i < functions; ++i) ++counts[cell(pairwise_hash(seed, i))];
  double sum = 0;
  for (const int count : counts) sum += (count - 1000.0) * (count - 1000.0) / 1000.0;
  return sum;
}

using keys = std::pair<std::uint64_t, std::uint64_t>;
class PairOfKeys : public testing::TestWithParam<keys> {};

TEST_P(PairOfKeys, IsUniformOverTheFunctions) {
  const auto [x, y] = GetParam();
  EXPECT_LT(
      chi_square(
          5, [x = x, y = y](const pairwise_hash& h) { return (h(x) >> 61U) << 3U | h(y) >> 61U; }),
      most);
}

// The same for the lowest bits of the values, which a table of a power of two would use.
TEST_P(PairOfKeys, IsUniformInTheLowBits) {
  const auto [x, y] = GetParam();
  EXPECT_LT(chi_square(5, [x = x, y = y](
                              const pairwise_hash& h) { return (h(x) & 7U) << 3U | (h(y) & 7U); }),
            most);
}

constexpr std::uint64_t all_ones = ~std::uint64_t{0};
INSTANTIATE_TEST_SUITE_P(NearAndFar, PairOfKeys,
                         testing::Values(keys{0, 1}, keys{1, 2}, keys{1000, 1001},
                                         keys{all_ones - 1, all_ones}, keys{0, all_ones},
                                         keys{0, 0x8000000000000000}, keys{7, 7 + 0x100000000},
                                         keys{3, 0x8000000000000003},
                                         keys{0x0123456789abcdef, 0xfedcba9876543210}));

// Functions of neighbouring indexes and seeds have nothing to do with each other.
TEST(PairwiseFamily, ItsFunctionsAreIndependent) {
  EXPECT_LT(chi_square(5,
                       [i = 0U](const pairwise_hash& h) mutable {
                         return (h(42) >> 61U) << 3U | pairwise_hash(5, ++i)(42) >> 61U;
                       }),
            most);
  EXPECT_LT(chi_square(5,
                       [i = 0U](const pairwise_hash& h) mutable {
                         return (h(42) >> 61U) << 3U | pairwise_hash(6, i++)(42) >> 61U;
                       }),
            most);
}

}  // namespace
}  // namespace bloomery
