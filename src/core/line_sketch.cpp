// A line has d rows of R counters each. Given which keys share a line its rows are independent, but
// all of them have the same load, so that e^-d does not follow as it does for rows of their own.
// docs/math.md proves what holds instead, for hashes as good as random ones: with L lines a count
// is too high by more than t with a probability of at most
//
//     R^-d * T_d(total / (t L)),   T_d(x) = the sum of S(d, b) x^b over b = 1 to d
//
// where S(d, b) is the number of ways to part d things into b heaps. T_d(x) is the d-th moment of a
// Poisson number of mean x.
#include "line_sketch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "bloomery/core/error.hpp"
#include "checks.hpp"
#include "kind_table.hpp"
#include "loads.hpp"

namespace bloomery::sizing {

namespace {

constexpr std::uint32_t least_in_row =
    2;  // a row of one counter says nothing that the line does not
constexpr std::uint32_t fewest_for_counts = 4;

// A row has a lane of its own, and two counters.
std::uint32_t most_rows(std::uint32_t cell_bits) {
  return std::min(bits_per_block / 32, bits_per_block / cell_bits / least_in_row);
}

shape line_shape(double lines, std::uint32_t depth, std::uint32_t cell_bits,
                 std::uint32_t variant) {
  const double bits = lines * bits_per_block + static_cast<double>(count_min_preamble_bits);
  if (bits > static_cast<double>(max_bits)) {
    detail::fail(errc::bad_argument,
                 "this would need " + detail::to_text(bits) + " bits, more than the limit of 2^48");
  }
  const shape s = {.kind = filter_kind::count_min,
                   .probes = depth,
                   .cell_bits = cell_bits,
                   .variant = variant | count_min_one_line,
                   .bits = static_cast<std::uint64_t>(bits)};
  check_shape(s);
  return s;
}

// T_d(x) from the numbers of parts, made row by row: S(d, b) = b S(d-1, b) + S(d-1, b-1).
class poisson_moments {
 public:
  explicit poisson_moments(std::uint32_t depth) : depth_(depth) {
    parts_[0] = 1;
    for (std::uint32_t d = 1; d <= depth; ++d) {
      for (std::uint32_t b = d; b > 0; --b) parts_[b] = b * parts_[b] + parts_[b - 1];
      parts_[0] = 0;
    }
  }
  [[nodiscard]] double at(double x) const {
    double sum = 0;
    for (std::uint32_t b = depth_; b > 0; --b) sum = (sum + parts_[b]) * x;
    return sum;
  }

 private:
  std::uint32_t depth_;
  std::array<double, max_probes + 1> parts_{};
};

// The share of absent keys that are taken for present: by what is in their line, or because a key
// there has the same 32 bits (as in blocked_fpr).
double line_rate(double keys, double lines, std::uint32_t row, std::uint32_t depth) {
  const long double log_stays = std::log1p(-1.0L / row);
  const double used = mean_over_loads(keys, lines, [&](long double load) {
    return std::pow(-std::expm1(load * log_stays), static_cast<long double>(depth));
  });
  return std::min(1.0, used + keys * std::max(0x1p-32 / lines, 0x1p-64));
}

std::uint32_t row_in_line(std::uint32_t cell_bits, std::uint32_t depth) {
  return count_min_line_row({.probes = depth, .cell_bits = cell_bits});
}

}  // namespace

void check_count_min(const shape& s) {
  if (!count_min_in_lines(s)) return;
  if (s.probes > most_rows(s.cell_bits)) {
    detail::throw_bad_argument("the number of probes", std::uint64_t{s.probes},
                               "at most " + detail::to_text(std::uint64_t{most_rows(s.cell_bits)}) +
                                   " for rows of " + detail::to_text(std::uint64_t{s.cell_bits}) +
                                   "-bit counters in one line");
  }
  if (s.bits % bits_per_block != 0 || s.bits < count_min_preamble_bits + bits_per_block) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "a multiple of 512 and at least 1024 for rows in one line");
  }
}

