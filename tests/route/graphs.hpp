// What the tests of routers share: a plan, keys, and networks in memory.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "bloomery/core/sizing.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/route/summary.hpp"

namespace bloomery_test {

inline bloomery::plan summary_plan(std::uint64_t keys, double fpr = 0.01) {
  return bloomery::sizing::make_plan(
      {.kind = bloomery::filter_kind::classic, .keys = keys, .fpr = fpr});
}

// Key number i of a node.
inline std::uint64_t key_of(std::uint64_t node, std::uint64_t i) {
  return bloomery::splitmix64((node << 32U) + i + 1);
}
inline bloomery::route_query asking(std::uint64_t hash) {
  return {.hashes = {hash}, .covered = {}};
}

using graph = std::vector<std::set<std::uint32_t>>;

inline graph random_graph(std::uint32_t nodes, std::uint32_t extra, std::uint64_t seed) {
  graph g(nodes);
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    if (a != b) g[a].insert(b), g[b].insert(a);
  };
  for (std::uint32_t i = 1; i < nodes; ++i) {
    join(i, static_cast<std::uint32_t>(bloomery::splitmix64(seed + i) % i));
  }
  for (std::uint32_t i = 0; i < extra; ++i) {
    const std::uint64_t random = bloomery::splitmix64(seed + nodes + i);
    join(static_cast<std::uint32_t>(random % nodes),
         static_cast<std::uint32_t>((random >> 32U) % nodes));
  }
  return g;
}

inline std::vector<std::uint32_t> distances(const graph& g, std::uint32_t from) {
  std::vector<std::uint32_t> all(g.size(), UINT32_MAX);
  std::deque<std::uint32_t> open{from};
  all[from] = 0;
  for (; !open.empty(); open.pop_front()) {
    for (const std::uint32_t next : g[open.front()]) {
      if (all[next] != UINT32_MAX) continue;
      all[next] = all[open.front()] + 1;
      open.push_back(next);
    }
  }
  return all;
}

}  // namespace bloomery_test
