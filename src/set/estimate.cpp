// Moments of the numbers of zeros.
//
// Let p be the chance that one draw sets a given bit, and r that it sets both of two bits i and j.
// A key makes `draws` independent draws (k in a classic filter, one, of k bits at once, in the
// others). Keys in A only spare bit i of A, keys in both A and B must spare i and j, so
//
//     Cov(zeros of X, zeros of Y) =
//         E(X) E(Y) / m^2 * sum over pairs (i, j) of ((1-2p+r)/(1-p)^2)^(draws * common) - 1
//
// where `common` counts the keys of both X and Y. The ratio is 1 + (r - p^2)/(1-p)^2, and pairs
// fall into a few classes with the same r: the bit itself, and by layout other bits of the slice,
// the lane, or a lane at some distance in the block. All the rest has r = p^2 or r = 0.
#include "bloomery/set/estimate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/core/kinds.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/core/block_geometry.hpp"

namespace bloomery {

namespace {

struct pair_class {
  double partners;  // how many bits j stand in this relation to a given bit i
  double both;      // chance r that one draw sets i and j
};

struct layout {
  double bits;
  double draws;  // per key
  double one;    // chance p that a draw sets a given bit
  std::vector<pair_class> classes;

  [[nodiscard]] double log_spared() const { return draws * std::log1p(-one); }
};

layout blocked_layout(double bits, std::uint32_t probes) {
  using block_geometry::lane_bits;
  using block_geometry::lane_pattern;
  using block_geometry::lanes;
  const double blocks = bits / bits_per_block;
  layout l{.bits = bits, .draws = 1, .one = probes / bits, .classes = {}};
  l.classes.push_back({1, l.one});
  // Other bits of the lane, and those of other blocks, are never set by the same key.
  l.classes.push_back({lane_bits - 1 + (bits - bits_per_block), 0});
  for (int distance = 1; distance < static_cast<int>(lanes); ++distance) {
    const std::uint16_t pattern = lane_pattern[probes];
    const int shared =
        std::popcount(static_cast<std::uint16_t>(pattern & std::rotl(pattern, distance)));
    // One of 16 rotations puts any given pair of the pattern's lanes on these two.
    const double both = shared / (lanes * blocks * lane_bits * lane_bits);
    l.classes.push_back({lane_bits, both});
  }
  return l;
}

// All eight lanes of a block in use: any two bits of different lanes are set together alike.
layout split_block_layout(double bits) {
  using block_geometry::lane_bits;
  using block_geometry::split_lanes;
  const double blocks = bits / bits_per_split_block;
  const double p = split_probes / bits;
  return {.bits = bits,
          .draws = 1,
          .one = p,
          .classes = {{1, p},
                      {lane_bits - 1 + (bits - bits_per_split_block), 0},
                      {(split_lanes - 1) * lane_bits, 1 / (blocks * lane_bits * lane_bits)}}};
}

layout moments_of(const shape& s) {
  check_shape(s);
  if (!is_of_bits(s.kind)) detail::fail(errc::unsupported, "no estimates for this kind of filter");
  const auto bits = static_cast<double>(s.bits);
  const double k = s.probes;
  switch (layout_of(s)) {
    case position_layout::anywhere:
      return {.bits = bits, .draws = k, .one = 1 / bits, .classes = {{1, 1 / bits}, {bits - 1, 0}}};
    case position_layout::slices: {
      const double p = k / bits;
      return {.bits = bits,
              .draws = 1,
              .one = p,
              .classes = {{1, p}, {bits / k - 1, 0}, {bits - bits / k, p * p}}};
    }
    case position_layout::blocks:
    case position_layout::none: break;
  }
  return s.block_bits == bits_per_block ? blocked_layout(bits, s.probes) : split_block_layout(bits);
}

// Cov(zeros of X, zeros of Y), as a share of the product of their means.
double relative_covariance(const layout& l, double common) {
  double sum = 0;
  for (const pair_class& c : l.classes) {
    const double step = (c.both - l.one * l.one) / ((1 - l.one) * (1 - l.one));
    sum += c.partners * std::expm1(common * l.draws * std::log1p(step));
  }
  return sum / l.bits;
}

// With q the share of zeros, n = ln q / ln(spared), so a relative error of the zeros divided by
// ln(spared) is an absolute error of n: the covariance of two estimates follows.
double covariance(const layout& l, double common) {
  const double slope = 1 / l.log_spared();
  return std::max(0.0, relative_covariance(l, common)) * slope * slope;
}

estimate with_variance(double value, double variance) {
  return {.value = value, .standard_error = std::sqrt(std::max(0.0, variance))};
}

}  // namespace

estimate estimate_keys(const shape& s, std::uint64_t bits_set) {
  const double value = sizing::estimate_keys(s, bits_set);
  if (!std::isfinite(value)) return {.value = value, .standard_error = value};
  return with_variance(value, covariance(moments_of(s), value));
}

comparison compare_bits(const shape& s, std::uint64_t set_a, std::uint64_t set_b,
                        std::uint64_t set_union) {
  if (set_union > s.bits || set_union < std::max(set_a, set_b) || set_union > set_a + set_b) {
    detail::throw_bad_argument("the number of bits set in both together", set_union,
                               "between the larger of the two and their sum");
  }
  comparison c;
  c.shared_bits = set_a + set_b - set_union;
  const layout l = moments_of(s);
  c.keys_a = estimate_keys(s, set_a);
  c.keys_b = estimate_keys(s, set_b);
  c.keys_union = estimate_keys(s, set_union);
  const double a = c.keys_a.value;
  const double b = c.keys_b.value;
  const double u = c.keys_union.value;
  if (!std::isfinite(u)) {
    const estimate unknown{.value = std::numeric_limits<double>::infinity(),
                           .standard_error = std::numeric_limits<double>::infinity()};
    c.keys_intersection = c.only_a = c.only_b = c.jaccard = unknown;
    return c;
  }
  // The union cannot be smaller than either set, nor larger than both together.
  const double both = std::clamp(a + b - u, 0.0, std::min(a, b));
  // Keys that two of the sets A, B and A or B have in common decide their covariances.
  const double aa = covariance(l, a);
  const double bb = covariance(l, b);
  const double uu = covariance(l, u);
  const double ab = covariance(l, both);
  const double au = aa;
  const double bu = bb;
  c.keys_intersection = with_variance(both, aa + bb + uu + 2 * ab - 2 * au - 2 * bu);
  c.only_a = with_variance(std::max(0.0, u - b), uu + bb - 2 * bu);
  c.only_b = with_variance(std::max(0.0, u - a), uu + aa - 2 * au);
  if (u > 0) {
    const double j = both / u;
    const double du = -(a + b) / u;  // J = (a + b)/u - 1: derivatives 1/u, 1/u and -(a + b)/u^2
    const double variance = (aa + bb + 2 * ab + du * du * uu + 2 * du * (au + bu)) / (u * u);
    c.jaccard = with_variance(j, variance);
  }
  return c;
}

}  // namespace bloomery
