// The tables of docs/route.md: the routers of route/ in networks of 1,000 to 100,000 nodes, and one
// `bloomery node` with 200 neighbours.
//
//     bloomery_route_bench sim [FILE.svg]     success, stretch, messages, bytes of a change
//     bloomery_route_bench home               homes by consistent hashing, on the same graphs
//     bloomery_route_bench scale N [R]        one network of N nodes with R resources each
//     bloomery_route_bench node TOOL          questions a second of processor time, and memory
//
// Nodes are in one process and in rounds: everybody sends what has changed, until nobody has
// anything to send. A node has 1,000 resources at 1,000 nodes, and fewer in larger networks, so
// that all of them fit into memory: 100 at 100,000 nodes take 2.3 GB.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "bloomery/bloomery.hpp"
#include "bloomery/exchange/hub.hpp"
#include "bloomery/route/attenuated.hpp"
#include "bloomery/route/home.hpp"
#include "bloomery/route/node.hpp"
#include "bloomery/route/tree.hpp"
#include "cli/output/drawing.hpp"

namespace {

using namespace bloomery;

using node_number = std::uint32_t;
using graph = std::vector<std::vector<node_number>>;

// ---- graphs -----------------------------------------------------------------------------------

void join(graph& g, node_number a, node_number b) {
  if (a == b || std::ranges::find(g[a], b) != g[a].end()) return;
  g[a].push_back(b);
  g[b].push_back(a);
}

graph tree_graph(node_number n) {  // three children each
  graph g(n);
  for (node_number i = 1; i < n; ++i) join(g, i, (i - 1) / 3);
  return g;
}

graph grid_graph(node_number n) {
  const auto side = static_cast<node_number>(std::sqrt(n));
  graph g(side * side);
  for (node_number i = 0; i < side * side; ++i) {
    if (i % side + 1 < side) join(g, i, i + 1);
    if (i + side < side * side) join(g, i, i + side);
  }
  return g;
}

graph small_world_graph(node_number n) {  // Watts and Strogatz 1998: a ring, one edge in ten moved
  graph g(n);
  std::mt19937_64 random(n);
  for (node_number i = 0; i < n; ++i) {
    for (node_number step = 1; step <= 2; ++step) {
      const bool moved = random() % 10 == 0;
      join(g, i, moved ? static_cast<node_number>(random() % n) : (i + step) % n);
    }
  }
  return g;
}

// Zegura and others 1996: a core of domains, to each of whose nodes stubs are attached.
graph transit_stub_graph(node_number n) {
  graph g(n);
  std::mt19937_64 random(n + 1);
  const node_number core = std::max<node_number>(8, n / 50);
  for (node_number i = 0; i < core; ++i) {
    join(g, i, (i + 1) % core);
    join(g, i, static_cast<node_number>(random() % core));
  }
  for (node_number first = core; first < n;) {  // stubs of 8: a ring with a chord and one way out
    const node_number size = std::min<node_number>(8, n - first);
    for (node_number i = 0; i + 1 < size; ++i) join(g, first + i, first + i + 1);
    join(g, first, first + size - 1);
    join(g, first, first + size / 2);
    join(g, first, static_cast<node_number>(random() % core));
    first += size;
  }
  return g;
}

std::vector<std::uint32_t> distances(const graph& g, node_number from, std::uint32_t most) {
  std::vector<std::uint32_t> all(g.size(), UINT32_MAX);
  std::deque<node_number> open{from};
  all[from] = 0;
  for (; !open.empty(); open.pop_front()) {
    const node_number at = open.front();
    if (all[at] == most) continue;
    for (const node_number next : g[at]) {
      if (all[next] != UINT32_MAX) continue;
      all[next] = all[at] + 1;
      open.push_back(next);
    }
  }
  return all;
}

std::uint64_t edges(const graph& g) {
  std::uint64_t sum = 0;
  for (const auto& links : g) sum += links.size();
  return sum / 2;
}

// ---- a network of attenuated routers ----------------------------------------------------------

constexpr std::uint32_t sim_depth = 3;
constexpr double frame_bytes = 9;  // of a message in exchange/transport.hpp

std::uint64_t key_of(node_number node, std::uint64_t i) {
  return splitmix64((std::uint64_t{node} << 32U) + i);
}

double entropy_bits(double m, double d) {
  return (std::lgamma(m + 1) - std::lgamma(d + 1) - std::lgamma(m - d + 1)) / std::log(2.0);
}

struct change_cost {
  double bits = 0;     // of all messages, without their frames
  double entropy = 0;  // of the bits that they changed
  std::uint64_t messages = 0;
};

class network {
 public:
  network(graph g, std::uint64_t resources, double bits_a_key)
      : links_(std::move(g)), resources_(resources) {
    // As many keys as the last level has, in the mean over some links.
    double keys = 0;
    constexpr std::uint64_t samples = 200;
    for (std::uint64_t i = 0; i < samples; ++i) {
      keys += last_level(static_cast<node_number>(splitmix64(i) % links_.size()));
    }
    const auto most = static_cast<std::uint64_t>(keys / samples) * resources;
    plan_ =
        sizing::make_plan({.kind = filter_kind::classic, .keys = most, .bits_per_key = bits_a_key});
    for (std::size_t i = 0; i < links_.size(); ++i) {
      nodes_.emplace_back(attenuated_options{.planned = plan_, .depth = sim_depth});
    }
    for (node_number i = 0; i < links_.size(); ++i) {
      for (const node_number to : links_[i]) {
        nodes_[i].add_link(to);
        for (const announcement& a : nodes_[to].whole()) nodes_[i].take(to, a);
      }
      for (std::uint64_t k = 0; k < resources; ++k) nodes_[i].local().add(key_of(i, k));
    }
    static_cast<void>(settle());
  }

