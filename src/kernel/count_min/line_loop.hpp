// The loops of count_min.hpp for counters of a key in one line. With vectors all counters of the
// line are computed at once, in two of the compiler's vectors of 32 bytes. Without them, and for
// counters of 64 bits, one row after the other.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "bloomery/detail/core/arithmetic.hpp"
#include "cells.hpp"
#include "count_min.hpp"
#include "kernel/pipeline.hpp"

namespace bloomery::kernel {

// Calls visit(i, line) for all keys, in order.
template <class Eight, class Word, class Visit>
[[gnu::always_inline]] inline void for_each_line(const counter_lines<Word>& array,
                                                 const hash_run& run, const Visit& visit) noexcept {
  constexpr std::uint64_t near_bytes = std::uint64_t{2} << 20U;
  constexpr std::size_t ahead = 24;  // keys, as in batch.hpp
  Word* const words = array.words;
  const std::uint64_t lines = array.lines;
  const auto line_of = [=](std::size_t i) __attribute__((always_inline)) {
    return words + detail::multiply_high(run.hashes[i], lines) * 8;
  };
  const auto visit_one = [&](std::size_t i) __attribute__((always_inline)) {
    visit(i, line_of(i));
  };
  if (array.bytes() <= near_bytes) {
    for (std::size_t i = 0; i < run.count; ++i) visit_one(i);
    return;
  }
  const auto fetch = [&](std::size_t i) __attribute__((always_inline)) {
    __builtin_prefetch(line_of(i), 0, 2);
    asm volatile("");  // GCC 12 would drop it, see pipeline.hpp
  };
  roll(run.count, ahead, fetch, visit_one);
}

// One row after the other.
template <class Eight, class Cell>
struct line_rows {
  using cells = count_min_cells<Eight, Cell>;
  std::uint32_t row;
  std::uint32_t rows;

  template <class Word>
  [[gnu::always_inline]] explicit line_rows(const counter_lines<Word>& array) noexcept
      : row(array.row), rows(array.rows) {}

  [[gnu::always_inline]] std::uint64_t least(const std::uint64_t* line,
                                             std::uint64_t hash) const noexcept {
    std::uint64_t lowest = cells::most;
    for (std::uint32_t j = 0; j < rows; ++j) {
      const std::uint64_t value = cells::get(line, counter_in_line(hash, j, row));
      lowest = value < lowest ? value : lowest;
    }
    return lowest;
  }
  [[gnu::always_inline]] void add(std::uint64_t* line, std::uint64_t hash,
                                  std::uint64_t count) const noexcept {
    for (std::uint32_t j = 0; j < rows; ++j) {
      const std::uint32_t at = counter_in_line(hash, j, row);
      cells::set(line, at, cells::sum(cells::get(line, at), count));
    }
  }
  [[gnu::always_inline]] void raise(std::uint64_t* line, std::uint64_t hash,
                                    std::uint64_t count) const noexcept {
    const std::uint64_t risen = cells::sum(least(line, hash), count);
    for (std::uint32_t j = 0; j < rows; ++j) {
      const std::uint32_t at = counter_in_line(hash, j, row);
      const std::uint64_t value = cells::get(line, at);
      cells::set(line, at, value < risen ? risen : value);
    }
  }
};

// All counters of a line at once: for those of up to 32 bits on little-endian machines. What is
// computed is by how much a counter can still rise, which is 0 for what the key does not have: so
// the least counter of a key is the one with the most room, and nothing else needs a mask.
template <class Eight, class Cell>
class line_vectors {
  using lanes [[gnu::vector_size(32)]] = std::uint32_t;
  using bytes [[gnu::vector_size(32)]] = std::uint8_t;
  using half [[gnu::vector_size(32)]] = Cell;  // of a line
  static constexpr std::uint32_t in_half = 32 / sizeof(Cell);
  static constexpr std::uint32_t in_lane = 4 / sizeof(Cell);
  static constexpr Cell most = static_cast<Cell>(~Cell{0});

