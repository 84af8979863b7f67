// Who has this file, and who of them is nearest? Forty nodes in a ring with some shortcuts announce
// what they have by attenuated filters; a question walks to the nearest copy. The messages go
// through function calls here; `bloomery node` sends the same ones over TCP.
#include <algorithm>
#include <bloomery/bloomery.hpp>
#include <bloomery/route/attenuated.hpp>
#include <cassert>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace {

struct host {
  bloomery::attenuated_router router;
  std::vector<std::uint32_t> neighbours;
};

// The way from a host to one that has the file, over promises that are true.
std::optional<std::string> walk(const std::vector<host>& hosts, std::uint32_t at,
                                std::uint32_t hops, std::optional<bloomery::link_id> from,
                                std::uint64_t file, std::uint32_t holder) {
  if (at == holder) return std::to_string(at);
  bloomery::attenuated_walk next(hosts[at].router.promises({.hashes = {file}, .covered = {}}, hops),
                                 from);
  while (const auto promise = next.next()) {
    if (auto rest = walk(hosts, promise->link, hops - 1, at, file, holder)) {
      return std::to_string(at) + " > " + *rest;
    }
  }
  return std::nullopt;
}

}  // namespace

int main() {
  const bloomery::plan plan = bloomery::sizing::make_plan(
      {.kind = bloomery::filter_kind::classic, .keys = 1000, .fpr = 0.01});
  std::vector<host> hosts;
  for (std::uint32_t i = 0; i < 40; ++i) {
    hosts.push_back({bloomery::attenuated_router({.planned = plan, .depth = 3}),
                     {(i + 1) % 40, (i + 39) % 40, (i + 20) % 40}});
  }
  const bloomery::xxh3_hasher hasher;
  for (std::uint32_t i = 0; i < 40; ++i) {
    for (const std::uint32_t to : hosts[i].neighbours) {
      hosts[i].router.add_link(to);
      for (const auto& a : hosts[to].router.whole()) hosts[i].router.take(to, a);
    }
    for (int f = 0; f < 20; ++f) {
      hosts[i].router.local().add(
          hash_key(hasher, "file " + std::to_string(i) + "/" + std::to_string(f)));
    }
  }
  std::size_t bytes = 0;
  for (bool news = true; news;) {  // everybody tells its neighbours what is new
    news = false;
    for (std::uint32_t i = 0; i < 40; ++i) {
      for (const auto& a : hosts[i].router.changes(true)) {
        news = true;
        for (const std::uint32_t to : hosts[i].neighbours) {
          hosts[to].router.take(i, a);
          bytes += a.bytes.size();
        }
      }
    }
  }
  const auto way = walk(hosts, 3, 3, std::nullopt, hash_key(hasher, "file 24/7"), 24);
  std::printf("file 24/7 from host 3: %s; %zu bytes of announcements a link\n",
              way ? way->c_str() : "not within three hops", bytes / 120);
  assert(way && std::ranges::count(*way, '>') == 2);
}
