// Squares of a map: L + 1 levels, every resource found, hops within the bound.
#include "bloomery/route/geographic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "filter/samples.hpp"
#include "route/graphs.hpp"

namespace bloomery {
namespace {

using bloomery_test::asking;
using bloomery_test::key_of;
using bloomery_test::summary_plan;
using bloomery_test::throws;

constexpr std::uint64_t keys_a_node = 10;

// Every node of a map has keys of its own.
struct test_map {
  test_map(std::uint32_t map_levels, double fpr) : levels(map_levels) {
    const plan p = summary_plan(side * side * keys_a_node / 4, fpr);
    for (std::uint32_t i = 0; i < side * side; ++i) {
      nodes.push_back(geographic_router(
          {.levels = levels, .at = {.x = i % side, .y = i / side}, .planned = p}));
      for (std::uint64_t k = 0; k < keys_a_node; ++k) nodes[i].local().add(key_of(i, k));
    }
    settle();
  }
  geographic_router& node(map_point p) { return nodes[p.y * side + p.x]; }

  // Each square's centre tells the nodes of its siblings, from small squares to large ones.
  void settle() {
    for (std::uint32_t level = 0; level < levels; ++level) {
      for (geographic_router& from : nodes) {
        const map_square own = map_square::around(from.at(), level);
        if (own.centre() != from.at()) continue;
        const auto change = from.change(level);
        if (!change) continue;
        const map_square parent = map_square::around(from.at(), level + 1);
        for (geographic_router& to : nodes) {
          if (!parent.contains(to.at()) || own.contains(to.at())) continue;
          for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
            if (parent.quarter(quarter) == own) to.take(level + 1, quarter, *change);
          }
        }
      }
    }
  }
  // Whether the holder is found; counts messages and unit steps, also those in vain.
  bool find(map_point at, std::uint32_t within, std::uint64_t key, map_point holder) {
    if (at == holder) return true;
    for (const map_square& s : node(at).candidates(asking(key), within)) {
      ++messages;
      steps += static_cast<std::uint64_t>(
          std::abs(static_cast<int>(s.centre().x) - static_cast<int>(at.x)) +
          std::abs(static_cast<int>(s.centre().y) - static_cast<int>(at.y)));
      if (find(s.centre(), s.level, key, holder)) return true;
    }
    return false;
  }

  std::uint32_t levels;
  std::uint32_t side = 1U << levels;
  std::vector<geographic_router> nodes;
  std::uint64_t messages = 0;
  std::uint64_t steps = 0;
};

TEST(route_geographic, squares_divide_the_map) {
  const map_square all = map_square::around({.x = 5, .y = 2}, 3);
  EXPECT_EQ(all.corner, (map_point{0, 0}));
  EXPECT_EQ(all.centre(), (map_point{4, 4}));
  EXPECT_TRUE(all.quarter(1).contains({.x = 5, .y = 2}));
  EXPECT_EQ(map_square::around({.x = 5, .y = 2}, 0).centre(), (map_point{5, 2}));
  EXPECT_TRUE(throws(errc::bad_argument, "no quarters", [] { return map_square{}.quarter(0); }));
  EXPECT_TRUE(throws(errc::bad_argument, "coordinate", [] {
    geographic_router({.levels = 2, .at = {.x = 4, .y = 0}, .planned = summary_plan(10)});
  }));
  // log2(side) + 1: itself, and the siblings at each level.
  EXPECT_EQ(geographic_router({.levels = 3, .at = {}, .planned = summary_plan(9)}).levels() + 1, 4);
}

// From everywhere to everywhere. The longest way, 2 * 2^L steps, begins in a corner and ends in the
// middle: past it to the middle of the far quarter, and back in ever smaller steps.
TEST(route_geographic, finds_everything_within_the_bounds_of_messages_and_steps) {
  for (std::uint32_t levels = 1; levels <= 4; ++levels) {
    test_map map(levels, 1e-6);
    std::uint64_t most_steps = 0;
    for (std::uint32_t from = 0; from < map.nodes.size(); ++from) {
      for (std::uint32_t to = 0; to < map.nodes.size(); ++to) {
        map.messages = map.steps = 0;
        ASSERT_TRUE(map.find(map.nodes[from].at(), levels, key_of(to, from % keys_a_node),
                             map.nodes[to].at()));
        EXPECT_LE(map.messages, levels);
        most_steps = std::max(most_steps, map.steps);
      }
    }
    EXPECT_EQ(most_steps, levels == 1 ? 2 : 2 * map.side) << levels << " levels";
  }
}

TEST(route_geographic, goes_on_after_false_promises_and_follows_hosts_that_move) {
  test_map map(3, 0.2);
  const std::uint32_t side = map.side;
  map.node({.x = 1, .y = 1}).local().remove(key_of(side + 1, 3));
  map.node({.x = 6, .y = 7}).local().add(key_of(side + 1, 3));
  map.settle();
  for (std::uint32_t from = 0; from < side * side; ++from) {
    ASSERT_TRUE(map.find(map.nodes[from].at(), map.levels, key_of(side + 1, 3), {.x = 6, .y = 7}));
    ASSERT_TRUE(map.find(map.nodes[from].at(), map.levels, key_of(side, 3), {.x = 0, .y = 1}));
  }
  EXPECT_GT(map.messages, 2 * side * side);  // some were in vain
}

}  // namespace
}  // namespace bloomery
