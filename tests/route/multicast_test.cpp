// Multicast: 200 receivers over 40 nodes lose nothing, copies in vain are as many as the rate says,
// and trees in packets take few links that they should not.
#include "bloomery/route/multicast.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "filter/samples.hpp"
#include "route/graphs.hpp"

namespace bloomery {
namespace {

using bloomery_test::graph;
using bloomery_test::random_graph;
using bloomery_test::summary_plan;

struct multicast_network {
  multicast_network(const graph& tree, const plan& p) : links(tree) {
    for (std::size_t i = 0; i < tree.size(); ++i) {
      nodes.emplace_back(p);
      for (const std::uint32_t to : tree[i]) nodes[i].add_link(to);
    }
  }
  void settle() {
    for (bool news = true; news;) {
      news = false;
      for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        for (const std::uint32_t to : links[i]) {
          if (auto a = nodes[i].change_for(to)) {
            nodes[to].take(i, *a);
            news = true;
          }
        }
      }
    }
  }
  // The nodes that a message comes to.
  std::set<std::uint32_t> send(std::uint64_t group, std::uint32_t from) {
    std::set<std::uint32_t> reached;
    std::vector<std::pair<std::uint32_t, std::optional<link_id>>> open{{from, std::nullopt}};
    while (!open.empty()) {
      const auto [at, came] = open.back();
      open.pop_back();
      reached.insert(at);
      for (const link_id to : nodes[at].forward(group, came)) open.push_back({to, at});
    }
    return reached;
  }

  graph links;
  std::vector<multicast_router> nodes;
};

TEST(route_multicast, two_hundred_receivers_over_forty_nodes_lose_nothing) {
  const graph tree = random_graph(40, 0, 3);
  multicast_network n(tree, summary_plan(60));
  struct receiver {
    std::uint32_t node;
    std::uint64_t group;
    bool there;
  };
  std::vector<receiver> receivers;
  for (std::uint64_t i = 0; i < 200; ++i) {
    receivers.push_back({.node = static_cast<std::uint32_t>(splitmix64(i) % 40),
                         .group = splitmix64(1000 + splitmix64(i + 500) % 30),
                         .there = true});
    n.nodes[receivers.back().node].join(receivers.back().group);
  }
  for (int round = 0; round < 3; ++round) {
    n.settle();
    for (std::uint64_t g = 0; g < 30; ++g) {
      const auto reached = n.send(splitmix64(1000 + g), static_cast<std::uint32_t>(g));
      for (const receiver& r : receivers) {
        EXPECT_TRUE(!r.there || r.group != splitmix64(1000 + g) || reached.contains(r.node));
      }
    }
    for (std::size_t i = static_cast<std::size_t>(round); i < receivers.size(); i += 3) {
      receiver& r = receivers[i];
      if (r.there) {
        EXPECT_TRUE(n.nodes[r.node].leave(r.group));
      } else {
        n.nodes[r.node].join(r.group);
      }
      r.there = !r.there;
    }
  }
  // When all have left, nothing is sent any more.
  for (const receiver& r : receivers) {
    if (r.there) n.nodes[r.node].leave(r.group);
  }
  n.settle();
  for (std::uint64_t g = 0; g < 30; ++g) EXPECT_EQ(n.send(splitmix64(1000 + g), 0).size(), 1);
}

// A router with 64 interfaces and 1,000 groups on each: copies on interfaces without members.
TEST(route_multicast, copies_in_vain_are_the_rate_times_the_interfaces_without_members) {
  const plan p = summary_plan(1000, 0.05);
  multicast_router router(p);
  double rate = 0;
  for (link_id i = 0; i < 64; ++i) {
    multicast_router behind(p);
    behind.add_link(0);
    for (std::uint64_t g = 0; g < 1000; ++g) behind.join(bloomery_test::key_of(i, g));
    router.add_link(i);
    const auto a = behind.change_for(0);
    ASSERT_TRUE(a);
    router.take(i, *a);
    classic_filter f(p);
    for (std::uint64_t g = 0; g < 1000; ++g) f.add(bloomery_test::key_of(i, g));
    rate += f.fpr();
  }
  constexpr std::uint64_t sent = 2000;
  std::uint64_t copies = 0;
  for (std::uint64_t i = 0; i < sent; ++i) {
    const auto to = router.forward(bloomery_test::key_of(i % 64, i % 1000), std::nullopt);
    EXPECT_NE(std::ranges::find(to, i % 64), to.end());
    copies += to.size() - 1;
  }
  const double expected = sent * rate * 63 / 64;  // binomial: four standard deviations
  EXPECT_NEAR(static_cast<double>(copies), expected, 4 * std::sqrt(expected));
}

TEST(route_multicast, a_tree_in_the_packet_is_followed_and_the_best_candidate_taken) {
  const graph g = random_graph(60, 90, 9);
  const auto name = [](std::uint32_t a, std::uint32_t b) {
    return splitmix64((std::uint64_t{a} << 32U) + b);
  };
  std::uint64_t taken_best = 0;
  std::uint64_t taken_first = 0;
  double expected = 0;
  for (std::uint32_t sender = 0; sender < 60; ++sender) {
    // The tree of shortest paths to 12 receivers.
    const auto hops = bloomery_test::distances(g, sender);
    std::set<std::uint64_t> tree;
    std::set<std::uint32_t> inside{sender};
    for (std::uint32_t r = 0; r < 12; ++r) {
      auto at = static_cast<std::uint32_t>(splitmix64(sender * 100 + r) % 60);
      while (at != sender) {
        inside.insert(at);
        const std::uint32_t up = *std::ranges::find_if(
            g[at], [&](std::uint32_t next) { return hops[next] + 1 == hops[at]; });
        tree.insert(name(up, at));
        at = up;
      }
    }
    std::vector<std::uint64_t> others;
    for (const std::uint32_t at : inside) {
      for (const std::uint32_t to : g[at]) {
        if (!tree.contains(name(at, to))) others.push_back(name(at, to));
      }
    }
    const std::vector<std::uint64_t> links(tree.begin(), tree.end());
    const source_route best(links, others);
    const source_route first(links, others, {.bits = 248, .probes = 5, .candidates = 1});
    for (const std::uint64_t link : links) EXPECT_TRUE(best.takes(link) && first.takes(link));
    const auto count = [&](const source_route& r) {
      return static_cast<std::uint64_t>(
          std::ranges::count_if(others, [&](std::uint64_t link) { return r.takes(link); }));
    };
    taken_best += count(best);
    taken_first += count(first);
    expected += first.fpr() * static_cast<double>(others.size());
    const source_route travelled(best.bits(), best.candidate());
    EXPECT_EQ(count(travelled), count(best));
  }
  EXPECT_LT(taken_best, taken_first);
  EXPECT_NEAR(static_cast<double>(taken_first), expected, 4 * std::sqrt(expected) + 4);
}

}  // namespace
}  // namespace bloomery
