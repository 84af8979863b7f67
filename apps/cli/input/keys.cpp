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
  hash_in_order(*f.hasher(), source, threads,
                [&](const chunk& c, auto hashes) { f->add_hashes(hashes, c.keys); });
}

std::uint64_t clock_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(since).count());
}

}  // namespace bloomery::cli
