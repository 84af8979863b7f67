#include "cli/input/keys.hpp"

#include <chrono>

namespace bloomery::cli {

void add_keys(any_filter& f, key_source& source, unsigned threads) {
  if (f.can().add_concurrently) {
    const bool alone = threads == 1;
    for_each_chunk(source, threads,
                   [&](const chunk& c) { alone ? f.add(c.keys) : f.add_concurrent(c.keys); });
    return;
  }
  turnstile turns;
  for_each_chunk(
      source, threads,
      [&](const chunk& c) {
        std::vector<std::uint64_t> hashes(c.keys.size());
        f.hasher()->hash(c.keys, hashes);
        turns.in_turn(c.sequence, [&] { f.add_hashes(hashes, c.keys); });
      },
      [&] { turns.cancel(); });
}

void hash_in_order(const any_hasher& hash, key_source& source, unsigned threads,
                   const std::function<void(std::span<const std::uint64_t>)>& take) {
  turnstile turns;
  for_each_chunk(
      source, threads,
      [&](const chunk& c) {
        std::vector<std::uint64_t> hashes(c.keys.size());
        hash.hash(c.keys, hashes);
        turns.in_turn(c.sequence, [&] { take(hashes); });
      },
      [&] { turns.cancel(); });
}

std::uint64_t clock_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(since).count());
}

}  // namespace bloomery::cli