double count_min_line_strength(std::uint32_t row, std::uint32_t depth) {
  check_probes(depth, max_probes);
  if (row == 0) detail::throw_bad_argument("the row in a line", std::uint64_t{row}, "at least 1");
  const poisson_moments moment(depth);
  const double limit = std::pow(row / std::exp(1.0), depth);
  // T_d(x) is at least x and at least x^d.
  double low = 0;
  double high = std::min(limit, row / std::exp(1.0));
  if (moment.at(high) <= limit) return high;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (moment.at(middle) <= limit ? low : high) = middle;
  }
  return low;
}

shape line_sketch_shape(const count_min_guarantee& g) {
  if (g.pairwise) {
    detail::fail(errc::bad_argument, "rows in one line cannot be pairwise independent ones");
  }
  const shape one = line_shape(1, 1, g.cell_bits, g.conservative ? 1 : 0);  // checks the counters
  static_cast<void>(count_min_width(g.epsilon));                            // and epsilon
  const std::uint32_t depth = count_min_depth(g.delta);
  if (depth > most_rows(g.cell_bits)) {
    detail::fail(errc::unreachable,
                 "a delta of " + detail::to_text(g.delta) + " needs " +
                     detail::to_text(std::uint64_t{depth}) + " rows; a line has room for " +
                     detail::to_text(std::uint64_t{most_rows(g.cell_bits)}) + " of counters of " +
                     detail::to_text(std::uint64_t{g.cell_bits}) + " bits");
  }
  const double strength = count_min_line_strength(row_in_line(g.cell_bits, depth), depth);
  return line_shape(std::ceil(1 / (strength * g.epsilon)), depth, g.cell_bits, one.variant);
}

shape line_sketch_for_target(const request& r, std::uint32_t cell_bits) {
  check_fpr(*r.fpr, r.keys);
  const auto keys = static_cast<double>(r.keys);
  const double target = planned_share * *r.fpr;
  double lines = 0x1p52;  // more than any shape has, and still a whole number less one
  std::uint32_t depth = r.probes.value_or(1);
  const std::uint32_t last = r.probes.value_or(most_rows(cell_bits));
  const shape one =
      line_shape(1, depth, cell_bits, r.variant.value_or(0));  // checks what was asked
  for (std::uint32_t d = depth; d <= last; ++d) {
    const std::uint32_t row = row_in_line(cell_bits, d);
    if (!(lines > 1 && line_rate(keys, lines - 1, row, d) <= target)) continue;
    double low = 0;  // too few
    double high = lines - 1;
    while (high - low > 1) {
      const double middle = std::floor((low + high) / 2);
      (line_rate(keys, middle, row, d) <= target ? high : low) = middle;
    }
    lines = high;
    depth = d;
  }
  return line_shape(lines, depth, cell_bits, one.variant);
}

shape line_sketch_of_bits(const request& r, std::uint32_t cell_bits, std::uint64_t bits) {
  const std::uint64_t whole = (bits - count_min_preamble_bits) / bits_per_block;
  const auto lines = static_cast<double>(whole);
  const std::uint32_t last = most_rows(cell_bits);
  std::uint32_t depth = std::min(fewest_for_counts, last);  // few rows are too few for counts
  const auto rate = [&](std::uint32_t d) {
    return line_rate(static_cast<double>(r.keys), lines, row_in_line(cell_bits, d), d);
  };
  for (std::uint32_t d = depth + 1; d <= last; ++d) {
    if (rate(d) < rate(depth)) depth = d;
  }
  return line_shape(lines, r.probes.value_or(depth), cell_bits, r.variant.value_or(0));
}

double line_sketch_fpr(const shape& s, std::uint64_t keys) {
  return line_rate(static_cast<double>(keys), static_cast<double>(count_min_lines_of(s)),
                   count_min_line_row(s), s.probes);
}

}  // namespace bloomery::sizing