 public:
  template <class Word>
  [[gnu::always_inline]] explicit line_vectors(const counter_lines<Word>& array) noexcept
      : row_(array.row) {
    const std::uint32_t row_lanes = block_geometry::lanes / array.rows;
    for (std::uint32_t lane = 0; lane < block_geometry::lanes; ++lane) {
      const std::uint32_t j = lane / row_lanes;
      multiplier_[lane / 8][lane % 8] = j < array.rows ? block_geometry::lane_multiplier[j] : 0;
    }
    // A number is compared in all bytes of its counter.
    constexpr auto every_byte = static_cast<Cell>(most / 0xff);
    for (std::uint32_t i = 0; i < 2 * in_half; ++i) {
      const std::uint32_t j = i / (row_lanes * in_lane);
      const std::uint32_t place = i - j * row_lanes * in_lane;
      place_[i / in_half][i % in_half] =
          j < array.rows ? static_cast<Cell>(place * every_byte) : most;  // never found
    }
  }

  [[gnu::always_inline]] std::uint64_t least(const std::uint64_t* line,
                                             std::uint64_t hash) const noexcept {
    const half low = room(load(line, 0), hash, 0);
    const half high = room(load(line, 1), hash, 1);
    return static_cast<Cell>(most - widest(low, high)[0]);
  }
  [[gnu::always_inline]] void add(std::uint64_t* line, std::uint64_t hash,
                                  std::uint64_t count) const noexcept {
    const half more = splat(count);
    for (std::uint32_t h = 0; h < 2; ++h) {
      const half there = load(line, h);
      store(line, h, there + lower(room(there, hash, h), more));
    }
  }
  [[gnu::always_inline]] void raise(std::uint64_t* line, std::uint64_t hash,
                                    std::uint64_t count) const noexcept {
    const half there[2] = {load(line, 0), load(line, 1)};
    const half rooms[2] = {room(there[0], hash, 0), room(there[1], hash, 1)};
    const half widest_room = widest(rooms[0], rooms[1]);
    const half left = widest_room - lower(widest_room, splat(count));
    for (std::uint32_t h = 0; h < 2; ++h) {
      store(line, h, there[h] + (rooms[h] - lower(rooms[h], left)));
    }
  }

 private:
  // What the key's counters can still rise by; 0 for all others.
  [[gnu::always_inline]] half room(const half& there, std::uint64_t hash,
                                   std::uint32_t h) const noexcept {
    const lanes mixed = multiplier_[h] * static_cast<std::uint32_t>(hash);
    // The highest byte of each lane is the number of the counter in its row.
    const auto at = reinterpret_cast<bytes>((mixed >> 8U) * row_);
    const bytes numbers =
        __builtin_shufflevector(at, at, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15, 19,
                                19, 19, 19, 23, 23, 23, 23, 27, 27, 27, 27, 31, 31, 31, 31);
    const auto match = reinterpret_cast<half>(reinterpret_cast<half>(numbers) == place_[h]);
    return match & ~there;
  }
  // The greatest of all, in every place.
  [[gnu::always_inline]] static half widest(const half& low, const half& high) noexcept {
    auto a = reinterpret_cast<lanes>(higher(low, high));
    a = higher_of(a, __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3));
    a = higher_of(a, __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5));
    a = higher_of(a, __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6));
    const auto b = reinterpret_cast<bytes>(a);
    if constexpr (sizeof(Cell) == 2) {  // by one instruction, where shifts are three
      a = higher_of(a, reinterpret_cast<lanes>(__builtin_shufflevector(
                           b, b, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 18, 19, 16,
                           17, 22, 23, 20, 21, 26, 27, 24, 25, 30, 31, 28, 29)));
    }
    if constexpr (sizeof(Cell) == 1) {
      a = higher_of(a, (a >> 16U) | (a << 16U));
      a = higher_of(a, (a >> 8U) | (a << 24U));
    }
    return reinterpret_cast<half>(a);
  }
  [[gnu::always_inline]] static lanes higher_of(const lanes& a, const lanes& b) noexcept {
    return reinterpret_cast<lanes>(higher(reinterpret_cast<half>(a), reinterpret_cast<half>(b)));
  }
  [[gnu::always_inline]] static half higher(const half& a, const half& b) noexcept {
    return a > b ? a : b;
  }
  [[gnu::always_inline]] static half lower(const half& a, const half& b) noexcept {
    return a < b ? a : b;
  }
  [[gnu::always_inline]] static half splat(std::uint64_t count) noexcept {
    return half{} + static_cast<Cell>(count < most ? count : most);
  }
  [[gnu::always_inline]] static half load(const std::uint64_t* line, std::uint32_t h) noexcept {
    half there;
    __builtin_memcpy(&there, line + std::size_t{h} * 4, sizeof there);
    return there;
  }
  [[gnu::always_inline]] static void store(std::uint64_t* line, std::uint32_t h,
                                           const half& counters) noexcept {
    __builtin_memcpy(line + std::size_t{h} * 4, &counters, sizeof counters);
  }

  std::uint32_t row_;
  lanes multiplier_[2];
  half place_[2];
};

