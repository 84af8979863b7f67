// The loops of count_min.hpp for counters of a key in one line. With vectors all sixteen lanes are
// computed at once, in two of the compiler's vectors of 32 bytes; what is in no row of the key gets
// zero. Without them, and for counters of 64 bits, one row after the other.
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

// All lanes at once: for counters of up to 32 bits on little-endian machines.
template <class Eight, class Cell>
class line_vectors {
  using half = std::uint32_t __attribute__((vector_size(32)));
  using cells = count_min_cells<Eight, Cell>;
  static constexpr std::uint32_t bits = sizeof(Cell) * 8;
  static constexpr std::uint32_t in_lane = 32 / bits;
  static constexpr std::uint32_t most = static_cast<Cell>(~Cell{0});

  // The lanes of a key: ones where it has a counter, what that holds, and by how much to shift.
  struct found {
    half line;
    half match;
    half value;
    half shift;
  };

 public:
  template <class Word>
  [[gnu::always_inline]] explicit line_vectors(const counter_lines<Word>& array) noexcept
      : row_(array.row) {
    // Ones that the compiler does not know: it would invert with a vpternlogd that waits for what
    // its target held before, the last key: 12 against 6 ns for a conservative add.
    const std::uint32_t ones = row_ != 0 ? ~std::uint32_t{0} : 0;
    ones_ = half{} + ones;
    most_ = half{} + (ones & most);
    const std::uint32_t lanes = block_geometry::lanes / array.rows;
    for (std::uint32_t lane = 0; lane < block_geometry::lanes; ++lane) {
      const std::uint32_t j = lane / lanes;
      const bool used = j < array.rows;
      multiplier_[lane / 8][lane % 8] = used ? block_geometry::lane_multiplier[j] : 0;
      place_[lane / 8][lane % 8] = used ? lane - j * lanes : ~std::uint32_t{0};  // never found
    }
  }

  [[gnu::always_inline]] std::uint64_t least(const std::uint64_t* line,
                                             std::uint64_t hash) const noexcept {
    return lowest(find(line, hash, 0), find(line, hash, 1))[0];
  }
  [[gnu::always_inline]] void add(std::uint64_t* line, std::uint64_t hash,
                                  std::uint64_t count) const noexcept {
    const std::uint32_t more = count < most ? static_cast<std::uint32_t>(count) : most;
    for (std::uint32_t h = 0; h < 2; ++h) {
      const found f = find(line, hash, h);
      const half room = most_ - f.value;
      const half rise = room < more ? room : half{} + more;
      store(line, h, f.line + ((f.match & rise) << f.shift));
    }
  }
  [[gnu::always_inline]] void raise(std::uint64_t* line, std::uint64_t hash,
                                    std::uint64_t count) const noexcept {
    const found low = find(line, hash, 0);
    const found high = find(line, hash, 1);
    const std::uint64_t least = lowest(low, high)[0];
    const auto risen = static_cast<std::uint32_t>(cells::sum(least, count));
    lift(line, 0, low, risen);
    lift(line, 1, high, risen);
  }

 private:
  [[gnu::always_inline]] found find(const std::uint64_t* line, std::uint64_t hash,
                                    std::uint32_t h) const noexcept {
    found f;
    __builtin_memcpy(&f.line, line + std::size_t{h} * 4, sizeof f.line);
    const half mixed = multiplier_[h] * static_cast<std::uint32_t>(hash);
    const half at = ((mixed >> 8U) * row_) >> 24U;
    f.match = reinterpret_cast<half>(at / in_lane == place_[h]);
    f.shift = at % in_lane * bits;
    f.value = (f.line >> f.shift) & most;
    return f;
  }
  [[gnu::always_inline]] static void store(std::uint64_t* line, std::uint32_t h,
                                           const half& lanes) noexcept {
    __builtin_memcpy(line + std::size_t{h} * 4, &lanes, sizeof lanes);
  }
  [[gnu::always_inline]] static void lift(std::uint64_t* line, std::uint32_t h, const found& f,
                                          std::uint32_t risen) noexcept {
    const half all = half{} + risen;
    const half lifted = f.value < all ? all : f.value;
    store(line, h, f.line + ((f.match & (lifted - f.value)) << f.shift));
  }
  // The least counter of a key, in all lanes.
  [[gnu::always_inline]] half lowest(const found& low, const found& high) const noexcept {
    half a = lower(low.value | (low.match ^ ones_), high.value | (high.match ^ ones_));
    a = lower(a, __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3));
    a = lower(a, __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5));
    return lower(a, __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6));
  }
  [[gnu::always_inline]] static half lower(const half& a, const half& b) noexcept {
    return a < b ? a : b;
  }

  std::uint32_t row_;
  half multiplier_[2];
  half place_[2];
  half ones_;
  half most_;
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
