// Whole nodes in a network that the test is: everything announced is found from everywhere, in each
// mode, while nodes die, links break and keys change; and a question always ends.
#include "bloomery/route/node.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "filter/samples.hpp"
#include "route/graphs.hpp"

namespace bloomery {
namespace {

using bloomery_test::graph;
using bloomery_test::key_of;
using bloomery_test::random_graph;
using bloomery_test::summary_plan;

// Link a * 1000 + b of node a leads to node b; that of a client is 999'999; asked ones are above.
class node_network {
 public:
  node_network(const graph& g, node_options o) : links_(g), options_(std::move(o)) {
    nodes_.resize(g.size());
    for (std::uint32_t i = 0; i < g.size(); ++i) start(i);
  }

  void start(std::uint32_t i) {
    node_options o = options_;
    o.name = "node" + std::to_string(i);
    o.address = std::to_string(i);
    o.epoch = 1000 + now_;
    if (!options_.group.empty()) o.group = "group" + std::to_string(i % 3);
    nodes_[i] = std::make_unique<route_node>(o);
    nodes_[i]->set_keys(keys_[i], now_);
    nodes_[i]->connected(client, connection::accepted, now_);
    node_hello hello{.role = link_role::client};
    nodes_[i]->received(client, 1, encode(hello), now_);
    for (const std::uint32_t to : links_[i]) {
      if (nodes_[to]) join(i, to);
    }
    run(1);
  }
  void stop(std::uint32_t i) {
    nodes_[i] = nullptr;
    for (std::uint32_t to = 0; to < nodes_.size(); ++to) {
      if (!nodes_[to]) continue;
      nodes_[to]->disconnected(link(to, i), now_);
      nodes_[to]->disconnected(asked_link + i, now_);
      nodes_[to]->disconnected(asked_link + 1000 + i, now_);
    }
  }
  void cut(std::uint32_t a, std::uint32_t b) {
    links_[a].erase(b), links_[b].erase(a);
    nodes_[a]->disconnected(link(a, b), now_), nodes_[b]->disconnected(link(b, a), now_);
  }
  void heal(std::uint32_t a, std::uint32_t b) {
    links_[a].insert(b), links_[b].insert(a);
    join(a, b);
  }
  void set_keys(std::uint32_t i, std::vector<std::uint64_t> keys) {
    keys_[i] = std::move(keys);
    nodes_[i]->set_keys(keys_[i], now_);
  }

  // So many milliseconds, ten at a time.
  void run(std::uint64_t span) {
    for (const std::uint64_t end = now_ + span; now_ < end; now_ += 10) {
      for (auto& n : nodes_) {
        if (n) n->tick(now_);
      }
      deliver();
    }
  }

  node_answer ask(std::uint32_t at, std::vector<std::uint64_t> hashes, bool nearest = false) {
    answer_.reset();
    const node_question q{.id = 7,
                          .kind = question_kind::start,
                          .nearest = nearest,
                          .hops = 0,
                          .patience = 2000,
                          .hashes = std::move(hashes)};
    nodes_[at]->received(client, 8, encode(q), now_);
    deliver();
    for (int i = 0; i < 220 && !answer_; ++i) run(10);
    EXPECT_TRUE(answer_) << "a question did not end";
    return answer_.value_or(node_answer{});
  }
  static bool found(const node_answer& a, std::uint32_t holder) {
    return std::ranges::any_of(a.holders, [&](const resource_holder& h) {
      return h.name == "node" + std::to_string(holder);
    });
  }
  route_node& node(std::uint32_t i) { return *nodes_[i]; }
  bool lives(std::uint32_t i) { return nodes_[i] != nullptr; }
  std::vector<std::uint64_t>& keys(std::uint32_t i) { return keys_[i]; }
  std::uint64_t messages = 0;

 private:
  static constexpr link_id client = 999'999;
  static constexpr link_id asked_link = 2'000'000;