template <class Eight>
struct count_min_line_calls {
  // Calls visit(the lines of a key) for this width of counters.
  template <class Word, class Visit>
  [[gnu::always_inline]] static void with_lines(const counter_lines<Word>& array,
                                                const Visit& visit) noexcept {
    constexpr bool vectors = Eight::is_vector && std::endian::native == std::endian::little;
    if constexpr (vectors) {
      switch (array.cell_log) {
        case 3: return visit(line_vectors<Eight, std::uint8_t>(array));
        case 4: return visit(line_vectors<Eight, std::uint16_t>(array));
        case 5: return visit(line_vectors<Eight, std::uint32_t>(array));
        default: return visit(line_rows<Eight, std::uint64_t>(array));
      }
    } else {
      switch (array.cell_log) {
        case 3: return visit(line_rows<Eight, std::uint8_t>(array));
        case 4: return visit(line_rows<Eight, std::uint16_t>(array));
        case 5: return visit(line_rows<Eight, std::uint32_t>(array));
        default: return visit(line_rows<Eight, std::uint64_t>(array));
      }
    }
  }

  static void count(const counter_lines<const std::uint64_t>& array, const hash_run& run,
                    std::uint64_t* counts) noexcept {
    with_lines(
        array, [&](const auto& lines) __attribute__((always_inline)) {
          for_each_line<Eight>(
              array, run,
              [&, lines ](std::size_t i, const std::uint64_t* line)
                  __attribute__((always_inline)) { counts[i] = lines.least(line, run.hashes[i]); });
        });
  }
  static void add(const counter_lines<std::uint64_t>& array, const hash_run& run,
                  const std::uint64_t* counts) noexcept {
    with_lines(
        array, [&](const auto& lines) __attribute__((always_inline)) {
          for_each_line<Eight>(
              array, run,
              [&, lines ](std::size_t i, std::uint64_t * line) __attribute__((always_inline)) {
                lines.add(line, run.hashes[i], counts == nullptr ? 1 : counts[i]);
              });
        });
  }
  static void raise(const counter_lines<std::uint64_t>& array, const hash_run& run,
                    const std::uint64_t* counts) noexcept {
    with_lines(
        array, [&](const auto& lines) __attribute__((always_inline)) {
          for_each_line<Eight>(
              array, run,
              [&, lines ](std::size_t i, std::uint64_t * line) __attribute__((always_inline)) {
                lines.raise(line, run.hashes[i], counts == nullptr ? 1 : counts[i]);
              });
        });
  }
};

}  // namespace bloomery::kernel
