// Routing in a tree: nothing present is missed, whatever is asked for; and the tree that nodes of
// any graph agree on, also after its root has died.
#include "bloomery/route/tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "route/graphs.hpp"

namespace bloomery {
namespace {

using bloomery_test::asking;
using bloomery_test::graph;
using bloomery_test::key_of;
using bloomery_test::random_graph;
using bloomery_test::summary_plan;

struct test_tree {  // node i has the parent (i - 1) / 3
  explicit test_tree(std::uint32_t count, const plan& p) : nodes(count, tree_router(p)) {
    for (std::uint32_t i = 1; i < count; ++i) {
      nodes[(i - 1) / 3].children().add_link(i);
      nodes[(i - 1) / 3].children().take(i, nodes[i].whole());
    }
  }
  void settle() {
    for (std::size_t i = nodes.size() - 1; i > 0; --i) {
      if (auto a = nodes[i].change()) {
        bytes += a->bytes.size();
        nodes[(i - 1) / 3].children().take(static_cast<link_id>(i), *a);
      }
    }
  }
  // Who is asked when a query starts at a node and goes everywhere that it has to.
  std::set<std::uint32_t> asked(const route_query& q, std::uint32_t start) const {
    std::set<std::uint32_t> all;
    std::vector<std::uint32_t> open{start};
    for (std::uint32_t up = start; up != 0; up = (up - 1) / 3) open.push_back((up - 1) / 3);
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      if (!all.insert(at).second) continue;
      for (const link_id child : nodes[at].branches(q)) open.push_back(child);
    }
    return all;
  }

  std::vector<tree_router> nodes;
  std::size_t bytes = 0;
};

TEST(route_tree, finds_every_resource_from_everywhere_while_they_come_and_go) {
  test_tree tree(60, summary_plan(60 * 20));
  std::set<std::pair<std::uint32_t, std::uint64_t>> present;
  for (std::uint64_t round = 0; round < 4; ++round) {
    for (std::uint64_t i = 0; i < 400; ++i) {
      const std::uint64_t random = splitmix64(1000 * round + i);
      const auto node = static_cast<std::uint32_t>(random % 60);
      const std::uint64_t key = key_of(node, (random >> 32U) % 20);
      if (present.insert({node, key}).second) {
        tree.nodes[node].local().add(key);
      } else {
        present.erase({node, key});
        tree.nodes[node].local().remove(key);
      }
    }
    tree.settle();
    std::size_t visits = 0;
    for (const auto& [node, key] : present) {
      const auto start = static_cast<std::uint32_t>(key % 60);
      const auto asked = tree.asked(asking(key), start);
      EXPECT_TRUE(asked.contains(node));
      visits += asked.size();
    }
    EXPECT_LT(visits, present.size() * 10);  // of 60: two ways of at most 4 hops, and some false
  }
}

TEST(route_tree, a_query_may_be_a_set_of_keys_or_a_filter_of_them) {
  const plan p = summary_plan(1000);
  test_tree tree(13, p);
  for (std::uint64_t node = 0; node < 13; ++node) {
    for (std::uint64_t word = 0; word < 8; ++word) {
      if (((node + 1) & (word + 1)) != 0) tree.nodes[node].local().add(key_of(77, word));
    }
  }
  tree.settle();
  for (std::uint64_t mask = 1; mask < 256; mask += 3) {
    route_query set;
    classic_filter described(p);
    for (std::uint64_t word = 0; word < 8; ++word) {
      if (((mask >> word) & 1U) == 0) continue;
      set.hashes.push_back(key_of(77, word));
      described.add(key_of(77, word));
    }
    const route_query filter{.hashes = {}, .covered = described};
    for (std::uint32_t node = 0; node < 13; ++node) {
      if (!set.may_match(tree.nodes[node].local().filter())) continue;
      EXPECT_TRUE(filter.may_match(tree.nodes[node].local().filter()));
      EXPECT_TRUE(tree.asked(set, 12).contains(node));
      EXPECT_TRUE(tree.asked(filter, 12).contains(node));
    }
  }
}

struct tree_network {
  tree_network(const graph& g, std::uint64_t silence) : links(g) {
    for (std::uint32_t i = 0; i < g.size(); ++i) {
      nodes.emplace_back(name(i), silence);
      alive.push_back(true);
    }
  }
  static std::uint64_t name(std::uint32_t i) { return splitmix64(i); }
  void round() {
    ++now;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (alive[i]) nodes[i].beat(now);
    }
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (!alive[i]) continue;
      for (const std::uint32_t to : links[i]) {
        if (alive[to]) nodes[to].take(i, name(i), nodes[i].claim(), now);
      }
    }
  }
  void kill(std::uint32_t i) {
    alive[i] = false;
    for (const std::uint32_t to : links[i]) nodes[to].drop(i, now);
  }
  void cut(std::uint32_t a, std::uint32_t b) {
    links[a].erase(b), links[b].erase(a);
    nodes[a].drop(b, now), nodes[b].drop(a, now);
  }
  // One root for all who live, reached by everybody's parents.
  [[nodiscard]] bool is_tree() const {
    std::set<std::uint64_t> roots;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (!alive[i]) continue;
      std::uint32_t at = i;
      for (std::size_t hops = 0; nodes[at].parent(); at = *nodes[at].parent()) {
        if (++hops > nodes.size() || !alive[*nodes[at].parent()]) return false;
        if (!nodes[*nodes[at].parent()].is_child(at)) return false;
      }
      roots.insert(at);
    }
    return roots.size() == 1;
  }

  graph links;
  std::vector<spanning_tree> nodes;
  std::vector<bool> alive;
  std::uint64_t now = 0;
};

TEST(route_tree, nodes_of_any_graph_agree_on_a_tree_and_mend_it) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    tree_network n(random_graph(50, 60, seed), 20);
    for (int i = 0; i < 20; ++i) n.round();
    EXPECT_TRUE(n.is_tree()) << seed;
    // A link of the tree goes: the graph is still connected as far as we cut.
    std::uint32_t cut = 0;
    for (std::uint32_t i = 0; i < 50 && cut < 5; ++i) {
      if (!n.nodes[i].parent() || n.links[i].size() < 3) continue;
      n.cut(i, *n.nodes[i].parent());
      ++cut;
    }
    if (std::ranges::count(bloomery_test::distances(n.links, 0), UINT32_MAX) != 0) continue;
    for (int i = 0; i < 30; ++i) n.round();
    EXPECT_TRUE(n.is_tree()) << seed;
    // The root dies: nobody believes in it after a while.
    std::uint32_t root = 0;
    for (std::uint32_t i = 1; i < 50; ++i) {
      if (n.name(i) < n.name(root)) root = i;
    }
    ASSERT_FALSE(n.nodes[root].parent());
    graph rest = n.links;
    for (auto& others : rest) others.erase(root);
    n.kill(root);
    const auto reach = bloomery_test::distances(rest, root == 0 ? 1 : 0);
    if (std::ranges::count(reach, UINT32_MAX) != 1) continue;
    for (int i = 0; i < 60; ++i) n.round();
    EXPECT_TRUE(n.is_tree()) << seed;
    for (std::uint32_t i = 0; i < 50; ++i) {
      EXPECT_TRUE(i == root || n.nodes[i].claim().root != n.name(root));
    }
  }
}

}  // namespace
}  // namespace bloomery
