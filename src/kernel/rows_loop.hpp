// The loop for keys that ask several rows of blocks with one mask: groups of eight keys, all rows for a group. The masks
// of a group are made once and stay in registers or the first-level cache. Lines of rows that are no longer in
// the cache are called for as in blocked_loop.hpp; their addresses are worked out again for that, which takes
// less than keeping them.
//
// Included like blocked_loop.hpp, after the instruction set has been switched on.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "blocked.hpp"
#include "blocked_loop.hpp"
#include "bloomery/core/arithmetic.hpp"

namespace bloomery::kernel {

namespace {

// The first words of the blocks of a group.
struct group_words {
  alignas(64) std::uint64_t word[group];
};

// One key after the other; instruction sets with a wide enough multiply have a better way.
struct scalar_finder {
  [[gnu::always_inline]] static void find(const block_row& row, const std::uint64_t* hashes,
                                          group_words& out) noexcept {
    for (std::size_t i = 0; i < group; ++i) {
      out.word[i] = detail::multiply_high(hashes[i], row.blocks) * row.stride;
    }
  }
};

// Rows that are larger than the cache.
class far_rows {
 public:
  far_rows(const row_set& rows, std::uint64_t cached_bytes) noexcept {
    for (std::size_t r = 0; r < rows.count; ++r) {
      if (rows.rows[r].blocks > cached_bytes / 64) far_[count_++] = &rows.rows[r];
    }
  }

  template <class Finder, int Locality>
  [[gnu::always_inline]] void fetch(const std::uint64_t* hashes) const noexcept {
    for (std::size_t r = 0; r < count_; ++r) {
      group_words at;
      Finder::find(*far_[r], hashes, at);
      for (std::size_t i = 0; i < group; ++i) {
        __builtin_prefetch(far_[r]->words + at.word[i], 0, Locality);
      }
    }
    asm volatile("");  // see fetch_group
  }

 private:
  std::array<const block_row*, most_rows> far_;
  std::size_t count_ = 0;
};

// Asking writes a byte of the bitmap for each group; `isa.ask(row, hashes, masks)` has a bit for each key.
template <class Isa>
struct asking_rows {
  const row_set& rows;
  std::uint64_t* bitmap;

  [[gnu::always_inline]] void visit(const Isa& isa, std::size_t g,
                                    const std::uint64_t* hashes) noexcept {
    typename Isa::group_masks masks;
    isa.make(hashes, masks);
    unsigned found = 0;
    for (std::size_t r = 0; r < rows.count; ++r) found |= isa.ask(rows.rows[r], hashes, masks);
    store_answers(bitmap, g, found);
  }
  static void stage(std::size_t, const std::uint64_t*) noexcept {}
  static void done(const Isa&, std::size_t) noexcept {}
};

// How far ahead of asking the blocks of a group are found, where that is a step of its own.
constexpr std::size_t staged_groups = 2;

template <class Isa, class Asking = asking_rows<Isa>>
void contains_rows_run(const row_set& rows, const std::uint64_t* hashes, std::size_t count,
                       std::uint64_t* bitmap) noexcept {
  if (count == 0) return;
  std::fill_n(bitmap, (count + 63) / 64, 0);
  const Isa isa(rows.probes);
  const far_rows far(rows, Isa::cached_bytes);
  Asking asking{rows, bitmap};
  const std::size_t groups = count / group;
  for (std::size_t g = 0; g < groups && g < far_groups; ++g) {
    far.fetch<Isa, 2>(hashes + g * group);
  }
  for (std::size_t g = 0; g < groups && g < staged_groups; ++g) {
    asking.stage(g, hashes + g * group);
  }
  for (std::size_t g = 0; g < groups; ++g) {
    if (g + far_groups < groups) far.fetch<Isa, 2>(hashes + (g + far_groups) * group);
    if (g + staged_groups < groups) {
      asking.stage(g + staged_groups, hashes + (g + staged_groups) * group);
      far.fetch<Isa, 3>(hashes + (g + staged_groups) * group);
    }
    asking.visit(isa, g, hashes + g * group);
  }
  const std::size_t rest = count % group;
  if (rest != 0) {
    alignas(64) std::uint64_t last[group] = {};
    for (std::size_t i = 0; i < rest; ++i) last[i] = hashes[groups * group + i];
    asking.stage(groups, last);
    asking.visit(isa, groups, last);
  }
  asking.done(isa, count);
  // The padding has answers, too.
  if (count % 64 != 0) bitmap[count / 64] &= ~(~std::uint64_t{0} << (count % 64));
}

}  // namespace

}  // namespace bloomery::kernel
