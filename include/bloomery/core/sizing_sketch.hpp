// Sizes and guarantees of the sketches. docs/math.md derives them; every function checks its
// arguments as those of core/sizing.hpp do.
#pragma once

#include <cstdint>

#include "bloomery/core/shape.hpp"

namespace bloomery {

// What a count-min sketch promises (Cormode and Muthukrishnan 2005): a count is never too low, and
// it is too high by more than epsilon times the total with a probability of at most delta.
struct count_min_guarantee {
  double epsilon = 0.001;
  double delta = 0.01;
  std::uint32_t cell_bits = 32;  // 8, 16, 32 or 64
  bool conservative = false;
  bool pairwise = false;  // rows by a pairwise independent family, all that the proof needs
  bool one_line = false;  // the counters of a key in one cache line; not with pairwise rows
};

namespace sizing {

// ---- count-min --------------------------------------------------------------------------------

// ceil(e / epsilon) counters in each of ceil(ln(1 / delta)) rows, and back.
[[nodiscard]] std::uint64_t count_min_width(double epsilon);
[[nodiscard]] std::uint32_t count_min_depth(double delta);
[[nodiscard]] double count_min_epsilon(std::uint64_t width);
[[nodiscard]] double count_min_delta(std::uint32_t depth);
// The smallest shape with this guarantee. Throws errc::unreachable when delta needs over 64 rows,
// or more than a line has room for.
[[nodiscard]] shape count_min_shape(const count_min_guarantee& g);

// Rows of exactly `width` counters; of one more where a single row would end amid a word. Throws
// errc::bad_argument beyond the limits of a shape.
[[nodiscard]] shape count_min_shape(std::uint64_t width, std::uint32_t depth,
                                    std::uint32_t cell_bits);

// A payload is 512 bits of preamble and then the counters.
inline constexpr std::uint64_t count_min_preamble_bits = 512;

// With this bit in the variant a key has all its counters in one line of 512 bits: each line has
// a piece of every row, as many whole lanes of 32 bits (64 for such counters) as fit in it.
inline constexpr std::uint32_t count_min_one_line = 4;
[[nodiscard]] constexpr bool count_min_in_lines(const shape& s) noexcept {
  return (s.variant & count_min_one_line) != 0;
}
[[nodiscard]] constexpr std::uint32_t count_min_line_row(const shape& s) noexcept {
  const std::uint32_t lane = s.cell_bits > 32 ? s.cell_bits : 32;
  return bits_per_block / lane / s.probes * (lane / s.cell_bits);
}
// Lines behind the preamble; 0 when the rows are not in lines.
[[nodiscard]] constexpr std::uint64_t count_min_lines_of(const shape& s) noexcept {
  return !count_min_in_lines(s) || s.bits <= count_min_preamble_bits
             ? 0
             : (s.bits - count_min_preamble_bits) / bits_per_block;
}
// The bound of docs/math.md for such a sketch: the largest a for which counts are too high by more
// than total / (a lines) with a probability of at most e^-depth; `row` counters of a row in a line.
[[nodiscard]] double count_min_line_strength(std::uint32_t row, std::uint32_t depth);

// Counters in a row, in all lines together: floor(floor((bits - 512) / cell_bits) / probes) where
// rows are not in lines; 0 when none fits.
[[nodiscard]] constexpr std::uint64_t count_min_row(const shape& s) noexcept {
  if (count_min_in_lines(s)) return count_min_lines_of(s) * count_min_line_row(s);
  return s.bits <= count_min_preamble_bits
             ? 0
             : (s.bits - count_min_preamble_bits) / s.cell_bits / s.probes;
}
// The guarantee of a shape of either form.
[[nodiscard]] double count_min_epsilon(const shape& s);

// ---- multistage filters (Estan and Varghese 2002) ---------------------------------------------

// Parallel stages before a memory of heavy flows: what reaches the threshold in each stage passes.
struct multistage_filter_shape {
  double total = 0;      // the most that all flows together come to in an interval
  double threshold = 0;  // from which a flow is heavy
  std::uint64_t buckets = 0;
  std::uint32_t stages = 0;

  // How many times larger than the share of a bucket the threshold is. Bounds need more than 1.
  [[nodiscard]] double strength() const noexcept {
    return threshold * static_cast<double>(buckets) / total;
  }
};
// A bound on the probability that a flow of this size passes: 1 from threshold * (1 - 1 / strength)
// on. Throws errc::bad_argument.
[[nodiscard]] double multistage_pass_bound(const multistage_filter_shape& s, double size);
// A bound on how many of so many flows pass in expectation, whatever their sizes. Throws
// errc::unreachable for stages that are too weak for any.
[[nodiscard]] double multistage_flows_bound(const multistage_filter_shape& s, double flows);

// ---- spectral ---------------------------------------------------------------------------------

// The counters of the two filters in a payload. Only recurring minimum (variant 2) has a secondary
// one: a third of the counters, rounded down, so half as many as the primary filter.
struct spectral_counters {
  std::uint64_t primary = 0;
  std::uint64_t secondary = 0;
};
[[nodiscard]] constexpr spectral_counters spectral_split(const shape& s) noexcept {
  const std::uint64_t all = s.bits / s.cell_bits;
  const std::uint64_t secondary = s.variant == 2 ? all / 3 : 0;
  return {.primary = all - secondary, .secondary = secondary};
}

// ---- top-k ------------------------------------------------------------------------------------

// Words before the buckets of a top-k sketch, and the buckets in a row of an empty one.
inline constexpr std::uint64_t top_k_preamble_words = 8;
[[nodiscard]] constexpr std::uint64_t top_k_row(const shape& s) noexcept {
  const std::uint64_t words = s.bits / 64;
  return words <= top_k_preamble_words ? 0 : (words - top_k_preamble_words) / s.probes;
}
// Buckets in a row where nobody says: eight for each listed key are enough for Zipf streams, and
// the megabyte of two rows of 65,536 for most streams with some ten thousand keys, in any order.
[[nodiscard]] constexpr std::uint64_t top_k_usual_width(std::uint32_t k) noexcept {
  constexpr std::uint64_t least = 65536;
  return 8 * std::uint64_t{k} > least ? 8 * std::uint64_t{k} : least;
}
// The empty sketch that lists k keys with rows of `width` buckets.
[[nodiscard]] shape top_k_shape(std::uint32_t k, std::uint32_t depth, std::uint64_t width);

}  // namespace sizing
}  // namespace bloomery
