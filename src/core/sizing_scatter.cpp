// How far the rate of one filter lies from the model's mean: its relative standard deviation over
// all hash functions. docs/math.md derives the formulas and has the simulation that checks them.
#include "bloomery/core/sizing_scatter.hpp"

#include <algorithm>
#include <cmath>

#include "bloomery/core/sizing.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "bloomery/detail/core/window_geometry.hpp"
#include "kind_table.hpp"
#include "log_gamma.hpp"
#include "saturating.hpp"

namespace bloomery::sizing {

namespace {

// The variance of the share of cells that c balls a cell hit, relative to the square of its mean.
double fill_variance(double c, double cells) {
  const double zero = std::exp(-c);
  const double fill = -std::expm1(-c);
  const double twice = c < 1e-3 ? c * c * (0.5 - c / 3) : 1 - (1 + c) * zero;  // no digits lost
  return zero * twice / (cells * fill * fill);
}

// One fill to the power k: relative deviations add up.
double scatter_anywhere(double keys, double cells, double probes) {
  return probes * std::sqrt(fill_variance(keys * probes / cells, cells));
}

// A product of k independent fills: their variances add up.
double scatter_of_slices(double keys, double cells, double probes) {
  return std::sqrt(probes * fill_variance(keys * probes / cells, cells / probes));
}

// Blocks are small classic filters, and the rate is their mean. Loads are a Poisson number each,
// given their sum: what they have in common with it, their covariance, does not scatter.
double scatter_of_blocks(double keys, double blocks, double cells, double probes) {
  if (blocks <= 1) return scatter_anywhere(keys, cells, probes);
  const double load = keys / blocks;
  const double first = std::floor(std::max(0.0, load - 12 * std::sqrt(load)));
  const double last = std::ceil(load + 12 * std::sqrt(load) + 30);
  const auto log_factorial = static_cast<double>(log_gamma(first + 1));
  double chance = std::exp(first * std::log(load) - load - log_factorial);
  double mean = 0;
  double square = 0;
  double with_load = 0;
  for (double i = first; i <= last; chance *= load / ++i) {
    if (i == 0) continue;
    const double rate = std::pow(-std::expm1(i * std::log1p(-probes / cells)), probes);
    const double inside = scatter_anywhere(i, cells, probes);
    mean += chance * rate;
    square += chance * rate * rate * (1 + inside * inside);
    with_load += chance * rate * (i - load);
  }
  const double variance = square - mean * mean - with_load * with_load / load;
  return std::sqrt(std::max(0.0, variance) / blocks) / mean;
}

double scatter_of_lines(std::uint64_t keys, std::uint64_t lines, std::uint32_t probes,
                        std::uint32_t cell_bits = 1) {
  return scatter_of_blocks(static_cast<double>(keys), static_cast<double>(lines),
                           static_cast<double>(bits_per_block) / cell_bits, probes);
}

}  // namespace

double scatter_of_classic(const shape& s, std::uint64_t keys) {
  return scatter_anywhere(static_cast<double>(keys), static_cast<double>(s.bits), s.probes);
}

double scatter_of_partitioned(const shape& s, std::uint64_t keys) {
  return scatter_of_slices(static_cast<double>(keys), static_cast<double>(s.bits), s.probes);
}

double scatter_of_blocked(const shape& s, std::uint64_t keys) {
  return scatter_of_lines(keys, s.bits / bits_per_block, s.probes);
}

// The generations are independent and alike.
double scatter_of_windowed(const shape& s, std::uint64_t keys) {
  const detail::window_geometry geometry(s);
  const double bits = static_cast<double>(block_geometry::lanes) * geometry.positions;
  const std::uint64_t in_one = detail::divided_up(keys, s.variant);
  return scatter_of_blocks(static_cast<double>(in_one), static_cast<double>(geometry.blocks(s)),
                           bits, s.probes) /
         std::sqrt(static_cast<double>(geometry.slots));
}

double scatter_of_split_block(const shape& s, std::uint64_t keys) {
  const std::uint64_t blocks = s.bits / bits_per_split_block;
  return scatter_of_blocks(static_cast<double>(keys), static_cast<double>(blocks),
                           bits_per_split_block, s.probes);
}

double scatter_of_counting(const shape& s, std::uint64_t keys) {
  if (s.block_bits != 0) {
    return scatter_of_lines(keys, s.bits / bits_per_block, s.probes, s.cell_bits);
  }
  const std::uint64_t cells = s.bits / s.cell_bits;
  return scatter_anywhere(static_cast<double>(keys), static_cast<double>(cells), s.probes);
}

double scatter_of_count_min(const shape& s, std::uint64_t keys) {
  if (count_min_in_lines(s)) {
    const double in_line = static_cast<double>(count_min_line_row(s)) * s.probes;
    return scatter_of_blocks(static_cast<double>(keys), static_cast<double>(count_min_lines_of(s)),
                             in_line, s.probes);
  }
  const std::uint64_t cells = count_min_row(s) * s.probes;
  return scatter_of_slices(static_cast<double>(keys), static_cast<double>(cells), s.probes);
}

double scatter_of_spectral(const shape& s, std::uint64_t keys) {
  return scatter_anywhere(static_cast<double>(keys), static_cast<double>(spectral_split(s).primary),
                          s.probes);
}

double likely_fpr(const shape& s, std::uint64_t keys) {
  const double mean = fpr(s, keys);
  const auto scatter = row_of(s.kind).scatter;
  if (keys == 0 || scatter == nullptr) return mean;
  // As if the logarithm were normal: a rate is a product, and has no values below 0. Then 99 % lie
  // below 2.33 deviations; the mean of few blocks has a longer tail.
  constexpr double deviations = 2.5;
  const double relative = scatter(s, keys);
  const double variance = std::log1p(relative * relative);
  return std::min(1.0, mean * std::exp(deviations * std::sqrt(variance) - variance / 2));
}

}  // namespace bloomery::sizing
