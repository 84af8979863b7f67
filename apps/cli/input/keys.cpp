#include "cli/input/keys.hpp"

#include <fmt/format.h>

#include <chrono>

#include "bloomery/core/error.hpp"
#include "bloomery/format/file.hpp"
#include "cli/args/common.hpp"

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

any_filter change_file(const std::string& path, const std::string& key_file, key_form form,
                       const std::function<bool(any_filter&)>& change) {
  // Without a lock, of two programs that change the file at once the later one would undo the
  // changes of the other.
  const file_lock lock(path);
  if (is_packed(mapped_file(path).bytes())) {
    throw error(errc::unsupported, fmt::format("{}: it is packed; unpack it first", path));
  }
  any_filter f = load_filter(path, key_file, form);
  f.advance(clock_now());
  bool changed = false;
  try {
    changed = change(f);
  } catch (const error& e) {
    if (e.code() != errc::unsupported) throw;
    throw error(e.code(), fmt::format("{}: {}", path, e.what()));
  }
  if (changed) f.save(path);
  return f;
}

std::uint64_t clock_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(since).count());
}

}  // namespace bloomery::cli
