// Seeds from the system are new each time.
#include "bloomery/hash/random_seed.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace bloomery {
namespace {

// Two of a thousand draws of 64 bits are equal once in 3.7e13 runs.
TEST(random_seed, is_new_each_time) {
  std::set<std::uint64_t> seeds;
  std::uint64_t set_somewhere = 0;
  std::uint64_t set_everywhere = ~std::uint64_t{0};
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t seed = random_seed();
    EXPECT_TRUE(seeds.insert(seed).second);
    set_somewhere |= seed;
    set_everywhere &= seed;
  }
  EXPECT_EQ(set_somewhere, ~std::uint64_t{0});
  EXPECT_EQ(set_everywhere, 0U);
}

TEST(process_seed, stays) {
  EXPECT_EQ(process_seed(), process_seed());
  EXPECT_NE(process_seed(), 0U);
}

}  // namespace
}  // namespace bloomery
