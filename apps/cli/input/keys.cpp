#include "cli/input/keys.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "bloomery/core/parallel.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

std::string key_census::text() const {
  if (!repeated()) return "";
  const auto keys = static_cast<std::uint64_t>(std::llround(different_.keys()));
  return fmt::format("{}{} different", different_.exact() ? "" : "about ", with_commas(keys));
}

void add_hashes(any_filter& f, std::span<const std::uint64_t> hashes, unsigned threads) {
  if (threads == 1 || !f.can().add_concurrently) return f->add_hashes(hashes);
  constexpr std::size_t piece = std::size_t{1} << 16U;
  detail::in_parallel({threads}, (hashes.size() + piece - 1) / piece, [&](std::uint64_t i) {
    const std::size_t from = static_cast<std::size_t>(i) * piece;
    f->add_hashes_concurrent(hashes.subspan(from, std::min(piece, hashes.size() - from)));
  });
}

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