  change_cost settle() {
    change_cost cost;
    for (bool news = true; news;) {
      news = false;
      std::vector<std::vector<announcement>> sent;
      for (attenuated_router& n : nodes_) sent.push_back(n.changes(true));
      for (node_number i = 0; i < nodes_.size(); ++i) {
        for (const announcement& a : sent[i]) {
          news = true;
          for (const node_number to : links_[i]) nodes_[to].take(i, a);
          if (!measured_) continue;
          const double flips = static_cast<double>(decode_change(a.bytes, plan_.shape.bits).size());
          const double links = static_cast<double>(links_[i].size());
          cost.bits += links * 8 * static_cast<double>(encode(a).size());
          cost.entropy += links * entropy_bits(static_cast<double>(plan_.shape.bits), flips);
          cost.messages += links_[i].size();
        }
      }
    }
    return cost;
  }
  // Of one resource that a node gets.
  change_cost change(node_number at, std::uint64_t number) {
    measured_ = true;
    nodes_[at].local().add(key_of(at, resources_ + number));
    const change_cost cost = settle();
    measured_ = false;
    return cost;
  }

  // The hops of the way that was found; nothing when promises end. Messages count both directions.
  std::optional<std::uint32_t> walk(node_number at, std::optional<link_id> from, std::uint32_t hops,
                                    std::uint64_t key, node_number holder,
                                    std::uint64_t& messages) const {
    if (at == holder) return 0;
    attenuated_walk w(nodes_[at].promises({.hashes = {key}, .covered = {}}, hops), from);
    while (const auto next = w.next()) {
      messages += 2;
      if (const auto rest = walk(next->link, at, hops - 1, key, holder, messages)) return 1 + *rest;
    }
    return std::nullopt;
  }

  [[nodiscard]] const graph& links() const { return links_; }
  [[nodiscard]] std::uint64_t bits() const { return plan_.shape.bits; }
  [[nodiscard]] std::uint64_t resources() const { return resources_; }
  [[nodiscard]] double fill() const {
    double sum = 0;
    for (std::size_t i = 0; i < nodes_.size(); i += 7) {
      sum += nodes_[i].level(sim_depth).filter_of(links_[i][0])->fill();
    }
    return sum / static_cast<double>((nodes_.size() + 6) / 7);
  }

 private:
  double last_level(node_number i) const {
    const node_number through = links_[i][0];
    const auto hops = distances(links_, through, sim_depth - 1);
    // What level 3 through it has: nodes at an even number of hops, up to two, of it.
    return static_cast<double>(
        std::ranges::count_if(hops, [](std::uint32_t h) { return h == 0 || h == sim_depth - 1; }));
  }

