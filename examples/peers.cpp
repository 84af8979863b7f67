// Who may have this object? Summaries of two hundred peers, asked at once; old ones are marked.
#include <bloomery/bloomery.hpp>
#include <bloomery/exchange/peers.hpp>
#include <cassert>
#include <cstdio>
#include <string>
#include <vector>

int main() {
  const bloomery::xxh3_hasher hasher;
  bloomery::peer_directory peers(hasher.spec(), {.longest_age = 3600, .keep_stale = true});
  for (std::uint64_t peer = 0; peer < 200; ++peer) {
    bloomery::filter summary({.keys = 100, .fpr = 0.001});  // comes from the peer, as a file
    for (int i = 0; i < 100; ++i) {
      summary.add("song " + std::to_string(peer) + "/" + std::to_string(i));
    }
    summary.add("everybody's song");
    peers.update(peer, summary.filter(), hasher.spec(), 10'000 + peer * 20);
  }

  const std::vector<std::uint64_t> asked = {hash_key(hasher, "song 42/7"),
                                            hash_key(hasher, "everybody's song")};
  std::size_t everybody = 0;
  std::size_t stale = 0;
  for (const bloomery::candidate& c : peers.ask(asked, 14'000)) {
    if (c.object == 0) std::printf("song 42/7: ask peer %d\n", static_cast<int>(c.peer));
    if (c.object == 1) ++everybody;
    if (c.object == 1 && c.stale) ++stale;
  }
  std::printf("everybody's song: %zu peers, %zu of them by an old summary\n", everybody, stale);
  assert(everybody == 200 && stale == 20);
}
