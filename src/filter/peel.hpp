// Peeling: the solver of fuse and bloomier (Graf and Lemire 2022; the hypergraph of Dietzfelbinger
// and Walzer 2019, whose neighbouring segments let it start at the array's ends and so stay small).
//
// Each key is an edge over `probes` cells. A cell with one key left is that key's own: take the key
// away, which may leave other cells with one key, and so on. When all are gone, cells are filled in
// reverse order, each key's own so that the XOR over its cells is what the key must find.
//
// Each cell keeps the XOR of its keys' mixed hashes and a byte: 4 times the number of keys, plus
// the XOR of their places (0 to 3), so that the last key and its place can be read off. None of
// this depends on the order of the keys, so neither do the filled cells.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/sizing_static.hpp"
#include "bloomery/detail/filter/static_layout.hpp"
#include "static_shards.hpp"

namespace bloomery::detail {

class peeler {  // the arrays of a shard that is being solved; kept from shard to shard
 public:
  // False when this seed does not do, or a key is there twice. hash_of(i) for i below `keys`.
  template <class HashOf>
  bool peel(std::size_t keys, const sizing::fuse_size& size, std::uint32_t probes,
            std::uint64_t seed, HashOf hash_of) {
    places_.resize(keys);  // none is left of the shard before, even when this one is empty
    if (keys == 0) return true;
    reserve(keys, size, probes);
    sort_by_segment(keys, size, seed, hash_of);
    return probes == 3 ? count<3>(keys, size) && take<3>(keys, size)
                       : count<4>(keys, size) && take<4>(keys, size);
  }

  // Fills the cells, all of them 0, of the keys that peel() took. value_of(mixed hash, place of the
  // own cell).
  template <class Cells, class ValueOf>
  void fill(const Cells& cells, std::uint64_t* words, const sizing::fuse_size& size,
            std::uint32_t probes, ValueOf value_of) const {
    return probes == 3 ? fill<3>(cells, words, size, value_of)
                       : fill<4>(cells, words, size, value_of);
  }

 private:
  static constexpr std::uint32_t scan_cells = 8192;

  void reserve(std::size_t keys, const sizing::fuse_size& size, std::uint32_t probes) {
    const std::uint64_t cells = size.cells(probes);
    if (hashes_.words().size() < keys) hashes_ = bit_array(std::uint64_t{64} * keys);
    if (sums_.words().size() < cells) sums_ = bit_array(64 * cells);
    std::fill_n(sums_.words().begin(), cells, 0);
    counts_.assign(static_cast<std::size_t>(cells), 0);
    stack_.resize(static_cast<std::size_t>(cells) + 1);
  }

  template <std::uint32_t Probes, class Cells, class ValueOf>
  void fill(const Cells& cells, std::uint64_t* words, const sizing::fuse_size& size,
            ValueOf value_of) const {
    const std::uint64_t* const order = hashes_.words().data();
    for (std::size_t i = places_.size(); i-- > 0;) {
      const std::uint64_t mixed = order[i];
      const std::uint32_t own_place = places_[i];
      std::uint64_t value = value_of(mixed, own_place);
      std::array<std::uint64_t, Probes> found{};
      std::size_t place = 0;
      // The own cell is read, too: it is 0, and which one it is cannot be predicted.
      fuse_cells(mixed, size, Probes, [&](std::uint64_t cell) {
        value ^= cells.get(words, cell);
        found[place++] = cell;
      });
      cells.set(words, found[own_place], value);
    }
  }

  // Mixed hashes in the order of their first segment: what follows walks through memory, and three
  // or four segments (300 kB) stay in the second-level cache. Without, builds take twice as long.
  template <class HashOf>
  void sort_by_segment(std::size_t keys, const sizing::fuse_size& size, std::uint64_t seed,
                       HashOf hash_of) {
    std::vector<std::size_t> next(static_cast<std::size_t>(size.starts) + 1);
    for (std::size_t i = 0; i < keys; ++i) {
      ++next[multiply_high(mix64(hash_of(i), seed), size.starts) + 1];
    }
    for (std::size_t s = 1; s < next.size(); ++s) next[s] += next[s - 1];
    std::uint64_t* const out = hashes_.words().data();
    for (std::size_t i = 0; i < keys; ++i) {
      const std::uint64_t mixed = mix64(hash_of(i), seed);
      out[next[multiply_high(mixed, size.starts)]++] = mixed;
    }
  }

