// From what the caller knows to a shape: the smallest filter that keeps its promise.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "bloomery/core/sizing.hpp"
#include "bloomery/core/sizing_scatter.hpp"
#include "checks.hpp"
#include "kind_table.hpp"
#include "least_number.hpp"

namespace bloomery::sizing {

namespace {

constexpr std::uint64_t word_bits = 64;

// Where one more probe begins to pay in a large blocked filter: the bits per key, and the fpr
// there. Solved from blocked_fpr(k) = blocked_fpr(k + 1); a test solves it again.
struct probe_step {
  double bits_per_key;
  double fpr;
};
constexpr std::array<probe_step, 15> blocked_steps = {{{2.1081, 0.377713},
                                                       {3.5530, 0.188152},
                                                       {4.9822, 0.0951417},
                                                       {6.6764, 0.0430201},
                                                       {8.3324, 0.0202925},
                                                       {10.0330, 0.00958619},
                                                       {12.0777, 0.00402639},
                                                       {14.1334, 0.00175362},
                                                       {16.5778, 0.000687564},
                                                       {19.0200, 0.000284861},
                                                       {21.9187, 0.000106794},
                                                       {25.3949, 3.59716e-05},
                                                       {28.8846, 1.31454e-05},
                                                       {33.2343, 4.16139e-06},
                                                       {38.4743, 1.19247e-06}}};

template <class Enough>
std::uint32_t blocked_probes(Enough enough) {
  const auto step = std::find_if(blocked_steps.begin(), blocked_steps.end(), enough);
  return static_cast<std::uint32_t>(step - blocked_steps.begin()) + 1;
}

// What a kind counts in: parts of the array have whole units, and folding ORs neighbouring parts.
struct unit {
  std::uint64_t bits;   // of one unit
  std::uint64_t parts;  // equal parts of the array: the slices of a partitioned filter, else 1
};

bool in_blocks(filter_kind kind) { return row_of(kind).layout == position_layout::blocks; }

// Of the kinds in blocks.
std::uint32_t block_bits_of(filter_kind kind) {
  return row_of(kind).blocks == block_use::half_lines ? bits_per_split_block : bits_per_block;
}

unit unit_of(filter_kind kind, std::uint32_t probes) {
  if (in_blocks(kind)) return {.bits = block_bits_of(kind), .parts = 1};
  const bool sliced = row_of(kind).layout == position_layout::slices;
  return sliced ? unit{.bits = 8, .parts = probes} : unit{.bits = word_bits, .parts = 1};
}

// A power of two of at most 1/1024 of the units. A filter of several blocks has an even number of
// them even when that costs more: without it there would be nothing to fold.
std::uint64_t fold_quantum(filter_kind kind, std::uint64_t units) {
  const std::uint64_t quantum = std::bit_floor(std::max<std::uint64_t>(1, units / 1024));
  return in_blocks(kind) && units > 1 ? std::max<std::uint64_t>(2, quantum) : quantum;
}

[[noreturn]] void throw_too_large(const request& r, double bits) {
  detail::fail(errc::bad_argument,
               detail::to_text(r.keys) + " keys would need " + detail::to_text(bits) +
                   " bits, more than the limit of 2^48; use fewer keys or a higher fpr");
}

shape shape_of(const request& r, std::uint32_t probes, std::uint64_t units_per_part) {
  const unit u = unit_of(r.kind, probes);
  return {.kind = r.kind,
          .scheme = probe_scheme::multiply,
          .probes = probes,
          .block_bits = in_blocks(r.kind) ? block_bits_of(r.kind) : 0,
          .bits = units_per_part * u.parts * u.bits};
}

shape round_up(const request& r, std::uint32_t probes, std::uint64_t units) {
  const std::uint64_t quantum = fold_quantum(r.kind, units);
  return shape_of(r, probes, (units + quantum - 1) / quantum * quantum);
}

shape round_down(const request& r, std::uint32_t probes, std::uint64_t units) {
  return shape_of(r, probes, units - units % fold_quantum(r.kind, units));
}

// The fewest units with which the model meets the target, in log(fpr), which is nearly straight.
std::uint64_t least_units(const request& r, std::uint32_t probes) {
  const unit u = unit_of(r.kind, probes);
  const std::uint64_t most = max_bits / (u.parts * u.bits);
  const double target = planned_share * *r.fpr;
  const auto excess = [&](std::uint64_t units) {
    return std::log(fpr(shape_of(r, probes, units), r.keys)) - std::log(target);
  };
  const double guess = static_cast<double>(r.keys) * bits_per_key(probes, target) /
                       static_cast<double>(u.parts * u.bits);
  if (guess >= static_cast<double>(most)) {
    throw_too_large(r, guess * static_cast<double>(u.parts * u.bits));
  }
  const std::uint64_t units = least_number(guess, most, -std::log(target), excess);
  if (units == 0) {
    throw_too_large(r, static_cast<double>(most) * static_cast<double>(u.parts * u.bits));
  }
  return units;
}

// The probes of the kinds that have no choice.
std::optional<std::uint32_t> fixed_probes(filter_kind kind) {
  const limits& probes = row_of(kind).probes;
  return probes.least == probes.most ? std::optional(probes.most) : std::nullopt;
}

// The probes for a target: near log2(1/fpr) for classic and partitioned, by the table for blocked.
std::uint32_t probes_for_target(const request& r) {
  if (const auto fixed = fixed_probes(r.kind)) return *fixed;
  if (in_blocks(r.kind)) {
    return blocked_probes([&](const probe_step& step) { return step.fpr <= *r.fpr; });
  }
  const double ideal = -std::log2(*r.fpr);
  const auto low = static_cast<std::uint32_t>(std::clamp(std::floor(ideal), 1.0, 64.0));
  const std::uint32_t high = std::min(low + 1, max_probes);
  return bits_per_key(high, *r.fpr) < bits_per_key(low, *r.fpr) ? high : low;
}

shape shape_for_target(const request& r) {
  check_fpr(*r.fpr, r.keys);
  if (in_blocks(r.kind) && *r.fpr < blocked_fpr_limit) {
    detail::fail(errc::unreachable, "a " + std::string(kind_name(r.kind)) +
                                        " filter cannot honour an fpr of " +
                                        detail::to_text(*r.fpr) +
                                        "; its limit is 1e-9, use a classic filter below it");
  }
  const std::uint32_t probes = r.probes ? *r.probes : probes_for_target(r);
  return round_up(r, probes, least_units(r, probes));
}

shape shape_for_bits_per_key(const request& r) {
  check_positive("bits per key", *r.bits_per_key);
  const double bits = std::ceil(static_cast<double>(r.keys) * *r.bits_per_key);
  if (bits > static_cast<double>(max_bits)) throw_too_large(r, bits);
  const std::uint32_t probes = r.probes ? *r.probes : best_probes(r.kind, *r.bits_per_key);
  const unit u = unit_of(r.kind, probes);
  const auto wanted = static_cast<std::uint64_t>(bits);
  const std::uint64_t step = u.parts * u.bits;
  return round_up(r, probes, (wanted + step - 1) / step);
}

shape shape_for_bytes(const request& r) {
  if (*r.bytes > max_bits / 8) {
    detail::throw_bad_argument("the number of bytes", *r.bytes, "at most 2^45");
  }
  // The array is stored in whole words, and a blocked one in whole blocks.
  const std::uint64_t bits = *r.bytes / 8 * word_bits;
  const double per_key = static_cast<double>(bits) / static_cast<double>(r.keys);
  const std::uint32_t probes =
      r.probes ? *r.probes : (bits == 0 ? 1 : best_probes(r.kind, per_key));
  const unit u = unit_of(r.kind, probes);
  const std::uint64_t units = bits / (u.parts * u.bits);
  if (units == 0) {
    const std::uint64_t least = (u.parts * u.bits + word_bits - 1) / word_bits * 8;
    detail::throw_bad_argument("the number of bytes", *r.bytes,
                               "at least " + detail::to_text(least) + " for a " +
                                   std::string(kind_name(r.kind)) + " filter with " +
                                   detail::to_text(std::uint64_t{probes}) +
                                   (probes == 1 ? " probe" : " probes"));
  }
  return round_down(r, probes, units);
}

}  // namespace

shape shape_for_bits(const request& r) {
  if (r.fpr) return shape_for_target(r);
  return r.bits_per_key ? shape_for_bits_per_key(r) : shape_for_bytes(r);
}

namespace {

// A key with the hash of another is that other; the blocked model counts those itself.
double with_same_hash(double rate, std::uint64_t keys) {
  return std::min(1.0, rate + static_cast<double>(keys) * 0x1p-64);
}

}  // namespace

double fpr_of_classic(const shape& s, std::uint64_t keys) {
  return with_same_hash(classic_fpr_expected(keys, s.bits, s.probes), keys);
}
double fpr_of_partitioned(const shape& s, std::uint64_t keys) {
  return with_same_hash(partitioned_fpr(keys, s.bits, s.probes), keys);
}
double fpr_of_blocked(const shape& s, std::uint64_t keys) {
  return blocked_fpr(keys, s.bits / s.block_bits, s.probes);
}
double fpr_of_split_block(const shape& s, std::uint64_t keys) {
  return split_block_fpr(keys, s.bits / s.block_bits);
}

double fpr(const shape& s, std::uint64_t keys) {
  check_shape(s);
  return keys == 0 ? 0.0 : row_of(s.kind).fpr(s, keys);
}

std::uint32_t lines_of_lookup(const shape& s) {
  check_shape(s);
  const kind_row& row = row_of(s.kind);
  if (row.lines != nullptr) return row.lines(s);
  return s.block_bits == bits_per_block ? 1 : s.probes;
}

std::uint32_t lines_of_add(const shape& s) {
  const std::uint32_t lookup = lines_of_lookup(s);
  const kind_row& row = row_of(s.kind);
  if (!row.can.add) return 0;
  return row.adds_to_one_line ? 1 : lookup;
}

namespace {

// ln of the chance that one key leaves a given bit alone: its probes are anywhere, or all differ.
double log_stays_zero(double bits, double probes, bool anywhere) {
  return anywhere ? probes * std::log1p(-1.0 / bits) : std::log1p(-probes / bits);
}

}  // namespace

double estimate_keys(const shape& s, std::uint64_t bits_set) {
  check_shape(s);
  if (bits_set > s.bits) {
    detail::throw_bad_argument("the number of set bits", bits_set, "at most the number of bits");
  }
  if (bits_set == 0) return 0.0;
  if (bits_set == s.bits) return std::numeric_limits<double>::infinity();
  const auto bits = static_cast<double>(s.bits);
  const double log_zero = std::log1p(-static_cast<double>(bits_set) / bits);
  return log_zero / log_stays_zero(bits, s.probes, layout_of(s) == position_layout::anywhere);
}

double expected_fill(const shape& s, std::uint64_t keys) {
  check_shape(s);
  const position_layout layout = layout_of(s);
  if (layout == position_layout::none) {
    detail::fail(errc::bad_argument, "the kind is " + std::string(kind_name(s.kind)) +
                                         ", but only one array of bits or counters has an expected "
                                         "fill");
  }
  if (keys == 0) return 0.0;
  const std::uint64_t cells = s.bits / std::max(1U, s.cell_bits);
  return -std::expm1(
      static_cast<double>(keys) *
      log_stays_zero(static_cast<double>(cells), s.probes, layout == position_layout::anywhere));
}

std::uint32_t best_probes(filter_kind kind, double bits_per_key) {
  check_positive("bits per key", bits_per_key);
  if (const auto fixed = fixed_probes(kind)) return *fixed;
  if (in_blocks(kind)) {
    return blocked_probes(
        [&](const probe_step& step) { return step.bits_per_key >= bits_per_key; });
  }
  const auto log_fpr = [&](double k) { return k * std::log(-std::expm1(-k / bits_per_key)); };
  const double low = std::clamp(std::floor(ideal_probes(bits_per_key)), 1.0, 64.0);
  const double high = std::min(low + 1, 64.0);
  return static_cast<std::uint32_t>(log_fpr(high) < log_fpr(low) ? high : low);
}

namespace {

void check_request(const request& r) {
  check_keys(r.keys);
  const int given =
      int{r.fpr.has_value()} + int{r.bits_per_key.has_value()} + int{r.bytes.has_value()};
  if (given != 1) {
    detail::fail(errc::bad_argument, "a plan needs exactly one of fpr, bits per key and bytes; " +
                                         detail::to_text(static_cast<std::uint64_t>(given)) +
                                         " were given");
  }
  const kind_row& row = row_of(r.kind);
  if (r.probes) {
    const std::uint32_t most = row.blocks == block_use::lines ? max_blocked_probes : max_probes;
    const limits probes = row.blocks == block_use::half_lines ? row.probes : limits{1, most};
    check_range("the number of probes", *r.probes, probes.least, probes.most, row.name);
  }
}

}  // namespace

plan plan_for_mean(const request& r) {
  check_request(r);
  plan p;
  p.shape = row_of(r.kind).plan(r);
  check_shape(p.shape);
  p.keys = r.keys;
  p.fpr_target = r.fpr.value_or(0.0);
  p.fpr = fpr(p.shape, r.keys);
  return p;
}

namespace {

// Below it there would be no room for a margin before the limits that planners refuse.
double least_fpr_with_margin(const plan& p) {
  const bool blocks =
      p.shape.block_bits == bits_per_block || layout_of(p.shape) == position_layout::blocks;
  return blocks ? 1e-6 : static_cast<double>(p.keys) * 0x1p-50;
}

}  // namespace

// The scatter hardly depends on the size, so that asking for as much less as the likely rate is too
// high nearly always ends it at once. A filter of a line or two that would have to double stays as
// it is: a server may have a million of them.
plan make_plan(const request& r) {
  const plan mean = plan_for_mean(r);
  const kind_row& row = row_of(r.kind);
  if (!r.fpr || row.scatter == nullptr || *r.fpr < least_fpr_with_margin(mean)) return mean;
  plan p = mean;
  request lower = r;
  if (row.blocks == block_use::lines_or_none) lower.block_bits = p.shape.block_bits;
  for (double likely = 0; (likely = likely_fpr(p.shape, r.keys)) > *r.fpr;) {
    *lower.fpr *= std::min(0.99, *r.fpr / likely);
    p = plan_for_mean(lower);
    if (p.shape.bits >= 2 * mean.shape.bits) return mean;
  }
  p.fpr_target = *r.fpr;
  return p;
}

}  // namespace bloomery::sizing
