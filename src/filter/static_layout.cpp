#include "bloomery/detail/filter/static_layout.hpp"

#include <algorithm>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/filter/owned.hpp"

namespace bloomery::detail {

namespace {

[[noreturn]] void throw_corrupt(filter_kind kind, const std::string& what) {
  detail::fail(errc::corrupt,
               "the " + std::string(kind_name(kind)) + " filter is corrupt: " + what);
}

}  // namespace

void throw_bad_shard(filter_kind kind, std::uint64_t shard, const char* what) {
  throw_corrupt(kind, "shard " + to_text(shard) + " " + what);
}

static_directory open_static(const plan& p, filter_kind kind, std::span<const std::uint64_t> words,
                             std::uint64_t keys, std::uint64_t entry_words) {
  checked_plan(p, words, kind);
  if (words.size() < sizing::footer_words + entry_words) {
    throw_corrupt(kind, "it has no room for a directory");
  }
  const std::span footer = words.last(static_cast<std::size_t>(sizing::footer_words));
  static_directory d;
  d.words = words.data();
  d.shards = little_endian(footer[0]);
  d.keys = little_endian(footer[1]);
  if (d.shards == 0 || d.shards > sizing::max_static_shards ||
      d.shards > (words.size() - sizing::footer_words) / entry_words) {
    throw_corrupt(kind, "it says that it has " + to_text(d.shards) + " shards");
  }
  if (std::any_of(footer.begin() + 2, footer.end(), [](std::uint64_t w) { return w != 0; })) {
    throw_corrupt(kind, "a reserved word is not 0");
  }
  // A header counts the keys that were given; some of them may have been the same.
  if (d.keys > keys) {
    throw_corrupt(
        kind, "it holds " + to_text(d.keys) + " keys, but only " + to_text(keys) + " were given");
  }
  d.entries = footer.data() - d.shards * entry_words;
  d.array_words = static_cast<std::uint64_t>(d.entries - d.words);
  return d;
}

}  // namespace bloomery::detail
