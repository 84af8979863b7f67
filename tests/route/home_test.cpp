// Homes by consistent hashing: everybody agrees on them, few keys move, and the way is short.
#include "bloomery/route/home.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bloomery/hash/hash.hpp"
#include "filter/samples.hpp"
#include "route/graphs.hpp"

namespace bloomery {
namespace {

using bloomery_test::key_of;
using bloomery_test::throws;

std::vector<std::uint64_t> ring_nodes(std::uint64_t count) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(splitmix64(i + 1));
  return all;
}

TEST(route_home, is_the_first_node_behind_the_key_and_round_the_end) {
  const home_ring ring(std::vector<std::uint64_t>{30, 10, 20, 10});
  EXPECT_EQ(ring.nodes().size(), 3);
  EXPECT_EQ(ring.home_of(10), 10);
  EXPECT_EQ(ring.home_of(11), 20);
  EXPECT_EQ(ring.home_of(31), 10);
  EXPECT_EQ(ring.home_of(UINT64_MAX), 10);
  EXPECT_EQ(ring.homes_of(25, 2), (std::vector<std::uint64_t>{30, 10}));
  EXPECT_EQ(ring.homes_of(25, 9).size(), 3);
  EXPECT_EQ(ring.fingers(10), (std::vector<std::uint64_t>{20, 30}));
  EXPECT_TRUE(throws(errc::bad_argument, "nodes", [] { (void)home_ring().home_of(1); }));
}

TEST(route_home, of_few_keys_changes_when_a_node_comes_or_goes) {
  home_ring ring(ring_nodes(100));
  std::vector<std::uint64_t> before;
  for (std::uint64_t i = 0; i < 10'000; ++i) before.push_back(ring.home_of(key_of(1, i)));
  const std::uint64_t fresh = splitmix64(5000);
  EXPECT_TRUE(ring.add(fresh));
  EXPECT_FALSE(ring.add(fresh));
  std::uint64_t moved = 0;
  for (std::uint64_t i = 0; i < before.size(); ++i) {
    const std::uint64_t now = ring.home_of(key_of(1, i));
    if (now == before[i]) continue;
    EXPECT_EQ(now, fresh);  // to the new one and to nobody else
    ++moved;
  }
  EXPECT_GT(moved, 0);
  EXPECT_LT(moved, 1000);
  EXPECT_TRUE(ring.remove(fresh));
  EXPECT_FALSE(ring.remove(fresh));
  for (std::uint64_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(ring.home_of(key_of(1, i)), before[i]);
  }
}

// Each hop is along a finger, and no way is longer than twice log2 n; the mean is about half of it.
TEST(route_home, is_reached_from_everywhere_by_fingers) {
  for (const std::uint64_t nodes : {1U, 2U, 3U, 64U, 1000U}) {
    const home_ring ring(ring_nodes(nodes));
    const double log = std::log2(static_cast<double>(nodes));
    std::uint64_t hops = 0;
    constexpr std::uint64_t questions = 500;
    for (std::uint64_t i = 0; i < questions; ++i) {
      const std::uint64_t key = key_of(2, i);
      std::uint64_t at = ring.nodes()[splitmix64(i) % nodes];
      std::uint64_t way = 0;
      for (; at != ring.home_of(key) && way <= 64; ++way) {
        const std::uint64_t next = ring.next_hop(at, key);
        const std::vector<std::uint64_t> known = ring.fingers(at);
        EXPECT_NE(std::ranges::find(known, next), known.end());
        at = next;
      }
      EXPECT_EQ(ring.next_hop(at, key), at);
      EXPECT_LE(static_cast<double>(way), 2 * log);
      hops += way;
    }
    EXPECT_NEAR(static_cast<double>(hops) / questions, log / 2, 0.6);
  }
}

}  // namespace
}  // namespace bloomery