  static link_id link(std::uint32_t from, std::uint32_t to) { return from * 1000 + to; }
  void join(std::uint32_t a, std::uint32_t b) {
    nodes_[a]->connected(link(a, b), connection::dialled, now_);
    nodes_[b]->connected(link(b, a), connection::accepted, now_);
  }
  void deliver() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_[i]) continue;
        for (const node_dial& d : nodes_[i]->take_dials()) dial(i, d), moved = true;
        for (const node_outgoing& m : nodes_[i]->take_outgoing()) pass(i, m), moved = true;
        for (const node_closing& c : nodes_[i]->take_closing()) {
          EXPECT_GE(c.link, asked_link) << c.why;  // those that are idle
        }
      }
    }
  }
  void dial(std::uint32_t from, const node_dial& d) {
    const auto to = static_cast<std::uint32_t>(std::stoul(d.address));
    if (!nodes_[to]) return nodes_[from]->dial_failed(d.ticket, now_);
    nodes_[from]->connected(asked_link + to, connection::asked, now_, d.ticket);
    nodes_[to]->connected(asked_link + 1000 + from, connection::accepted, now_);
  }
  void pass(std::uint32_t from, const node_outgoing& m) {
    ++messages;
    if (m.link == client) {
      if (m.type == node_message_type::answer) answer_ = decode_answer(m.payload);
      return;
    }
    std::uint32_t to = m.link % 1000;
    link_id back = link(to, from);
    if (m.link >= asked_link) back = asked_link + from + (m.link < asked_link + 1000 ? 1000 : 0);
    if (!nodes_[to] || (m.link < asked_link && !links_[from].contains(to))) return;
    nodes_[to]->received(back, static_cast<std::uint8_t>(m.type), m.payload, now_);
  }

  graph links_;
  node_options options_;
  std::vector<std::unique_ptr<route_node>> nodes_;
  std::map<std::uint32_t, std::vector<std::uint64_t>> keys_;
  std::optional<node_answer> answer_;
  std::uint64_t now_ = 0;
};

node_options options_for(route_mode mode) {
  return {.name = {}, .mode = mode, .planned = summary_plan(400), .beat = 100};
}

// Everything is found from everywhere.
void expect_all_found(node_network& n, std::uint32_t count, const char* when) {
  for (std::uint32_t from = 0; from < count; ++from) {
    if (!n.lives(from)) continue;
    for (std::uint32_t to = 0; to < count; ++to) {
      if (!n.lives(to) || n.keys(to).empty()) continue;
      const std::uint64_t key = n.keys(to)[from % n.keys(to).size()];
      const node_answer all = n.ask(from, {key});
      EXPECT_TRUE(n.found(all, to)) << when << ": " << from << " to " << to;
      EXPECT_TRUE(all.complete) << when << ": " << from << " to " << to;
      EXPECT_TRUE(n.found(n.ask(from, {key}, true), to)) << when << ": " << from << " to " << to;
    }
    EXPECT_TRUE(n.ask(from, {splitmix64(from + 1'000'000)}).holders.empty());
  }
}

class node_modes : public testing::TestWithParam<route_mode> {};

TEST_P(node_modes, find_everything_while_nodes_die_links_break_and_keys_change) {
  constexpr std::uint32_t count = 15;
  node_network n(random_graph(count, 14, 4), options_for(GetParam()));
  for (std::uint32_t i = 0; i < count; ++i) {
    n.set_keys(i, {key_of(i, 0), key_of(i, 1), key_of(i, 2)});
  }
  n.run(1500);
  expect_all_found(n, count, "at first");
  n.set_keys(3, {key_of(3, 1), key_of(3, 9)});
  n.run(500);
  EXPECT_TRUE(n.ask(11, {key_of(3, 0)}).holders.empty());
  EXPECT_TRUE(n.found(n.ask(11, {key_of(3, 9)}), 3));
  // A node that others are connected through dies; while that is noticed, questions end all the
  // same; it comes back with other keys.
  n.stop(0);
  for (std::uint32_t i = 1; i < count; ++i) n.ask(i, {key_of(3, 9)});
  n.keys(0) = {key_of(0, 5)};
  n.start(0);
  n.run(3000);
  expect_all_found(n, count, "after a death");
  EXPECT_TRUE(n.ask(5, {key_of(0, 1)}).holders.empty());
}

