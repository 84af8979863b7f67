// How a cuckoo filter's fingerprints move: to make way, and into older layers when it is compacted.
#include <algorithm>
#include <array>
#include <utility>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/filter/cuckoo.hpp"

namespace bloomery {

using namespace cuckoo_geometry;

namespace {

// The search for a free cell: a tree of buckets whose roots are the key's own two. Each node was
// reached by a fingerprint that could move there from `cell` of the parent's bucket.
struct search_node {
  std::uint64_t bucket;
  std::uint32_t parent;
  std::uint32_t cell;
  std::uint32_t moves;  // fingerprints that move when this bucket has a free cell
};
// With 512 buckets seen the first failure of a large table comes at 97 % with b = 4.
constexpr std::uint32_t most_nodes = 512;
constexpr std::uint32_t no_parent = UINT32_MAX;
using search_tree = std::array<search_node, most_nodes>;

// A path must not come back to a bucket: the cell might be one that the path itself moves. Buckets
// on a path are full, so one with a free cell is never among them.
bool on_path(const search_tree& tree, std::uint32_t node, std::uint64_t bucket) noexcept {
  for (; node != no_parent; node = tree[node].parent) {
    if (tree[node].bucket == bucket) return true;
  }
  return false;
}

}  // namespace

bool cuckoo_filter::put_by_moving(std::size_t layer, const cuckoo_table::place& p) noexcept {
  if (longest_path_ == 0) return false;
  const cuckoo_table& table = layers_[layer];
  search_tree tree;
  std::uint32_t count = 0;
  for (const std::uint64_t root : {p.first, p.second}) {
    if (count == 1 && root == p.first) break;
    tree[count++] = {.bucket = root, .parent = no_parent, .cell = 0, .moves = 1};
  }
  for (std::uint32_t at = 0; at < count; ++at) {
    const std::uint64_t from = tree[at].bucket;
    const auto move_or_append = [&](std::uint32_t cell, std::uint64_t fingerprint) {
      std::uint64_t to = table.partner(from, fingerprint);
      if (!table.has_empty(to)) {
        if (count < most_nodes && tree[at].moves < longest_path_ && !on_path(tree, at, to)) {
          tree[count++] = {.bucket = to, .parent = at, .cell = cell, .moves = tree[at].moves + 1};
        }
        return false;
      }
      // From the free cell back to the root: every fingerprint is copied before it is overwritten.
      std::uint32_t free = table.find(to, 0);
      std::uint32_t moving = cell;
      for (std::uint32_t node = at; node != no_parent; node = tree[node].parent) {
        put(layer, to, free, table.cell(tree[node].bucket, moving));
        to = tree[node].bucket;
        free = moving;
        moving = tree[node].cell;
      }
      put(layer, to, free, p.fingerprint);
      return true;
    };
    if (table.any_cell(from, move_or_append)) return true;
  }
  return false;
}

// ---- compaction -------------------------------------------------------------------------------

// A fingerprint may go where its key could have been put: into a layer with at most the same scale,
// whose buckets are prefixes of those here, and which is less full than planned.
bool cuckoo_filter::put_into_older(std::size_t layer, std::uint64_t bucket,
                                   std::uint64_t fingerprint) noexcept {
  const std::uint32_t scale = layers_[layer].scale();
  for (std::size_t i = 0; i < layer; ++i) {
    const cuckoo_table& older = layers_[i];
    if (older.scale() > scale || used(i) >= planned_slots(older.buckets(), older.cells())) continue;
    const std::uint64_t first = bucket >> (scale - older.scale());
    const cuckoo_table::place p = {
        .first = first, .second = older.partner(first, fingerprint), .fingerprint = fingerprint};
    if (!put_in_free_cell(i, p) && !put_by_moving(i, p)) continue;
    set_used(i, used(i) + 1);
    return true;
  }
  return false;
}

// Returns how many fingerprints stay.
std::uint64_t cuckoo_filter::move_into_older(std::size_t layer) noexcept {
  const cuckoo_table& table = layers_[layer];
  std::uint64_t left = 0;
  for (std::uint64_t bucket = 0; bucket < table.buckets(); ++bucket) {
    for (std::uint32_t i = 0; i < table.cells(); ++i) {
      const std::uint64_t fingerprint = table.cell(bucket, i);
      if (fingerprint == 0) continue;
      if (put_into_older(layer, bucket, fingerprint)) {
        put(layer, bucket, i, 0);
      } else {
        ++left;
      }
    }
  }
  return left;
}

void cuckoo_filter::drop_layer(std::size_t layer) {
  bit_array preamble(preamble_words(layers_.size() - 1) * 64);  // all that can fail
  const std::span<const std::uint64_t> old = std::as_const(arrays_[0]).words();
  const std::span<std::uint64_t> words = preamble.words();
  std::copy_n(old.begin(), buckets_word(layer), words.begin());
  std::copy(old.begin() + static_cast<std::ptrdiff_t>(buckets_word(layer + 1)),
            old.begin() + static_cast<std::ptrdiff_t>(buckets_word(layers_.size())),
            words.begin() + static_cast<std::ptrdiff_t>(buckets_word(layer)));
  words[layers_word] = detail::little_endian(layers_.size() - 1);
  arrays_[0] = std::move(preamble);
  preamble_ = arrays_[0].words();
  arrays_.erase(arrays_.begin() + static_cast<std::ptrdiff_t>(layer) + 1);
  layers_.erase(layers_.begin() + static_cast<std::ptrdiff_t>(layer));
  update_size();
}

void cuckoo_filter::clear() {
  bit_array preamble(preamble_words(1) * 64);  // all that can fail
  const std::span<std::uint64_t> words = preamble.words();
  const std::span<const std::uint64_t> old = std::as_const(arrays_[0]).words();
  std::copy_n(old.begin(), buckets_word(0) + 1, words.begin());
  words[layers_word] = detail::little_endian(1);
  arrays_[0] = std::move(preamble);
  preamble_ = arrays_[0].words();
  arrays_.erase(arrays_.begin() + 2, arrays_.end());
  layers_.erase(layers_.begin() + 1, layers_.end());
  std::ranges::fill(arrays_[1].words(), 0);
  keys_ = 0;
  update_size();
}

void cuckoo_filter::compact() {
  for (std::size_t i = layers_.size(); i-- > 1;) {
    const std::uint64_t left = move_into_older(i);
    set_used(i, left);
    if (left == 0) drop_layer(i);
  }
}

}  // namespace bloomery
