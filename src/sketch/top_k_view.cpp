// A top-k sketch in its image, whose words may be anybody's: preamble and list are checked.
#include <algorithm>
#include <numeric>
#include <string>

#include "bloomery/filter/explanation.hpp"
#include "bloomery/sketch/top_k.hpp"
#include "kernel/batch.hpp"
#include "top_k_layout.hpp"

namespace bloomery {

using namespace top_k_layout;

namespace {

void require(bool fine, const char* what) {
  if (!fine) detail::fail(errc::corrupt, std::string("a top-k sketch with ") + what);
}

struct bucket_lines {
  using hash_type = std::uint64_t;
  detail::bucket_rows rows;
  template <class Touch>
  void lines(std::uint64_t hash, Touch touch) const noexcept {
    for_each_bucket(rows, hash, [&](std::uint64_t index) {
      touch((sizing::top_k_preamble_words + index) * 64);
    });
  }
};

}  // namespace

top_k_view::top_k_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys)
    : word_view(detail::checked_plan(p, words, kind), words.data(), keys) {
  check_top_k(p.shape);
  require(words.size() > sizing::top_k_preamble_words, "fewer words than its preamble");
  const auto field = [&](std::size_t at) { return detail::little_endian(words[at]); };
  std::uint64_t left = words.size() - sizing::top_k_preamble_words;
  rows_ = {.depth = p.shape.probes, .width = field(width_word)};
  require(rows_.width > 0 && rows_.width <= left / rows_.depth, "rows outside of its words");
  left -= rows_.width * rows_.depth;
  random_state_ = field(random_word);
  require(field(decay_word) > 0 && field(decay_word) <= most_decay_ratio, "a decay out of range");
  decay_ratio_ = static_cast<std::uint32_t>(field(decay_word));
  total_ = field(total_word);
  require(field(6) == 0 && field(7) == 0, "something where it must be zero");
  const std::uint64_t entries = field(entries_word);
  require(entries <= k(), "more than k keys");
  require(entries <= left / entry_words, "a list outside of its words");
  left -= entries * entry_words;
  const std::uint64_t key_bytes = field(key_bytes_word);
  require(key_bytes <= left * 8 && left == (key_bytes + 7) / 8, "keys that do not fill its words");
  read_list(words.last(static_cast<std::size_t>(entries * entry_words + left)), entries, key_bytes);
}

void top_k_view::read_list(std::span<const std::uint64_t> list, std::uint64_t entries,
                           std::uint64_t key_bytes) {
  const std::span<const std::uint64_t> key_words =
      list.subspan(static_cast<std::size_t>(entries * entry_words));
  const char* const bytes = reinterpret_cast<const char*>(key_words.data());
  std::uint64_t at = 0;
  entries_.reserve(static_cast<std::size_t>(entries));
  for (std::size_t i = 0; i < entries; ++i) {
    const auto field = [&](std::size_t n) {
      return detail::little_endian(list[i * entry_words + n]);
    };
    require(field(2) <= top_k_longest_key && field(2) <= key_bytes - at, "a key out of bounds");
    entries_.push_back({.key = {bytes + at, static_cast<std::size_t>(field(2))},
                        .hash = field(0),
                        .count = field(1)});
    at += field(2);
    require(field(1) > 0, "a listed count of zero");
    require(i == 0 || before(entries_[i - 1], entries_[i]), "a list out of order");
  }
  require(at == key_bytes, "bytes after the last key");
  for (std::uint64_t i = key_bytes; i < key_words.size() * 8; ++i) {
    require(bytes[i] == 0, "something where it must be zero");
  }
  by_hash_.resize(entries_.size());
  std::iota(by_hash_.begin(), by_hash_.end(), 0U);
  std::sort(by_hash_.begin(), by_hash_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return entries_[a].hash < entries_[b].hash;
  });
  const auto same = std::adjacent_find(
      by_hash_.begin(), by_hash_.end(),
      [this](std::uint32_t a, std::uint32_t b) { return entries_[a].hash == entries_[b].hash; });
  require(same == by_hash_.end(), "a key listed twice");
}

const top_k_entry* top_k_view::find(std::uint64_t hash) const noexcept {
  const auto at = std::lower_bound(
      by_hash_.begin(), by_hash_.end(), hash,
      [this](std::uint32_t index, std::uint64_t wanted) { return entries_[index].hash < wanted; });
  return at != by_hash_.end() && entries_[*at].hash == hash ? &entries_[*at] : nullptr;
}

void top_k_view::contains_bits(std::span<const std::uint64_t> hashes,
                               std::span<std::uint64_t> bitmap) const noexcept {
  std::fill_n(bitmap.begin(), (hashes.size() + 63) / 64, 0);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    bitmap[i / 64] |= std::uint64_t{contains(hashes[i])} << (i % 64);
  }
}

std::uint64_t top_k_view::count(std::uint64_t hash) const noexcept {
  if (const top_k_entry* const listed = find(hash)) return listed->count;
  const bool full = entries_.size() == k();
  return rows_.estimate(buckets().data(), hash, full ? entries_.back().count : ~std::uint64_t{0});
}

void top_k_view::count_batch(std::span<const std::uint64_t> hashes,
                             std::span<std::uint64_t> counts) const noexcept {
  kernel::look_ahead_loop(bucket_lines{rows_}, words(), hashes,
                          [&](std::size_t i) { counts[i] = count(hashes[i]); });
}

std::span<const std::uint64_t> top_k_view::buckets() const noexcept {
  return words().subspan(sizing::top_k_preamble_words,
                         static_cast<std::size_t>(rows_.width * rows_.depth));
}

double top_k_view::fpr() const noexcept { return static_cast<double>(entries_.size()) * 0x1p-64; }

explanation top_k_view::explain(std::uint64_t hash) const {
  explanation e;
  e.why.numbers = {{"listed", std::uint64_t{entries_.size()}}, {"count", count(hash)}};
  const top_k_entry* const listed = find(hash);
  if (listed == nullptr) {
    e.why.text = "it is not one of the {listed} that are listed; its buckets say {count}";
  } else {
    const auto rank = static_cast<std::uint64_t>(listed - entries_.data()) + 1;
    e.why.text = "it is number {rank} of the {listed} that are listed, with a count of {count}";
    e.why.numbers.push_back({"rank", rank});
  }
  return e;
}

}  // namespace bloomery