  // False when a cell has more keys than its byte can count: 63, where 3 are usual.
  template <std::uint32_t Probes>
  bool count(std::size_t keys, const sizing::fuse_size& size) {
    // These are locals, because a store through a pointer to bytes may change any member.
    std::uint64_t* const sums = sums_.words().data();
    const std::uint64_t* const hashes = hashes_.words().data();
    std::uint8_t* const counts = counts_.data();
    std::uint8_t least = UINT8_MAX;
    for (std::size_t i = 0; i < keys; ++i) {
      const std::uint64_t mixed = hashes[i];
      std::uint8_t place = 0;
      fuse_cells(mixed, size, Probes, [&](std::uint64_t cell) {
        sums[cell] ^= mixed;
        counts[cell] = static_cast<std::uint8_t>((counts[cell] + 4U) ^ place++);
        least = std::min(least, counts[cell]);
      });
    }
    return least >= 4;  // a byte that wrapped around was below 4 at some moment
  }

  // Takes keys away, from the first cells on; overwrites hashes_ with the keys in this order.
  template <std::uint32_t Probes>
  bool take(std::size_t keys, const sizing::fuse_size& size) {
    std::uint64_t* const sums = sums_.words().data();
    std::uint64_t* const order = hashes_.words().data();
    std::uint8_t* const counts = counts_.data();
    std::uint8_t* const places = places_.data();
    std::uint32_t* const stack = stack_.data();
    const auto cells = static_cast<std::uint32_t>(size.cells(Probes));
    const short_fuse_cells<Probes> cells_of(size);
    std::size_t taken = 0;
    std::size_t waiting = 0;
    // Whether a cell has one key left is a toss-up, so nothing below branches on it.
    const auto push = [&](std::uint32_t cell) {
      stack[waiting] = cell;
      waiting += counts[cell] >> 2U == 1 ? 1U : 0U;
    };
    for (std::uint32_t first = 0; first < cells;) {
      const std::uint32_t end = std::min(cells, first + scan_cells);
      for (; first < end; ++first) push(first);
      while (waiting > 0) {
        const std::uint32_t own = stack[--waiting];
        if (counts[own] >> 2U != 1) continue;  // rare: another cell of its key came first
        const std::uint64_t mixed = sums[own];
        order[taken] = mixed;
        places[taken++] = counts[own] & 3U;
        std::uint8_t place = 0;
        cells_of(mixed, [&](std::uint64_t cell) {
          sums[cell] ^= mixed;
          counts[cell] = static_cast<std::uint8_t>((counts[cell] ^ place++) - 4U);
          push(static_cast<std::uint32_t>(cell));
        });
      }
    }
    return taken == keys;
  }

  bit_array hashes_;  // mixed, sorted by segment; then in the order in which they were taken
  bit_array sums_;
  std::vector<std::uint8_t> counts_;
  std::vector<std::uint8_t> places_;
  std::vector<std::uint32_t> stack_;
};

struct peeled_shard {  // what its entry in the directory says
  std::uint64_t seed = 0;
  sizing::fuse_size size;
  std::uint64_t keys = 0;
};

// Peels with one seed after the other. A key that is there twice can never be taken, so the first
// failure is the time to drop those and begin again, with the size and the seed of the smaller set.
template <class Item>
peeled_shard peel_shard(peeler& p, const shape& s, std::uint64_t shard, std::span<Item>& items) {
  bool sorted = false;
  for (std::uint32_t attempt = 0; attempt < max_tries; ++attempt) {
    const peeled_shard found{.seed = shard_seed(shard, attempt),
                             .size = sizing::fuse_size_for(items.size(), s.probes),
                             .keys = items.size()};
    const auto hash_at = [&](std::size_t i) { return hash_of(items[i]); };
    if (p.peel(items.size(), found.size, s.probes, found.seed, hash_at)) return found;
    if (std::exchange(sorted, true)) continue;
    const std::span<Item> different = drop_repetitions(items);
    if (different.size() == items.size()) continue;
    items = different;
    attempt = UINT32_MAX;  // the loop makes it 0
  }
  throw_no_seed(s.kind, shard, items.size());
}

}  // namespace bloomery::detail
