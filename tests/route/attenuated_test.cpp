// Attenuated filters on random graphs: what lies within the depth is promised at its distance, the
// walk finds it on a shortest path, and comes back from false promises.
#include "bloomery/route/attenuated.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "filter/samples.hpp"
#include "route/graphs.hpp"

namespace bloomery {
namespace {

using bloomery_test::asking;
using bloomery_test::distances;
using bloomery_test::graph;
using bloomery_test::key_of;
using bloomery_test::random_graph;
using bloomery_test::summary_plan;
using bloomery_test::throws;

struct attenuated_network {
  attenuated_network(const graph& g, const attenuated_options& o)
      : links(g), nodes(g.size(), attenuated_router(o)) {
    for (std::uint32_t i = 0; i < g.size(); ++i) {
      for (const std::uint32_t to : g[i]) {
        nodes[i].add_link(to);
        for (const announcement& a : nodes[to].whole()) nodes[i].take(to, a);
      }
    }
  }
  // Rounds until nobody has news; returns how many there were.
  int settle(bool all = true) {
    for (int rounds = 0;; ++rounds) {
      bool news = false;
      for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        for (const announcement& a : nodes[i].changes(all)) {
          news = true;
          for (const std::uint32_t to : links[i]) nodes[to].take(i, a);
        }
      }
      if (!news) return rounds;
    }
  }
  // The path of the walk to a holder, without what it came back from; messages counts all.
  std::vector<std::uint32_t> walk(std::uint32_t at, std::optional<link_id> from, std::uint32_t hops,
                                  std::uint64_t key, std::uint32_t holder) {
    if (at == holder) return {at};
    attenuated_walk w(nodes[at].promises(asking(key), hops), from);
    while (const auto next = w.next()) {
      messages += 2;
      auto path = walk(next->link, at, hops - 1, key, holder);
      if (path.empty()) continue;
      path.insert(path.begin(), at);
      return path;
    }
    return {};
  }

  graph links;
  std::vector<attenuated_router> nodes;
  std::uint64_t messages = 0;
};

TEST(route_attenuated, finds_what_is_within_the_depth_on_a_shortest_path) {
  const std::uint32_t count = 60;
  const graph g = random_graph(count, 60, 5);
  attenuated_network n(g, {.planned = summary_plan(600, 0.02), .depth = 3});
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint64_t k = 0; k < 20; ++k) n.nodes[i].local().add(key_of(i, k));
  }
  EXPECT_LE(n.settle(), 4);
  std::uint64_t queries = 0;
  std::uint64_t direct = 0;
  for (std::uint32_t from = 0; from < count; ++from) {
    const auto hops = distances(g, from);
    for (std::uint32_t to = 0; to < count; ++to) {
      const auto path = n.walk(from, std::nullopt, 3, key_of(to, 1 + from % 7), to);
      if (hops[to] > 3) continue;
      ASSERT_FALSE(path.empty()) << from << " to " << to;
      ++queries;
      direct += std::uint64_t{path.size() == hops[to] + 1};
    }
  }
  EXPECT_GE(static_cast<double>(direct), 0.99 * static_cast<double>(queries));
}

TEST(route_attenuated, forgets_what_is_gone_and_links_that_are_down) {
  graph g(5);  // a line of five
  for (std::uint32_t i = 0; i + 1 < 5; ++i) g[i].insert(i + 1), g[i + 1].insert(i);
  attenuated_network n(g, {.planned = summary_plan(100), .depth = 3});
  n.nodes[3].local().add(42);
  n.settle();
  using promise = attenuated_router::promise;
  const auto promised = [&](std::uint32_t node) { return n.nodes[node].promises(asking(42), 3); };
  EXPECT_EQ(promised(0), (std::vector<promise>{{.link = 1, .level = 3}}));
  EXPECT_EQ(promised(2).front(), (promise{.link = 3, .level = 1}));
  EXPECT_TRUE(n.nodes[0].promises(asking(42), 2).empty());
  n.nodes[3].local().remove(42);
  n.settle();
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_TRUE(promised(i).empty()) << i;
  n.nodes[3].local().add(42);
  n.settle();
  n.nodes[2].remove_link(3), n.nodes[3].remove_link(2);
  n.links[2].erase(3), n.links[3].erase(2);
  n.settle();
  EXPECT_TRUE(promised(0).empty() && promised(1).empty());
}

TEST(route_attenuated, far_levels_wait_until_enough_differs) {
  graph g(2);
  g[0].insert(1), g[1].insert(0);
  attenuated_network n(g, {.planned = summary_plan(10'000), .depth = 2, .enough = 0.05});
  for (std::uint64_t k = 0; k < 1000; ++k) n.nodes[0].local().add(key_of(0, k));
  n.settle();
  n.nodes[0].local().add(1);  // 0.1 % of the bits
  const auto first = n.nodes[0].changes(false);
  ASSERT_EQ(first.size(), 1);
  EXPECT_EQ(first[0].level, 1);
  n.nodes[1].take(0, first[0]);
  EXPECT_TRUE(n.nodes[1].changes(false).empty());
  EXPECT_EQ(n.nodes[1].changes(true).size(), 1);
}

TEST(route_attenuated, refuses_what_it_cannot_be) {
  EXPECT_TRUE(throws(errc::bad_argument, "depth",
                     [] { attenuated_router({.planned = summary_plan(10), .depth = 0}); }));
  attenuated_router node({.planned = summary_plan(10), .depth = 2});
  node.add_link(1);
  announcement a = node.whole()[0];
  a.level = 3;
  EXPECT_TRUE(throws(errc::corrupt, "level 3", [&] { node.take(1, a); }));
}

}  // namespace
}  // namespace bloomery