  graph links_;
  std::uint64_t resources_;
  plan plan_;
  std::vector<attenuated_router> nodes_;
  bool measured_ = false;
};

struct outcome {
  double shortest = 0;  // share of the questions answered on a shortest path
  double found = 0;
  double stretch = 0;
  double messages = 0;
  double flood = 0;
  double bits_a_change = 0;    // times the entropy
  double framed_a_change = 0;  // the same with frames
  double bytes_a_link = 0;
};

outcome measure(network& n, std::uint64_t questions) {
  outcome o;
  const graph& g = n.links();
  std::mt19937_64 random(17);
  double stretches = 0;
  std::uint64_t messages = 0;
  std::uint64_t found = 0;
  std::uint64_t shortest = 0;
  for (std::uint64_t i = 0; i < questions; ++i) {
    const auto from = static_cast<node_number>(random() % g.size());
    const auto hops = distances(g, from, sim_depth);
    node_number holder = from;
    while (hops[holder] == UINT32_MAX || holder == from) {
      holder = static_cast<node_number>(random() % g.size());
    }
    const std::uint64_t key = key_of(holder, random() % n.resources());
    const auto way = n.walk(from, std::nullopt, sim_depth, key, holder, messages);
    if (!way) continue;
    ++found;
    shortest += std::uint64_t{*way == hops[holder]};
    stretches += static_cast<double>(*way) / hops[holder];
  }
  const auto count = static_cast<double>(questions);
  o.found = static_cast<double>(found) / count;
  o.shortest = static_cast<double>(shortest) / count;
  o.stretch = stretches / static_cast<double>(std::max<std::uint64_t>(found, 1));
  o.messages = static_cast<double>(messages) / count;
  // Each node sends it on to all but the one it came from, and everybody answers.
  o.flood = 2 * static_cast<double>(2 * edges(g) - g.size() + 1);
  change_cost cost;
  for (std::uint64_t i = 0; i < 5; ++i) {
    const change_cost one = n.change(static_cast<node_number>(random() % g.size()), i);
    cost.bits += one.bits;
    cost.entropy += one.entropy;
    cost.messages += one.messages;
  }
  o.bits_a_change = cost.bits / cost.entropy;
  o.framed_a_change =
      o.bits_a_change + 8 * frame_bytes * static_cast<double>(cost.messages) / cost.entropy;
  o.bytes_a_link = cost.bits / 8 / static_cast<double>(cost.messages);
  return o;
}

void print_head() {
  std::printf(
      "| graph | nodes | resources a node | bits a key | shortest path | found | stretch | "
      "messages "
      "| flooding's | 2 log2 n | a change, bytes a link | times its entropy | with frames "
      "|\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

outcome print_row(const char* name, graph g, std::uint64_t resources, double bits) {
  const std::size_t nodes = g.size();
  network n(std::move(g), resources, bits);
  const outcome o = measure(n, 2000);
  std::printf(
      "| %s | %zu | %llu | %g | %.2f %% | %.2f %% | %.3f | %.2f | %.0f | %.1f | %.1f | %.2f | %.2f "
      "|\n",
      name, nodes, static_cast<unsigned long long>(resources), bits, 100 * o.shortest,
      100 * o.found, o.stretch, o.messages, o.flood, 2 * std::log2(static_cast<double>(nodes)),
      o.bytes_a_link, o.bits_a_change, o.framed_a_change);
  std::fflush(stdout);
  return o;
}

// ---- the tree ---------------------------------------------------------------------------------

// A question from anywhere for what is anywhere, through a tree with three children a node.
double tree_messages(node_number nodes, std::uint64_t resources, double bits) {
  const plan p = sizing::make_plan(
      {.kind = filter_kind::classic, .keys = nodes * resources, .bits_per_key = bits});
  std::vector<tree_router> all;
  for (node_number i = 0; i < nodes; ++i) {
    all.emplace_back(p);
    if (i != 0) all[(i - 1) / 3].children().add_link(i);
    for (std::uint64_t k = 0; k < resources; ++k) all[i].local().add(key_of(i, k));
  }
  for (node_number i = nodes - 1; i > 0; --i) {
    static_cast<void>(all[i].change());
    all[(i - 1) / 3].children().take(i, all[i].whole());
  }
  std::mt19937_64 random(3);
  constexpr std::uint64_t questions = 1000;
  std::uint64_t messages = 0;
  for (std::uint64_t i = 0; i < questions; ++i) {
    const auto from = static_cast<node_number>(random() % nodes);
    const auto holder = static_cast<node_number>(random() % nodes);
    const route_query q{.hashes = {key_of(holder, random() % resources)}, .covered = {}};
    std::vector<std::pair<node_number, node_number>> open{{from, nodes}};
    bool found = false;
    for (node_number up = from; up != 0; up = (up - 1) / 3, messages += 2) {
      open.emplace_back((up - 1) / 3, up);
    }
    while (!open.empty()) {
      const auto [at, came] = open.back();
      open.pop_back();
      found = found || at == holder;
      for (const link_id child : all[at].branches(q)) {
        if (child == came) continue;
        messages += 2;
        open.emplace_back(child, nodes);
      }
    }
    if (!found) std::abort();  // a tree never misses
  }
  return static_cast<double>(messages) / questions;
}

// ---- homes by consistent hashing --------------------------------------------------------------

// A question from anywhere for what a node within three hops has, as above. Its home is asked, and
// tells the holder: by fingers, each hop of which is a shortest path of the graph where nodes have
// no other connections; or at once, by who knows all nodes.
void home_row(const char* name, const graph& g) {
  std::vector<std::uint64_t> names(g.size());
  std::map<std::uint64_t, node_number> numbers;
  for (node_number i = 0; i < g.size(); ++i) {
    names[i] = splitmix64(~std::uint64_t{i});
    numbers[names[i]] = i;
  }
  const home_ring ring(names);
  std::mt19937_64 random(17);
  constexpr std::uint64_t questions = 1000;
  std::uint64_t overlay = 0;   // hops by fingers
  std::uint64_t underlay = 0;  // links that these cross
  std::uint64_t direct = 0;    // links to the home at once
  std::uint64_t told = 0;      // links that news of a change crosses, from the holder to the home
  double stretches = 0;        // to the home at once and on to the holder
  std::uint64_t fingers = 0;
  for (std::uint64_t i = 0; i < questions; ++i) {
    const auto from = static_cast<node_number>(random() % g.size());
    const auto near = distances(g, from, sim_depth);
    node_number holder = from;
    while (near[holder] == UINT32_MAX || holder == from) {
      holder = static_cast<node_number>(random() % g.size());
    }
    const std::uint64_t key = key_of(holder, random() % 1000);
    const node_number home = numbers.at(ring.home_of(key));
    for (node_number at = from; at != home; ++overlay) {
      const node_number next = numbers.at(ring.next_hop(names[at], key));
      underlay += distances(g, at, UINT32_MAX)[next];
      at = next;
    }
    const auto around = distances(g, home, UINT32_MAX);
    direct += around[from];
    told += around[holder];
    stretches += static_cast<double>(around[from] + around[holder]) / near[holder];
    fingers += ring.fingers(names[from]).size();
  }
  const auto mean = [](std::uint64_t sum) { return static_cast<double>(sum) / questions; };
  std::printf("| %s | %zu | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", name, g.size(),
              2 * mean(overlay), std::log2(static_cast<double>(g.size())), mean(fingers),
              2 * mean(underlay), 2 * mean(direct), stretches / questions, mean(told));
  std::fflush(stdout);
}

void simulate_homes() {
  std::printf(
      "| graph | nodes | messages by fingers | log2 n | fingers a node | the same over the links | "
      "messages to the home at once, over the links | stretch | links that a change crosses |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  home_row("small world", small_world_graph(1000));
  home_row("tree", tree_graph(1000));
  home_row("grid", grid_graph(1024));
  home_row("transit-stub", transit_stub_graph(1000));
  home_row("small world", small_world_graph(10'000));
}

void simulate(const char* picture) {
  print_head();
  cli::series shortest{
      .name = "on a shortest path", .colour = cli::hue::blue, .points = {}, .dots = {}};
  for (const double bits : {2.0, 4.0, 6.0, 8.0, 12.0}) {
    const outcome o = print_row("small world", small_world_graph(1000), 1000, bits);
    shortest.points.push_back({bits, 100 * o.shortest});
    shortest.dots.push_back({bits, 100 * o.shortest});
  }
  print_row("tree", tree_graph(1000), 1000, 8);
  print_row("grid", grid_graph(1024), 1000, 8);
  print_row("transit-stub", transit_stub_graph(1000), 1000, 8);
  cli::series walk{.name = "attenuated", .colour = cli::hue::blue, .points = {}, .dots = {}};
  cli::series flood{.name = "flooding", .colour = cli::hue::orange, .points = {}, .dots = {}};
  cli::series dht{.name = "2 log2 n", .colour = cli::hue::green, .points = {}, .dots = {}};
  for (const node_number nodes : {1000U, 10'000U, 100'000U}) {
    const std::uint64_t resources = nodes == 100'000 ? 100 : 1'000'000 / nodes / 4;
    const outcome o = print_row("small world", small_world_graph(nodes), resources, 8);
    walk.points.push_back({static_cast<double>(nodes), o.messages});
    flood.points.push_back({static_cast<double>(nodes), o.flood});
    dht.points.push_back({static_cast<double>(nodes), 2 * std::log2(nodes)});
  }
  std::printf("\n| tree of | bits a key | messages a question, all holders |\n|---|---|---|\n");
  for (const double bits : {4.0, 8.0, 12.0}) {
    std::printf("| 1000 nodes | %g | %.1f |\n", bits, tree_messages(1000, 20, bits));
  }
  if (picture == nullptr) return;
  cli::axis messages{
      .label = "messages a question", .first = 1, .last = 1e6, .log = true, .ticks = {}};
  for (const char* text : {"1", "10", "100", "1000", "10000", "100000", "1000000"}) {
    messages.ticks.push_back({std::strtod(text, nullptr), text});
  }
  cli::axis sizes{.label = "nodes", .first = 1000, .last = 1e5, .log = true, .ticks = {}};
  for (const char* text : {"1000", "10000", "100000"}) {
    sizes.ticks.push_back({std::strtod(text, nullptr), text});
  }
  const cli::figure drawn{.title = "Finding what is within three hops",
                          .panels = {{.title = "Attenuated filters, 1,000 nodes",
                                      .x = cli::linear_axis("bits a key", 2, 12, 2),
                                      .y = cli::linear_axis("questions, %", 90, 100, 2),
                                      .all = {shortest}},
                                     {.title = "Messages in a small world",
                                      .x = sizes,
                                      .y = messages,
                                      .all = {walk, flood, dht}}}};
  std::ofstream(picture) << cli::svg_of(cli::laid_out(drawn));
}

// ---- one node ---------------------------------------------------------------------------------

struct process_cost {
  double seconds = 0;  // of the processor
  double memory = 0;   // the most that it held, in bytes
};

process_cost cost_of(pid_t pid) {
  process_cost c;
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string field;
  for (int i = 3; i <= 15 && fields >> field; ++i) {
    if (i >= 14) c.seconds += std::strtod(field.c_str(), nullptr);
  }
  c.seconds /= static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  while (std::getline(status, text)) {
    if (text.starts_with("VmRSS:")) c.memory = 1024 * std::strtod(text.c_str() + 6, nullptr);
  }
  return c;
}

double most_memory() {  // of this process, in bytes
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return 1024 * static_cast<double>(used.ru_maxrss);
}

constexpr std::uint32_t bench_neighbours = 200;
constexpr std::uint64_t bench_keys = 1'000'000;

// Talks to the node as 200 neighbours and a client.
class node_bench {
 public:
  explicit node_bench(const std::string& address)
      : hub_({.most_connections = 1000, .most_message_bytes = std::size_t{1} << 24U}),
        plan_(sizing::make_plan({.kind = filter_kind::classic, .keys = bench_keys, .fpr = 0.01})),
        keys_(plan_) {
    for (std::uint32_t i = 0; i <= bench_neighbours; ++i) hub_.dial(address);
  }

  [[nodiscard]] double filter_bytes() const {
    return bench_neighbours * static_cast<double>(plan_.shape.bits) / 8;
  }

  void announce_all() {
    while (announced_ < bench_neighbours) {
      for (const hub_event& e : hub_.wait(std::chrono::milliseconds(100))) handle(e);
    }
    for (int i = 0; i < 20; ++i) {
      for (const hub_event& e : hub_.wait(std::chrono::milliseconds(50))) handle(e);
    }
  }

  void ask(std::uint64_t questions) {
    const std::uint64_t end = answered_ + questions;
    while (answered_ < end) {
      for (; asked_ < end && asked_ - answered_ < 200; ++asked_) {
        const node_question q{.id = asked_,
                              .kind = question_kind::start,
                              .nearest = false,
                              .hops = 0,
                              .patience = 20'000,
                              .hashes = {splitmix64(1'000'000'000'000 + asked_)}};
        hub_.send(client_, static_cast<std::uint8_t>(node_message_type::question), encode(q));
      }
      for (const hub_event& e : hub_.wait(std::chrono::milliseconds(100))) handle(e);
    }
  }
  std::uint64_t passed_on = 0;

 private:
  void greet(hub_id id) {
    const bool first = client_ == 0;
    if (first) client_ = id;
    node_hello hello{.role = first ? link_role::client : link_role::neighbour};
    if (!first) {
      hello.name = "neighbour" + std::to_string(id);
      hello.bits = plan_.shape.bits;
      hello.probes = plan_.shape.probes;
    }
    hellos_[id] = hello;
    hub_.trust(id);
  }

  void handle(const hub_event& e) {
    const auto type = static_cast<node_message_type>(e.what.type);
    if (e.kind == hub_event_kind::connected) return greet(e.id);
    if (e.kind == hub_event_kind::failed || e.kind == hub_event_kind::closed) {
      std::fprintf(stderr, "a connection ended: %s\n", e.why.c_str());
      std::exit(1);
    }
    if (type == node_message_type::hello) return introduce(e);
    if (type == node_message_type::answer) ++answered_;
    if (type != node_message_type::question) return;
    ++passed_on;
    node_answer a;
    a.id = decode_question(e.what.payload).id;
    hub_.send(e.id, static_cast<std::uint8_t>(node_message_type::answer), encode(a));
  }

  void introduce(const hub_event& e) {
    node_hello own = hellos_[e.id];
    const node_hello theirs = decode_hello(e.what.payload);
    own.hash_check = theirs.hash_check;
    hub_.send(e.id, static_cast<std::uint8_t>(node_message_type::hello), encode(own));
    if (e.id == client_) return;
    const std::uint64_t id = XXH3_64bits(theirs.name.data(), theirs.name.size());
    hub_.send(e.id, static_cast<std::uint8_t>(node_message_type::claim),
              encode(tree_claim{.root = id, .sequence = 1, .distance = 1, .parent = id}));
    // The words of one filter, turned: filled alike, and as good as independent.
    if (keys_.keys() == 0) {
      for (std::uint64_t k = 0; k < bench_keys; ++k) keys_.add(key_of(1, k));
    }
    std::ranges::rotate(keys_.mutable_words(), keys_.mutable_words().begin() + 1009);
    announced_summary sent(plan_, 0);
    static_cast<void>(sent.next(keys_.words()));
    hub_.send(e.id, static_cast<std::uint8_t>(node_message_type::announce), encode(sent.whole()));
    ++announced_;
  }

  hub hub_;
  plan plan_;
  classic_filter keys_;
  hub_id client_ = 0;
  std::map<hub_id, node_hello> hellos_;
  std::uint32_t announced_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
};

int bench_node(const char* tool) {
  const std::string address = "127.0.0.1:4755";
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execl(tool, tool, "node", "--quiet", "--listen", address.c_str(), "--keys", "1M", "--beat",
            "100000", nullptr);
    ::_exit(127);
  }
  ::sleep(1);
  node_bench bench(address);
  bench.announce_all();
  bench.ask(20'000);
  std::vector<double> rates;
  for (int run = 0; run < 7; ++run) {
    const process_cost before = cost_of(pid);
    bench.ask(20'000);
    rates.push_back(20'000 / (cost_of(pid).seconds - before.seconds));
  }
  std::ranges::sort(rates);
  const process_cost now = cost_of(pid);
  std::printf(
      "%u neighbours with %llu keys each: %.0f questions a second of processor time "
      "(%.0f to %.0f), %.2f neighbours asked a question; %.1f MB held, %.3f of the filters\n",
      bench_neighbours, static_cast<unsigned long long>(bench_keys), rates[3], rates[0], rates[6],
      static_cast<double>(bench.passed_on) / 160'000, now.memory / 1e6,
      now.memory / bench.filter_bytes());
  ::kill(pid, SIGTERM);
  ::waitpid(pid, nullptr, 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "sim";
  if (what == "node" && argc > 2) return bench_node(argv[2]);
  if (what == "home") {
    simulate_homes();
    return 0;
  }
  if (what == "scale" && argc > 2) {
    const auto nodes = static_cast<node_number>(std::strtoul(argv[2], nullptr, 10));
    const std::uint64_t resources =
        argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1'000'000 / nodes / 4;
    print_head();
    print_row("small world", small_world_graph(nodes), resources, 8);
    std::printf("%.1f GB of memory at most\n", most_memory() / 1e9);
    return 0;
  }
  simulate(argc > 2 ? argv[2] : nullptr);
}
