// The exact false-positive rate of the blocked and of the split-block layout.
//
// Fix a query; by symmetry its rotation is 0, so it asks for one bit in each lane of the pattern P.
// One key of the same block leaves all of T, a subset of those k bits, untouched with probability
//
//     g(T) = mean over the 16 rotations r of (1 - 1/L)^|T and rot_r(P)|
//
// where L is the number of positions in a lane: 32 bits, 32/w counters of w bits, or the bits of a
// generation that shares the lane with others.
// A block's load is Binomial(n, 1/B), so all n keys leave T untouched with probability
// (1 - (1 - g(T))/B)^n, and inclusion-exclusion over T gives the probability that every bit is set.
// Subsets with the same g are summed beforehand: 32,768 subsets at k = 15 are a few hundred groups.
//
// With all 16 lanes in use the rotation does nothing and the lanes are independent given the load,
// so k = 16, that of the lowest targets, has a form without an alternating sum, which loses digits.
// Split blocks, of eight lanes and all in use, have the same.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <vector>

#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/core/block_geometry.hpp"
#include "checks.hpp"
#include "loads.hpp"

namespace bloomery::sizing {

namespace {

using block_geometry::lane_bits;
using block_geometry::lane_pattern;
using block_geometry::lanes;

struct term {
  long double one_minus_g;
  long double weight;  // number of even subsets minus number of odd ones
};

std::vector<term> make_terms(std::uint32_t probes, std::uint32_t positions) {
  std::array<std::uint16_t, lanes> rotated{};
  for (std::uint32_t r = 0; r < lanes; ++r) {
    rotated[r] = std::rotr(lane_pattern[probes], static_cast<int>(r));
  }
  // 1 - (1 - 1/L)^i, from i = 0 upwards, as the key's chance to touch at least one of i bits.
  std::array<long double, lanes + 1> touched{};
  for (std::uint32_t i = 0; i <= lanes; ++i) {
    touched[i] = -std::expm1(static_cast<long double>(i) * std::log1p(-1.0L / positions));
  }
  using histogram = std::array<std::uint8_t, lanes + 1>;
  std::map<histogram, std::int64_t> groups;
  const std::uint32_t pattern = lane_pattern[probes];
  for (std::uint32_t subset = pattern;; subset = (subset - 1) & pattern) {
    histogram shared{};
    for (const std::uint16_t lanes_of_key : rotated) {
      ++shared[static_cast<std::size_t>(std::popcount(subset & lanes_of_key))];
    }
    groups[shared] += std::popcount(subset) % 2 == 0 ? 1 : -1;
    if (subset == 0) break;
  }
  std::vector<term> terms;
  terms.reserve(groups.size());
  for (const auto& [shared, weight] : groups) {
    if (weight == 0) continue;
    long double sum = 0;
    for (std::uint32_t i = 0; i <= lanes; ++i) sum += shared[i] * touched[i];
    terms.push_back({sum / lanes, static_cast<long double>(weight)});
  }
  return terms;
}

// Made once for each number of probes and each L from 2 to 32.
const std::vector<term>& terms_of(std::uint32_t probes, std::uint32_t positions) {
  static std::array<std::array<std::once_flag, lanes + 1>, lane_bits + 1> made;
  static std::array<std::array<std::vector<term>, lanes + 1>, lane_bits + 1> terms;
  std::vector<term>& own = terms[positions][probes];
  std::call_once(made[positions][probes], [&] { own = make_terms(probes, positions); });
  return own;
}

void check_blocked(std::uint64_t keys, std::uint64_t blocks, std::uint32_t probes) {
  check_keys(keys);
  check_probes(probes, max_blocked_probes);
  if (blocks == 0 || blocks > max_bits / bits_per_block) {
    detail::throw_bad_argument("the number of blocks", blocks, "from 1 to 2^39");
  }
}

// Two keys with the same 32 bits inside a block are one key to it. (Beyond 2^32 blocks those bits
// also help to choose the block, and the whole hash decides.)
double same_key(long double keys, long double blocks) {
  return static_cast<double>(keys * std::max(0x1p-32L / blocks, 0x1p-64L));
}

// Every key has a position in each of `all` lanes: they are independent given the load.
double all_lanes_fpr(std::uint64_t keys, std::uint64_t blocks, std::uint32_t all,
                     std::uint32_t positions) {
  const long double log_stays = std::log1p(-1.0L / positions);
  const double all_set = mean_over_loads(
      static_cast<double>(keys), static_cast<double>(blocks),
      [&](long double load) { return std::pow(-std::expm1(load * log_stays), all); });
  return std::min(
      1.0, all_set + same_key(static_cast<long double>(keys), static_cast<long double>(blocks)));
}

}  // namespace

double blocked_fpr(std::uint64_t keys, std::uint64_t blocks, std::uint32_t probes,
                   std::uint32_t lane_positions) {
  check_blocked(keys, blocks, probes);
  if (lane_positions < 2 || lane_positions > lane_bits) {
    detail::throw_bad_argument("the number of positions in a lane", std::uint64_t{lane_positions},
                               "from 2 to 32");
  }
  if (probes == lanes) return all_lanes_fpr(keys, blocks, lanes, lane_positions);
  const auto n = static_cast<long double>(keys);
  const auto b = static_cast<long double>(blocks);
  long double sum = 0;
  for (const term& t : terms_of(probes, lane_positions)) {
    sum += t.weight * std::exp(n * std::log1p(-t.one_minus_g / b));
  }
  // What rounding may have left of 2^k terms; never report less than that.
  const long double noise = static_cast<long double>(1U << probes) * 1e-19L;
  return std::min(1.0, static_cast<double>(std::clamp(sum, noise, 1.0L)) + same_key(n, b));
}

double split_block_fpr(std::uint64_t keys, std::uint64_t blocks) {
  check_keys(keys);
  if (blocks == 0 || blocks > max_bits / bits_per_split_block) {
    detail::throw_bad_argument("the number of blocks", blocks, "from 1 to 2^40");
  }
  return all_lanes_fpr(keys, blocks, block_geometry::split_lanes, lane_bits);
}

double blocked_fpr_simple(std::uint64_t keys, std::uint64_t blocks, std::uint32_t probes) {
  check_blocked(keys, blocks, probes);
  const long double log_stays = std::log1p(-static_cast<long double>(probes) / bits_per_block);
  return mean_over_loads(
      static_cast<double>(keys), static_cast<double>(blocks), [&](long double load) {
        return std::pow(-std::expm1(load * log_stays), static_cast<long double>(probes));
      });
}

double small_blocks_fpr(std::uint64_t keys, std::uint64_t blocks, std::uint64_t block_bits,
                        std::uint32_t probes) {
  check_keys(keys);
  if (blocks == 0) detail::throw_bad_argument("the number of blocks", blocks, "at least 1");
  return mean_over_loads(
      static_cast<double>(keys), static_cast<double>(blocks), [&](long double load) {
        return load < 1 ? 0.0L
                        : static_cast<long double>(classic_fpr_expected(
                              static_cast<std::uint64_t>(load), block_bits, probes));
      });
}

}  // namespace bloomery::sizing
