// The loops of count_min.hpp, for counters of 8, 16, 32 and 64 bits, read and written as such
// numbers (bytes are swapped on big-endian machines). Out of the cache, one key at a time with the
// lines of later ones prefetched; in it, positions of eight at a time where there are vectors.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "bloomery/core/shape.hpp"
#include "bloomery/hash/probe.hpp"
#include "cells.hpp"
#include "count_min.hpp"
#include "kernel/scatter/keys.hpp"
#include "line_loop.hpp"

namespace bloomery::kernel {

template <class Eight, class Cell>
class count_min_loop {
  using cells = count_min_cells<Eight, Cell>;
  using keys = scatter_keys<Eight>;

 public:
  static void count(const scatter_array<const std::uint64_t> array, const hash_run run,
                    std::uint64_t* counts) noexcept {
    const auto count_one = [&](std::size_t i) __attribute__((always_inline)) {
      counts[i] = least(array, run.hashes[i]);
    };
    for_each_key(array, run, Eight::is_vector ? count_groups(array, run, counts) : 0, count_one);
  }

  static void add(const scatter_array<std::uint64_t> array, const hash_run run,
                  const std::uint64_t* counts) noexcept {
    const auto add_one = [&](std::size_t i) __attribute__((always_inline)) {
      const std::uint64_t more = counts == nullptr ? 1 : counts[i];
      keys::for_each_position(
          array, run.hashes[i], [&](std::uint64_t index) __attribute__((always_inline)) {
            cells::set(array.words, index, cells::sum(cells::get(array.words, index), more));
          });
    };
    for_each_key(array, run, Eight::is_vector ? add_groups(array, run, counts) : 0, add_one);
  }

  static void raise(const scatter_array<std::uint64_t> array, const hash_run run,
                    const std::uint64_t* counts) noexcept {
    for_each_key(
        array, run, 0, [&](std::size_t i) __attribute__((always_inline)) {
          std::uint64_t index[max_probes];
          std::uint64_t lowest = cells::most;
          std::size_t n = 0;
          keys::for_each_position(
              array, run.hashes[i], [&](std::uint64_t position) __attribute__((always_inline)) {
                index[n++] = position;
                const std::uint64_t value = cells::get(array.words, position);
                lowest = value < lowest ? value : lowest;
              });
          const std::uint64_t risen = cells::sum(lowest, counts == nullptr ? 1 : counts[i]);
          for (std::size_t j = 0; j < n; ++j) {
            const std::uint64_t value = cells::get(array.words, index[j]);
            cells::set(array.words, index[j], value < risen ? risen : value);
          }
        });
  }

 private:
  template <class Word, class Visit>
  [[gnu::always_inline]] static void for_each_key(const scatter_array<Word>& array,
                                                  const hash_run& run, std::size_t first,
                                                  Visit visit) noexcept {
    if (!keys::is_near(array)) {
      keys::look_ahead(array, run, visit);
    } else {
      for (std::size_t i = first; i < run.count; ++i) visit(i);
    }
  }

  [[gnu::always_inline]] static std::uint64_t least(const scatter_array<const std::uint64_t>& array,
                                                    std::uint64_t hash) noexcept {
    std::uint64_t lowest = cells::most;
    keys::for_each_position(
        array, hash, [&](std::uint64_t index) __attribute__((always_inline)) {
          const std::uint64_t value = cells::get(array.words, index);
          lowest = value < lowest ? value : lowest;
        });
    return lowest;
  }

  // Returns how many keys it has done: all whole groups of a near array.
  static std::size_t count_groups(const scatter_array<const std::uint64_t>& array,
                                  const hash_run& run, std::uint64_t* counts) noexcept {
    if (!keys::is_near(array)) return 0;
    constexpr unsigned log = std::countr_zero(sizeof(Cell) * 8);
    const Eight most = Eight::all(cells::most);
    std::size_t i = 0;
    for (; i + 8 <= run.count; i += 8) {
      Eight lowest = most;
      for_each_position_of_eight(
          array, run.hashes + i, [&](const Eight& index) __attribute__((always_inline)) {
            const Eight word = Eight::gather(array.words, index >> (6U - log));
            lowest = least_of(lowest, (word >> ((index << log) & Eight::all(63))) & most);
          });
      lowest.store(counts + i);
    }
    return i;
  }

  static std::size_t add_groups(const scatter_array<std::uint64_t>& array, const hash_run& run,
                                const std::uint64_t* counts) noexcept {
    if (!keys::is_near(array)) return 0;
    std::size_t i = 0;
    for (; i + 8 <= run.count; i += 8) {
      for_each_position_of_eight(
          array, run.hashes + i, [&](const Eight& index) __attribute__((always_inline)) {
            alignas(64) std::uint64_t at[8];
            index.store(at);
            for (std::size_t n = 0; n < 8; ++n) {
              const std::uint64_t more = counts == nullptr ? 1 : counts[i + n];
              cells::set(array.words, at[n], cells::sum(cells::get(array.words, at[n]), more));
            }
          });
    }
    return i;
  }

  template <class Word, class Visit>
  [[gnu::always_inline]] static void for_each_position_of_eight(const scatter_array<Word>& array,
                                                                const std::uint64_t* hashes,
                                                                Visit visit) noexcept {
    eight_walk<Eight> walk(array, hashes);
    for (std::uint32_t j = 0; j < array.probes; ++j) visit(walk.next());
  }
};

// By the width of the counters.
template <class Eight>
struct count_min_calls {
  template <class Visit>
  [[gnu::always_inline]] static void with_cells(std::uint32_t cell_log, Visit visit) noexcept {
    switch (cell_log) {
      case 3: return visit(count_min_loop<Eight, std::uint8_t>());
      case 4: return visit(count_min_loop<Eight, std::uint16_t>());
      case 5: return visit(count_min_loop<Eight, std::uint32_t>());
      default: return visit(count_min_loop<Eight, std::uint64_t>());
    }
  }
  static void count(const scatter_array<const std::uint64_t>& array, const hash_run& run,
                    std::uint64_t* counts) noexcept {
    with_cells(array.cell_log, [&](auto loop) { loop.count(array, run, counts); });
  }
  static void add(const scatter_array<std::uint64_t>& array, const hash_run& run,
                  const std::uint64_t* counts) noexcept {
    with_cells(array.cell_log, [&](auto loop) { loop.add(array, run, counts); });
  }
  static void raise(const scatter_array<std::uint64_t>& array, const hash_run& run,
                    const std::uint64_t* counts) noexcept {
    with_cells(array.cell_log, [&](auto loop) { loop.raise(array, run, counts); });
  }
};

template <class Eight>
inline constexpr count_min_kernels count_min_kernels_with = {
    .count = count_min_calls<Eight>::count,
    .add = count_min_calls<Eight>::add,
    .raise = count_min_calls<Eight>::raise,
    .count_in_lines = count_min_line_calls<Eight>::count,
    .add_in_lines = count_min_line_calls<Eight>::add,
    .raise_in_lines = count_min_line_calls<Eight>::raise};

}  // namespace bloomery::kernel