// What stays is found at any moment, from anywhere, while the keys of all nodes come and go, and
// while one that others are connected through is away and comes back.
TEST_P(node_modes, never_miss_what_stays) {
  constexpr std::uint32_t count = 15;
  node_network n(random_graph(count, 14, 4), options_for(GetParam()));
  for (std::uint32_t i = 0; i < count; ++i) n.set_keys(i, {key_of(i, 0)});
  n.run(1500);
  for (std::uint32_t step = 0; step < 300; ++step) {
    if (step == 150) n.stop(0);
    if (step == 220) n.start(0);
    const std::uint32_t changing = 1 + step % (count - 1);
    n.set_keys(changing, {key_of(changing, 0), key_of(changing, 1 + step)});
    n.run(step % 5 * 10);
    const std::uint32_t from = 1 + step * 5 % (count - 1);
    const std::uint32_t to = 1 + (step * 11 + 3) % (count - 1);
    const node_answer a = n.ask(from, {key_of(to, 0)});
    EXPECT_TRUE(n.found(a, to) && a.complete) << step << ": " << from << " to " << to;
  }
}

// Where messages take no time, one beat is enough after a start, a change and a death.
TEST_P(node_modes, find_everything_a_beat_later) {
  constexpr std::uint32_t count = 15;
  const node_options o = options_for(GetParam());
  node_network n(random_graph(count, 14, 4), o);
  for (std::uint32_t i = 0; i < count; ++i) n.set_keys(i, {key_of(i, 0)});
  n.run(o.beat);
  expect_all_found(n, count, "after the start");
  n.set_keys(3, {key_of(3, 9)});
  n.run(o.beat);
  expect_all_found(n, count, "after a change");
  for (const std::uint32_t dies : {0U, 7U, 11U}) {
    n.stop(dies);
    n.run(o.beat);
    expect_all_found(n, count, "after a death");
    n.start(dies);
    n.run(o.beat);
    expect_all_found(n, count, "after a return");
  }
}

INSTANTIATE_TEST_SUITE_P(route, node_modes,
                         testing::Values(route_mode::tree, route_mode::attenuated,
                                         route_mode::gossip, route_mode::flood));

TEST(route_node, a_cut_network_mends_itself) {
  graph g(8);  // a ring
  for (std::uint32_t i = 0; i < 8; ++i) {
    g[i].insert((i + 1) % 8), g[(i + 1) % 8].insert(i);
  }
  node_network n(g, options_for(route_mode::tree));
  for (std::uint32_t i = 0; i < 8; ++i) n.set_keys(i, {key_of(i, 0)});
  n.run(1500);
  expect_all_found(n, 8, "in a ring");
  n.cut(2, 3);
  n.run(1500);
  expect_all_found(n, 8, "in a line");
  n.cut(6, 7);
  n.run(3000);
  EXPECT_TRUE(n.ask(0, {key_of(4, 0)}).holders.empty());
  EXPECT_TRUE(n.found(n.ask(0, {key_of(1, 0)}), 1));
  EXPECT_TRUE(n.found(n.ask(5, {key_of(3, 0)}), 3));
  n.heal(2, 3);
  n.run(1500);
  expect_all_found(n, 8, "healed");
}

