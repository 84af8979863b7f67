// Sizes of the sketches: from a target, a size or a guarantee to a shape, and the rate of a shape.
#include "bloomery/core/sizing_sketch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "checks.hpp"
#include "kind_table.hpp"
#include "line_sketch.hpp"

namespace bloomery::sizing {

namespace {

constexpr std::uint64_t line_bits = 512;

// With more keys than counters no depth is good for membership; four rows keep a count from being
// further off than epsilon with a probability of 98 %.
constexpr std::uint32_t usual_depth = 4;
constexpr std::uint32_t usual_counter = 32;  // 16 bits are full after 65,535 lines of a log

// Gong et al. 2018 use two rows.
constexpr std::uint32_t usual_k = 100;
constexpr std::uint32_t usual_top_k_depth = 2;
constexpr std::uint32_t top_k_counter = 32;

std::uint32_t checked_cell(const request& r) {
  const std::uint32_t cell = r.cell_bits.value_or(usual_counter);
  if (cell < 8 || cell > 64 || (cell & (cell - 1)) != 0) {
    detail::throw_bad_argument(
        "the number of bits in a cell", std::uint64_t{cell},
        "8, 16, 32 or 64 in a " + std::string(kind_name(r.kind)) + " filter");
  }
  return cell;
}

[[noreturn]] void throw_too_large(double bits) {
  detail::fail(errc::bad_argument,
               "this would need " + detail::to_text(bits) + " bits, more than the limit of 2^48");
}

// The bits that a size in the request allows, in whole words.
std::uint64_t bits_allowed(const request& r) {
  if (r.bits_per_key) {
    check_positive("bits per key", *r.bits_per_key);
    const double bits = std::ceil(static_cast<double>(r.keys) * *r.bits_per_key);
    if (bits > static_cast<double>(max_bits)) throw_too_large(bits);
    return std::max<std::uint64_t>(64, static_cast<std::uint64_t>(bits) / 64 * 64);
  }
  if (*r.bytes > max_bits / 8) {
    detail::throw_bad_argument("the number of bytes", *r.bytes, "at most 2^45");
  }
  return *r.bytes / 8 * 64;
}

void check_room(const request& r, std::uint64_t bits, std::uint64_t least) {
  if (bits >= least) return;
  detail::throw_bad_argument("the number of bytes", bits / 8,
                             "at least " + detail::to_text(least / 8) + " for a " +
                                 std::string(kind_name(r.kind)) + " filter like this");
}

// Whole cache lines that hold this many cells, behind the preamble.
std::uint64_t payload_bits(double cells, std::uint32_t cell_bits, std::uint64_t preamble) {
  const double lines = std::ceil(cells * cell_bits / static_cast<double>(line_bits));
  const double bits = lines * static_cast<double>(line_bits) + static_cast<double>(preamble);
  if (bits > static_cast<double>(max_bits)) throw_too_large(bits);
  return static_cast<std::uint64_t>(bits);
}

// ---- count-min --------------------------------------------------------------------------------

shape count_min_of(std::uint32_t depth, double width, std::uint32_t cell_bits,
                   std::uint32_t variant) {
  return {.kind = filter_kind::count_min,
          .probes = depth,
          .cell_bits = cell_bits,
          .variant = variant,
          .bits = payload_bits(depth * width, cell_bits, count_min_preamble_bits)};
}

// (1 - (1 - 1/w)^n)^d <= target, solved for w.
double width_for(double target, std::uint64_t keys, std::uint32_t depth) {
  const double row = std::pow(target, 1.0 / depth);
  return std::ceil(-1.0 / std::expm1(std::log1p(-row) / static_cast<double>(keys)));
}

shape count_min_for_target(const request& r, std::uint32_t cell_bits) {
  check_fpr(*r.fpr, r.keys);
  // The rate of a shape counts equal hashes too.
  const double target = planned_share * (*r.fpr - static_cast<double>(r.keys) * 0x1p-64);
  std::uint32_t depth = r.probes.value_or(1);
  if (!r.probes) {
    for (std::uint32_t d = 2; d <= max_probes; ++d) {
      if (d * width_for(target, r.keys, d) < depth * width_for(target, r.keys, depth)) depth = d;
    }
  }
  return count_min_of(depth, width_for(target, r.keys, depth), cell_bits, r.variant.value_or(0));
}

}  // namespace

std::uint64_t count_min_width(double epsilon) {
  if (!(epsilon > 0.0 && epsilon < 1.0)) {
    detail::throw_bad_argument("epsilon", epsilon, "above 0 and below 1");
  }
  const double width = std::ceil(std::numbers::e / epsilon);
  if (width > static_cast<double>(max_bits)) throw_too_large(width * 8);
  return static_cast<std::uint64_t>(width);
}

std::uint32_t count_min_depth(double delta) {
  if (!(delta > 0.0 && delta < 1.0)) {
    detail::throw_bad_argument("delta", delta, "above 0 and below 1");
  }
  const double depth = std::max(1.0, std::ceil(-std::log(delta)));
  if (depth > max_probes) {
    detail::fail(errc::unreachable, "a delta of " + detail::to_text(delta) + " needs " +
                                        detail::to_text(depth) + " rows; the limit is 64");
  }
  return static_cast<std::uint32_t>(depth);
}

double count_min_epsilon(std::uint64_t width) {
  if (width == 0) detail::throw_bad_argument("the width", width, "at least 1");
  return std::numbers::e / static_cast<double>(width);
}

double count_min_delta(std::uint32_t depth) {
  check_probes(depth, max_probes);
  return std::exp(-static_cast<double>(depth));
}

double count_min_epsilon(const shape& s) {
  if (!count_min_in_lines(s)) return count_min_epsilon(count_min_row(s));
  const double strength = count_min_line_strength(count_min_line_row(s), s.probes);
  return 1 / (strength * static_cast<double>(count_min_lines_of(s)));
}

shape count_min_shape(const count_min_guarantee& g) {
  if (g.one_line) return line_sketch_shape(g);
  const std::uint64_t width = count_min_width(g.epsilon);
  const shape s = count_min_of(count_min_depth(g.delta), static_cast<double>(width), g.cell_bits,
                               (g.conservative ? 1U : 0U) | (g.pairwise ? 2U : 0U));
  check_shape(s);
  return s;
}

shape count_min_shape(std::uint64_t width, std::uint32_t depth, std::uint32_t cell_bits) {
  if (width == 0) detail::throw_bad_argument("the width", width, "at least 1");
  check_probes(depth, max_probes);
  const double bits = static_cast<double>(width) * depth * cell_bits;
  if (bits > static_cast<double>(max_bits)) throw_too_large(bits);
  const shape s = {.kind = filter_kind::count_min,
                   .probes = depth,
                   .cell_bits = cell_bits,
                   .bits = count_min_preamble_bits + (width * depth * cell_bits + 63) / 64 * 64};
  check_shape(s);
  return s;
}

shape shape_for_count_min(const request& r) {
  const std::uint32_t cell_bits = checked_cell(r);
  if (r.probes) check_probes(*r.probes, max_probes);
  const bool in_lines = (r.variant.value_or(0) & count_min_one_line) != 0;
  if (r.fpr && in_lines) return line_sketch_for_target(r, cell_bits);
  if (r.fpr) return count_min_for_target(r, cell_bits);
  const std::uint64_t bits = bits_allowed(r);
  if (in_lines) {
    check_room(r, bits, count_min_preamble_bits + line_bits);
    return line_sketch_of_bits(r, cell_bits, bits);
  }
  check_room(r, bits, count_min_preamble_bits + 64);
  const std::uint64_t cells = (bits - count_min_preamble_bits) / cell_bits;
  const double per_key = static_cast<double>(cells) / static_cast<double>(r.keys);
  const std::uint32_t good = std::max(usual_depth, best_probes(filter_kind::partitioned, per_key));
  const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(cells, max_probes));
  const shape s = {.kind = filter_kind::count_min,
                   .probes = r.probes.value_or(std::min(good, most)),
                   .cell_bits = cell_bits,
                   .variant = r.variant.value_or(0),
                   .bits = bits};
  check_room(r, bits, count_min_preamble_bits + std::uint64_t{s.probes} * cell_bits);
  return s;
}

