// The pairwise independent family: frozen functions. Its independence: pairwise_stat_test.cpp.
#include "bloomery/hash/pairwise.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace bloomery {
namespace {

// ((a x + b) mod 2^128) div 2^64, with a and b from splitmix64 as in the header, by Python's
// integers.
TEST(PairwiseHash, GivesFrozenVectors) {
  static_assert(pairwise_hash(0, 0)(0) == 0xd4993d56a5f40fb6);
  static_assert(pairwise_hash(0, 0)(1) == 0xb6b9e5902111dd66);
  static_assert(pairwise_hash(0, 1)(1) == 0x51e453ab26919ffa);
  static_assert(pairwise_hash(1, 0)(1) == 0x18c3664d2f42a980);
  static_assert(pairwise_hash(42, 7)(0x0123456789abcdef) == 0x3e1f68004855b699);
  static_assert(pairwise_hash(42, 7)(~std::uint64_t{0}) == 0x0592946fa74d1c0d);
}

TEST(PairwiseHash, SeedsAndIndexesChooseDifferentFunctions) {
  std::set<std::uint64_t> values;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (std::uint32_t index = 0; index < 100; ++index) {
      values.insert(pairwise_hash(seed, index)(12345));
    }
  }
  EXPECT_EQ(values.size(), 10'000U);
}

}  // namespace
}  // namespace bloomery
