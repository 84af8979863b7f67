// The loop over lines of fingerprints for every instruction set: the pipeline of the blocked
// kernels, and then the stash. Included after the instruction set has been switched on.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "bloomery/hash/hash.hpp"
#include "kernel/blocked/loop.hpp"
#include "scalable.hpp"

namespace bloomery::kernel {

// Whether a fingerprint of the key's line fits, and which lines are full and may use the stash.
template <class Isa>
struct asking_lines {
  static constexpr int write = 0;
  const std::uint64_t* words;
  std::uint64_t* bitmap;
  std::uint64_t* full;
  detail::word_cells cells;

  [[gnu::always_inline]] void visit(const Isa& isa, key_ring& ring, std::size_t g,
                                    std::size_t count) const noexcept {
    unsigned found = 0;
    unsigned in_full = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = g % ring_groups * group + i;
      const std::uint64_t* const line = words + ring.word[at];
      found |= unsigned{isa.fits(ring, at, line)} << i;
      in_full |= unsigned{cells.is_full(line)} << i;
    }
    store_answers(bitmap, g, found);
    store_answers(full, g, in_full);
  }
  static void done(const Isa&, const key_ring&, std::size_t) noexcept {}
};

template <class Isa>
[[gnu::always_inline]] inline void contains_lines_run(const detail::split_lines& table,
                                                      const key_run& run,
                                                      std::uint64_t* bitmap) noexcept {
  // The stash is asked for the keys of a piece together, without a branch for those whose slot is
  // free, which would be mispredicted (5.6 against 2.9 ns a key where a twelfth of lines are full).
  constexpr std::size_t piece = 2048;
  const Isa isa(table, run.spread_seed);
  for (std::size_t first = 0; first < run.count; first += piece) {
    key_run now = run;
    now.keys += first;
    now.count = run.count - first < piece ? run.count - first : piece;
    const std::size_t words = (now.count + 63) / 64;
    std::uint64_t* const found = bitmap + first / 64;
    std::uint64_t full[piece / 64];
    found[words - 1] = 0;
    full[words - 1] = 0;
    roll_any(isa, asking_lines<Isa>{table.words, found, full, table.cells}, now, table.lines);
    if (table.stash.count == 0) continue;
    struct open_key {
      std::uint64_t hash;
      std::size_t number;
    };
    open_key open[piece];
    std::size_t count = 0;
    for (std::size_t w = 0; w < words; ++w) {
      for (std::uint64_t left = full[w] & ~found[w]; left != 0; left &= left - 1) {
        const std::size_t number = w * 64 + static_cast<std::size_t>(std::countr_zero(left));
        const std::uint64_t key = now.keys[number];
        open[count] = {run.mixed ? mix64(key, run.spread_seed) : key, number};
        table.stash.fetch(open[count++].hash);
      }
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      open[kept] = open[i];
      kept += std::size_t{table.stash.may_contain(open[i].hash)};
    }
    for (std::size_t i = 0; i < kept; ++i) {
      const std::size_t number = open[i].number;
      found[number / 64] |= std::uint64_t{table.stash.contains(open[i].hash)} << (number % 64);
    }
  }
}

template <class Isa>
struct adding_lines {
  static constexpr int write = 1;
  std::uint64_t* words;
  std::uint64_t* open;
  std::uint64_t* fresh;
  std::uint64_t* appended;
  detail::word_cells cells;

  [[gnu::always_inline]] void visit(const Isa& isa, key_ring& ring, std::size_t g,
                                    std::size_t count) const noexcept {
    unsigned in_full = 0;
    unsigned put = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = g % ring_groups * group + i;
      std::uint64_t* const line = words + ring.word[at];
      if (isa.fits(ring, at, line)) continue;
      if (cells.is_full(line)) {
        in_full |= 1U << i;
      } else {
        isa.append(ring, at, line);
        put |= 1U << i;
      }
    }
    store_answers(open, g, in_full);
    store_answers(fresh, g, put);
    *appended += static_cast<unsigned>(std::popcount(put));
  }
  static void done(const Isa&, const key_ring&, std::size_t) noexcept {}
};

// clang-tidy does not see that the lines are written: the visitor's type is a template's.
// NOLINTBEGIN(readability-non-const-parameter)
template <class Isa>
[[gnu::always_inline]] inline std::uint64_t add_lines_run(const detail::split_lines& table,
                                                          std::uint64_t* words, const key_run& run,
                                                          std::uint64_t* open,
                                                          std::uint64_t* fresh) noexcept {
  if (run.count == 0) return 0;
  open[(run.count - 1) / 64] = 0;
  fresh[(run.count - 1) / 64] = 0;
  std::uint64_t appended = 0;
  const Isa isa(table, run.spread_seed);
  roll_any(isa, adding_lines<Isa>{words, open, fresh, &appended, table.cells}, run, table.lines);
  return appended;
}
// NOLINTEND(readability-non-const-parameter)

// Isa<true> is for cells of 16 bits, which have their own instructions, Isa<false> for others.
template <template <bool> class Isa>
std::uint64_t add_cells_run(const detail::split_lines& table, std::uint64_t* words,
                            const key_run& run, std::uint64_t* open,
                            std::uint64_t* fresh) noexcept {
  if (table.cells.width != 16) return add_lines_run<Isa<false>>(table, words, run, open, fresh);
  detail::split_lines known = table;
  known.cells = detail::word_cells(16);
  return add_lines_run<Isa<true>>(known, words, run, open, fresh);
}

template <template <bool> class Isa>
void contains_cells_run(const detail::split_lines& table, const key_run& run,
                        std::uint64_t* bitmap) noexcept {
  if (table.cells.width == 16) {
    // Every width, shift and mask becomes a number that the compiler knows.
    detail::split_lines known = table;
    known.cells = detail::word_cells(16);
    contains_lines_run<Isa<true>>(known, run, bitmap);
  } else {
    contains_lines_run<Isa<false>>(table, run, bitmap);
  }
}

}  // namespace bloomery::kernel
