#include "key_table.hpp"

#include <algorithm>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/reconcile.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/secret_hasher.hpp"

namespace bloomery {

namespace {

constexpr std::uint64_t most_own_keys = std::uint64_t{1} << 31U;

struct hashed_key {
  std::uint64_t hash;
  std::uint32_t index;
};

// The first of equal keys, in the keys' order. Keys with equal hashes are compared.
std::vector<hashed_key> distinct(std::span<const std::string_view> keys) {
  std::vector<hashed_key> all;
  all.reserve(keys.size());
  const xxh3_hasher hash;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    all.push_back({.hash = hash_key(hash, keys[i]), .index = static_cast<std::uint32_t>(i)});
  }
  std::sort(all.begin(), all.end(), [&](const hashed_key& a, const hashed_key& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    const int order = keys[a.index].compare(keys[b.index]);
    return order != 0 ? order < 0 : a.index < b.index;
  });
  const auto end =
      std::unique(all.begin(), all.end(), [&](const hashed_key& a, const hashed_key& b) {
        return a.hash == b.hash && keys[a.index] == keys[b.index];
      });
  all.erase(end, all.end());
  std::sort(all.begin(), all.end(),
            [](const hashed_key& a, const hashed_key& b) { return a.index < b.index; });
  return all;
}

}  // namespace

key_table::key_table(std::span<const std::string_view> keys) {
  if (keys.size() >= most_own_keys) {
    detail::throw_bad_argument("the number of keys", std::uint64_t{keys.size()}, "less than 2^31");
  }
  for (const std::string_view key : keys) {
    if (key.size() > reconcile_longest_key) {
      detail::throw_bad_argument("the length of a key", std::uint64_t{key.size()},
                                 "at most 16777216 bytes to be reconciled");
    }
  }
  for (const hashed_key& k : distinct(keys)) {
    keys_.push_back(keys[k.index]);
    places_.push_back(k.index);
    own_bytes_ += keys_.back().size();
  }
}

tug_sums key_table::estimator(std::uint64_t seed) const noexcept {
  const secret_hasher hash(seed);
  tug_of_war all;
  for (const std::string_view key : keys_) all.add(hash_key(hash, key));
  tug_sums sums{};
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = all.sum(i);
  return sums;
}

std::uint64_t key_table::item_from(std::uint64_t digest) const noexcept {
  return mask_ == ~std::uint64_t{0} ? digest : splitmix64(digest & mask_);
}

std::uint64_t key_table::add_digest(std::string_view key) noexcept {
  const XXH128_hash_t digest = XXH3_128bits_withSeed(key.data(), key.size(), seed_);
  sum_ += (static_cast<detail::uint128>(digest.high64) << 64U) | digest.low64;
  return item_from(digest.low64);
}

std::uint64_t key_table::item_of(std::string_view key) const noexcept {
  return item_from(XXH3_128bits_withSeed(key.data(), key.size(), seed_).low64);
}

void key_table::begin_round(std::uint64_t seed, unsigned bits) {
  seed_ = seed;
  mask_ = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  items_.clear();
  items_.reserve(keys_.size());
  entries_.clear();
  sum_ = 0;
  for (const std::string_view key : keys_) items_.push_back(add_digest(key));
  for (received_key& k : received_) k.item = add_digest(k.text);
  sort_entries();
}

void key_table::sort_entries() {
  if (entries_.size() == size()) return;
  entries_.reserve(size());
  for (std::size_t i = entries_.size(); i < size(); ++i) {
    entries_.push_back({.item = item(i), .index = static_cast<std::uint32_t>(i)});
  }
  std::sort(entries_.begin(), entries_.end(), [&](const entry& a, const entry& b) {
    return a.item != b.item ? a.item < b.item : key(a.index) < key(b.index);
  });
}

std::vector<std::uint64_t> key_table::sorted_items() {
  sort_entries();
  std::vector<std::uint64_t> all;
  all.reserve(entries_.size());
  for (const entry& e : entries_) {
    if (all.empty() || all.back() != e.item) all.push_back(e.item);
  }
  return all;
}

std::vector<std::uint32_t> key_table::keys_with(std::span<const std::uint64_t> items) {
  sort_entries();
  std::vector<std::uint32_t> found;
  auto from = entries_.begin();
  for (const std::uint64_t item : items) {
    from = std::lower_bound(from, entries_.end(), item,
                            [](const entry& e, std::uint64_t wanted) { return e.item < wanted; });
    for (auto at = from; at != entries_.end() && at->item == item; ++at) found.push_back(at->index);
  }
  return found;
}

std::optional<std::uint32_t> key_table::find(std::string_view wanted) const noexcept {
  const std::uint64_t item = item_of(wanted);
  const auto at = std::lower_bound(
      entries_.begin(), entries_.end(), item, [&](const entry& e, std::uint64_t least) {
        return e.item != least ? e.item < least : key(e.index) < wanted;
      });
  if (at == entries_.end() || at->item != item || key(at->index) != wanted) return std::nullopt;
  return at->index;
}

void key_table::receive(std::string key) {
  if (size() >= 2 * most_own_keys - 1) throw error(errc::corrupt, "the peer sends too many keys");
  if (find(key)) throw error(errc::corrupt, "the peer sent a key that is here already");
  const std::uint64_t item = add_digest(key);
  received_.push_back({.text = std::move(key), .item = item});
}

std::vector<std::string> key_table::take_received() {
  std::vector<std::string> taken;
  taken.reserve(received_.size());
  for (received_key& k : received_) taken.push_back(std::move(k.text));
  received_.clear();
  std::sort(taken.begin(), taken.end());
  return taken;
}

// A longer key is on the heap, with 8 bytes before it, in multiples of 16. Besides the key itself
// there are: its entry (a vector that is copied when it grows), its item in two sorted lists, its
// place in a list of wanted keys, its walk through the symbols, and two lists of the result.
std::uint64_t key_table::received_bytes(std::size_t length) noexcept {
  constexpr std::uint64_t lists = 2 * sizeof(entry) + 2 * sizeof(std::uint64_t) +
                                  3 * sizeof(std::uint64_t) + 2 * sizeof(std::uint64_t) +
                                  sizeof(std::string) + sizeof(std::string_view);
  const std::uint64_t heap = length < sizeof(std::string) / 2 ? 0 : (length + 24) / 16 * 16;
  return sizeof(received_key) + lists + heap;
}

}  // namespace bloomery