double fpr_of_count_min(const shape& s, std::uint64_t keys) {
  const std::uint64_t width = count_min_row(s);
  if (width == 0) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "at least 512 and a counter for each probe");
  }
  if (keys == 0) return 0;
  if (count_min_in_lines(s)) return line_sketch_fpr(s, keys);
  return std::min(
      1.0, partitioned_fpr(keys, width * s.probes, s.probes) + static_cast<double>(keys) * 0x1p-64);
}

// ---- spectral ---------------------------------------------------------------------------------

shape shape_for_spectral(const request& r) {
  const std::uint32_t cell_bits = checked_cell(r);
  if (r.probes) check_probes(*r.probes, max_probes);
  shape s = {
      .kind = filter_kind::spectral, .cell_bits = cell_bits, .variant = r.variant.value_or(0)};
  if (r.fpr) {
    // The counters of the primary filter are the bits of a classic one.
    const shape bits = shape_for_bits(
        {.kind = filter_kind::classic, .keys = r.keys, .fpr = r.fpr, .probes = r.probes});
    const double cells = static_cast<double>(bits.bits) * (s.variant == 2 ? 1.5 : 1.0);
    s.probes = bits.probes;
    s.bits = payload_bits(std::ceil(cells), cell_bits, 0);
    return s;
  }
  s.bits = bits_allowed(r);
  check_room(r, s.bits,
             s.variant == 2 ? std::max<std::uint64_t>(64, std::uint64_t{3} * cell_bits) : 64);
  const double per_key =
      static_cast<double>(spectral_split(s).primary) / static_cast<double>(r.keys);
  s.probes = r.probes.value_or(best_probes(filter_kind::classic, per_key));
  return s;
}