TEST(route_node, the_nearest_is_found_by_promises_and_the_far_by_the_tree) {
  graph g(9);  // a line: 8 hops
  for (std::uint32_t i = 0; i + 1 < 9; ++i) g[i].insert(i + 1), g[i + 1].insert(i);
  node_network n(g, options_for(route_mode::attenuated));
  n.set_keys(3, {42});
  n.set_keys(8, {42, 43});
  n.run(2500);
  const node_answer near = n.ask(1, {42}, true);
  ASSERT_EQ(near.holders.size(), 1);
  EXPECT_EQ(near.holders[0].path, (std::vector<std::string>{"node1", "node2", "node3"}));
  EXPECT_FALSE(near.fallback);
  EXPECT_EQ(near.messages, 4);
  const node_answer far = n.ask(1, {43}, true);
  ASSERT_EQ(far.holders.size(), 1);
  EXPECT_EQ(far.holders[0].name, "node8");
  EXPECT_TRUE(far.fallback);
  EXPECT_EQ(n.ask(1, {42}).holders.size(), 2);
  EXPECT_EQ(n.ask(1, {42, 43}).holders.size(), 1);  // who has both
}

TEST(route_node, groups_keep_their_filters_and_show_one) {
  constexpr std::uint32_t count = 18;
  node_options o = options_for(route_mode::gossip);
  o.group = "set by start";
  graph g(count);  // members of a group are connected with each other; groups here and there
  const auto join = [&](std::uint32_t a, std::uint32_t b) { g[a].insert(b), g[b].insert(a); };
  for (std::uint32_t i = 3; i < count; ++i) join(i, i - 3);
  for (std::uint32_t i = 6; i < count; ++i) join(i, i - 6);
  join(0, 1), join(1, 2), join(9, 11), join(13, 15);
  node_network n(g, o);
  for (std::uint32_t i = 0; i < count; ++i) n.set_keys(i, {key_of(i, 0), key_of(i, 1)});
  n.run(6000);
  expect_all_found(n, count, "in groups");
  // Itself, the five other members of its group, and three groups.
  EXPECT_EQ(n.node(4).status().peers, 9);
  std::uint32_t leader = 1;
  for (std::uint32_t i = 1; i < count; i += 3) {
    const auto id = [](std::uint32_t k) {
      const std::string name = "node" + std::to_string(k);
      return XXH3_64bits(name.data(), name.size());
    };
    if (id(i) < id(leader)) leader = i;
  }
  n.stop(leader);
  n.run(12'000);
  expect_all_found(n, count, "without a leader");
}

// A neighbour whose forwarding is wrong sends a question back to where it came from.
TEST(route_node, a_question_that_comes_back_is_answered_at_once_and_counted) {
  for (const route_mode mode : {route_mode::tree, route_mode::flood}) {
    node_options o = options_for(mode);
    o.name = "one";
    route_node node(o);
    constexpr link_id asker = 1;
    constexpr link_id wrong = 2;
    const auto greet = [&](link_id link, node_hello hello) {
      node.connected(link, connection::accepted, 0);
      const node_hello theirs = decode_hello(node.take_outgoing().at(0).payload);
      hello.mode = theirs.mode;
      hello.bits = theirs.bits;
      hello.probes = theirs.probes;
      hello.hash_check = theirs.hash_check;
      node.received(link, 1, encode(hello), 0);
      return XXH3_64bits(theirs.name.data(), theirs.name.size());
    };
    greet(asker, {.role = link_role::client});
    const std::uint64_t self = greet(wrong, {.role = link_role::neighbour, .name = "two"});
    const tree_claim child{.root = self, .sequence = 1, .distance = 1, .parent = self};
    node.received(wrong, 3, encode(child), 0);
    static_cast<void>(node.take_outgoing());

    node.received(asker, 8, encode(node_question{.id = 7, .patience = 1000, .hashes = {42}}), 0);
    const auto asked = node.take_outgoing();
    ASSERT_EQ(asked.size(), 1);
    ASSERT_EQ(asked[0].link, wrong);
    for (std::uint64_t turn = 1; turn <= 2; ++turn) {
      node.received(wrong, 8, asked[0].payload, 1);
      const auto back = node.take_outgoing();
      ASSERT_EQ(back.size(), 1);  // and not passed on again
      EXPECT_EQ(back[0].link, wrong);
      ASSERT_EQ(back[0].type, node_message_type::answer);
      EXPECT_TRUE(decode_answer(back[0].payload).complete);
      EXPECT_EQ(node.status().loops, turn);
    }
    node_answer none;
    none.id = decode_question(asked[0].payload).id;
    node.received(wrong, 9, encode(none), 2);
    const auto last = node.take_outgoing();
    ASSERT_EQ(last.size(), 1);
    EXPECT_EQ(last[0].link, asker);
    EXPECT_EQ(decode_answer(last[0].payload).id, 7);
    // It is remembered for longer than it is under way.
    node.received(wrong, 8, asked[0].payload, 3);
    ASSERT_EQ(node.take_outgoing().size(), 1);
  }
}

TEST(route_node, refuses_nodes_that_do_not_fit_and_says_why) {
  node_options o = options_for(route_mode::tree);
  o.name = "one";
  route_node node(o);
  const auto refused = [&](const node_options& other) {
    route_node peer(other);
    peer.connected(1, connection::dialled, 0);
    node.connected(5, connection::accepted, 0);
    node.received(5, 1, peer.take_outgoing().at(0).payload, 0);
    std::string why;
    for (const node_closing& c : node.take_closing()) why = c.why;
    node.disconnected(5, 0);
    return why;
  };
  EXPECT_NE(refused(o).find("both nodes have the name"), std::string::npos);
  o.name = "two";
  EXPECT_EQ(refused(o), "");
  o.mode = route_mode::gossip;
  EXPECT_NE(refused(o).find("different modes"), std::string::npos);
  o.mode = route_mode::tree;
  o.hash.seed = 3;
  EXPECT_NE(refused(o).find("hash differently"), std::string::npos);
  o.hash.seed = 0;
  o.planned = summary_plan(500);
  EXPECT_NE(refused(o).find("cannot be united"), std::string::npos);
  o.name = "@two";
  EXPECT_TRUE(bloomery_test::throws(errc::bad_argument, "@", [&] { route_node{o}; }));
  // What is no node's to say.
  node.connected(9, connection::accepted, 0);
  EXPECT_TRUE(bloomery_test::throws(errc::corrupt, "before the greeting",
                                    [&] { node.received(9, 3, {}, 0); }));
  node.received(9, 1, encode(node_hello{.role = link_role::client}), 0);
  EXPECT_TRUE(bloomery_test::throws(errc::corrupt, "only neighbours",
                                    [&] { node.received(9, 3, encode(tree_claim{}), 0); }));
  node_question q{.id = 1, .kind = question_kind::tree_all, .hashes = {1}};
  EXPECT_TRUE(bloomery_test::throws(errc::corrupt, "not its to ask",
                                    [&] { node.received(9, 8, encode(q), 0); }));
}

TEST(route_node, of_two_nodes_with_one_name_the_first_stays) {
  node_options o = options_for(route_mode::tree);
  o.name = "one";
  route_node node(o);
  const auto join = [&](link_id link, std::uint64_t epoch, const std::string& address) {
    o.name = "two";
    o.address = address;
    o.epoch = epoch;
    route_node peer(o);
    peer.connected(1, connection::dialled, 0);
    node.connected(link, connection::accepted, 0);
    node.received(link, 1, peer.take_outgoing().at(0).payload, 0);
    return node.take_closing();
  };
  EXPECT_TRUE(join(5, 10, "here:1").empty());
  const auto second = join(6, 20, "there:1");
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].link, 6U);
  EXPECT_EQ(second[0].why, "another node, at here:1, has the name 'two'; give each its own");
  node.disconnected(6, 0);
  EXPECT_TRUE(node.has_neighbour("two"));
  // The same node again takes the place of its old connection.
  const auto again = join(7, 30, "here:1");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].link, 5U);
  // And who comes when the first has gone is welcome.
  node.disconnected(7, 0);
  EXPECT_TRUE(join(8, 20, "there:1").empty());
}

}  // namespace
}  // namespace bloomery