double fpr_of_spectral(const shape& s, std::uint64_t keys) {
  if (keys == 0) return 0;
  return std::min(1.0, classic_fpr_expected(keys, spectral_split(s).primary, s.probes) +
                           static_cast<double>(keys) * 0x1p-64);
}

// ---- top-k ------------------------------------------------------------------------------------

shape top_k_shape(std::uint32_t k, std::uint32_t depth, std::uint64_t width) {
  check_probes(depth, max_probes);
  const double bits =
      64.0 * (static_cast<double>(width) * depth + static_cast<double>(top_k_preamble_words));
  if (bits > static_cast<double>(max_bits)) throw_too_large(bits);
  if (width == 0) detail::throw_bad_argument("the width", width, "at least 1");
  const shape s = {.kind = filter_kind::top_k,
                   .probes = depth,
                   .cell_bits = top_k_counter,
                   .variant = k,
                   .bits = (width * depth + top_k_preamble_words) * 64};
  check_shape(s);
  return s;
}

shape shape_for_top_k(const request& r) {
  const std::uint32_t k = r.variant.value_or(usual_k);
  const std::uint32_t depth = r.probes.value_or(usual_top_k_depth);
  if (r.cell_bits.value_or(top_k_counter) != top_k_counter) {
    detail::throw_bad_argument("the number of bits in a cell", std::uint64_t{*r.cell_bits},
                               "32 in a top-k filter");
  }
  if (r.fpr) {
    check_fpr(*r.fpr, k);
    return top_k_shape(k, depth, top_k_usual_width(k));
  }
  check_probes(depth, max_probes);
  const std::uint64_t bits = bits_allowed(r);
  check_room(r, bits, 64 * (top_k_preamble_words + depth));
  return top_k_shape(k, depth, (bits / 64 - top_k_preamble_words) / depth);
}

// Only a listed key is contained, and a key is known by its 64-bit hash.
double fpr_of_top_k(const shape& s, std::uint64_t keys) {
  return static_cast<double>(std::min<std::uint64_t>(keys, s.variant)) * 0x1p-64;
}

// ---- multistage filters -----------------------------------------------------------------------

namespace {

void check_multistage(const multistage_filter_shape& s) {
  if (!(s.total > 0)) detail::throw_bad_argument("the total", s.total, "above 0");
  if (!(s.threshold > 0)) detail::throw_bad_argument("the threshold", s.threshold, "above 0");
  if (s.buckets == 0) detail::throw_bad_argument("the number of buckets", s.buckets, "at least 1");
  check_probes(s.stages, max_probes);
}

}  // namespace

// Others must bring threshold - size into the bucket of each stage, and at most
// total / (threshold - size) of the buckets have so much.
double multistage_pass_bound(const multistage_filter_shape& s, double size) {
  check_multistage(s);
  if (!(size >= 0)) detail::throw_bad_argument("the size", size, "at least 0");
  if (size >= s.threshold) return 1;
  const double full = s.threshold / (s.threshold - size) / s.strength();
  return std::min(1.0, std::pow(full, s.stages));
}

double multistage_flows_bound(const multistage_filter_shape& s, double flows) {
  check_multistage(s);
  if (!(flows >= 0)) detail::throw_bad_argument("the number of flows", flows, "at least 0");
  const double buckets = static_cast<double>(s.buckets);
  const double strength = s.strength();
  if (strength <= 1 || strength * flows <= buckets) {
    detail::fail(errc::unreachable, "stages of strength " + detail::to_text(strength) +
                                        " promise nothing for " + detail::to_text(flows) +
                                        " flows; it takes more buckets or a larger threshold");
  }
  const double small = flows * std::pow(flows / (strength * flows - buckets), s.stages);
  return std::max(buckets / (strength - 1), small) + small;
}

}  // namespace bloomery::sizing
