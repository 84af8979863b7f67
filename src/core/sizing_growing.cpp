// Sizes and rates of the kinds that are made of several blocked filters.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "checks.hpp"
#include "growth.hpp"
#include "kind_table.hpp"

namespace bloomery::sizing {

namespace {

constexpr std::uint32_t default_growth = 2;
constexpr std::uint32_t default_generations = 4;

// Lines before the blocks: see filter/scalable.hpp and filter/windowed.hpp.
constexpr std::uint64_t scalable_head_lines = 2;
std::uint64_t windowed_head_lines(std::uint32_t generations) { return 1 + (generations + 8) / 8; }

// The blocked filter that one part is, for `keys` of the keys and `share` of the rate.
plan part_of(const request& r, std::uint64_t keys, double share, std::uint64_t parts,
             std::uint64_t head_lines) {
  request part{.kind = filter_kind::blocked, .keys = std::max<std::uint64_t>(1, keys)};
  part.probes = r.probes;
  if (r.fpr) {
    check_fpr(*r.fpr);
    part.fpr = *r.fpr * share;
  } else if (r.bits_per_key) {
    part.bits_per_key = *r.bits_per_key * static_cast<double>(r.keys) /
                        (static_cast<double>(part.keys) * static_cast<double>(parts));
  } else {
    const std::uint64_t head = head_lines * (bits_per_block / 8);
    part.bytes = *r.bytes > head ? (*r.bytes - head) / parts : 0;
  }
  return make_plan(part);
}

// The rate of all layers together when all are full, where the first is this one.
double whole_rate(const shape& first, std::uint64_t keys, std::uint32_t factor) {
  const std::size_t half = growth::early_layers(factor);
  const growth::step late =
      growth::after({.blocks = first.bits / bits_per_block, .keys = keys}, half, factor);
  // Beyond the limit of an array there are no late layers.
  const bool possible = late.blocks != 0 && late.blocks <= max_bits / bits_per_block;
  const double early_rate = blocked_fpr(keys, first.bits / bits_per_block, first.probes);
  const double late_rate = possible ? blocked_fpr(late.keys, late.blocks, first.probes) : 0;
  return -std::expm1(static_cast<double>(half) *
                     (std::log1p(-early_rate) + std::log1p(-late_rate)));
}

// What the first layer gets of the rate by the other rules.
constexpr double reserved_share = 0.85;
constexpr double steep_share = 1.0 / 16;

// The least spread with which all layers that the rule deals a rate to stay below it; 0 when there
// is none.
std::uint32_t spread_for(const shape& first, const request& r, growth::rule rule) {
  const growth::step start{.blocks = first.bits / bits_per_block, .keys = r.keys};
  const double rate = blocked_fpr(start.keys, start.blocks, first.probes);
  // As many again have half the rate.
  const double layers = 1.5 * static_cast<double>(growth::dealt_layers(rule));
  for (rule.spread = 1; rule.spread < 256; ++rule.spread) {
    const growth::step next = growth::after(start, 1, growth::variant_of(rule));
    if (next.blocks == 0 || next.blocks > max_bits / bits_per_block) return 1;  // will never come
    const double late = blocked_fpr(next.keys, next.blocks, first.probes);
    if (-std::expm1(std::log1p(-rate) + layers * std::log1p(-late)) <= *r.fpr) return rule.spread;
  }
  return 0;
}

shape shape_by_rule(const request& r, std::uint32_t factor) {
  if (!r.fpr) detail::fail(errc::bad_argument, "this rule of growth needs a rate");
  growth::rule rule{.factor = factor, .steep = r.growth == growth_rule::steep};
  double share = rule.steep ? steep_share : reserved_share;
  shape s = part_of(r, r.keys, share, 1, scalable_head_lines).shape;
  while ((rule.spread = spread_for(s, r, rule)) == 0) {
    share *= 0.9;
    s = part_of(r, r.keys, share, 1, scalable_head_lines).shape;
  }
  s.kind = filter_kind::scalable;
  s.variant = growth::variant_of(rule);
  s.bits += scalable_head_lines * bits_per_block;
  return s;
}

// The rate of all layers of the tapered rule together.
double tapered_rate(const shape& first, std::uint64_t keys) {
  const growth::step start{.blocks = first.bits / bits_per_block, .keys = keys};
  double log_none = 0;
  std::size_t before = 0;
  for (const growth::stretch& s : growth::stretches) {
    const growth::step sample =
        before == 0 ? start : growth::after_tapered(start, before, growth::least_factor);
    before += s.layers;
    // Beyond the limit of an array there are no such layers.
    if (sample.blocks == 0 || sample.blocks > max_bits / bits_per_block) break;
    log_none += static_cast<double>(s.layers) *
                std::log1p(-blocked_fpr(sample.keys, sample.blocks, first.probes));
  }
  return -std::expm1(log_none);
}

// The most that a filter may take of what the one that knew its keys does, at the moment when it
// has grown.
constexpr double most_memory = 3.995;

// How much larger the whole becomes, so that it is at most `most_memory` times the filter that knew
// its keys.
std::uint32_t tapered_factor(const shape& first, const request& r) {
  if (!r.fpr) return 80;
  const shape known =
      make_plan({.kind = filter_kind::blocked, .keys = r.keys, .fpr = *r.fpr}).shape;
  const double times = static_cast<double>(first.bits) / static_cast<double>(known.bits);
  const auto factor = static_cast<std::uint32_t>(32 * most_memory / times);
  return std::clamp(factor, growth::least_factor, growth::most_factor);
}

// The split rule where it keeps the rate for a million times the keys and stays within the memory.
std::optional<shape> split_shape(const request& r) {
  constexpr std::uint32_t least_doublings = 20;
  constexpr std::uint64_t least_lines = 16;
  constexpr std::uint64_t many = std::uint64_t{1} << 20U;
  if (!r.fpr || r.probes || *r.fpr < growth::split_rate(least_doublings) || *r.fpr >= 1) return {};
  const plan known = make_plan({.kind = filter_kind::blocked, .keys = many, .fpr = r.fpr});
  const double grown = 2.0 * bits_per_block / static_cast<double>(growth::keys_per_line);
  if (grown > most_memory * known.bits_per_key()) return {};
  std::uint32_t doublings = least_doublings;
  while (growth::split_rate(doublings + 1) <= *r.fpr) ++doublings;
  const std::uint64_t lines = std::max(
      least_lines, r.keys / growth::keys_per_line + (r.keys % growth::keys_per_line != 0 ? 1 : 0));
  if (lines > max_bits / bits_per_block - scalable_head_lines) return {};
  return shape{.kind = filter_kind::scalable,
               .probes = 1,
               .block_bits = bits_per_block,
               .cell_bits = growth::split_cell_bits,
               .variant = growth::variant_of({.factor = doublings, .split = true}),
               .bits = (lines + scalable_head_lines) * bits_per_block};
}

shape tapered_shape(const request& r) {
  double share = 0.13;
  shape s = part_of(r, r.keys, share, 1, scalable_head_lines).shape;
  while (r.fpr && tapered_rate(s, r.keys) > *r.fpr) {
    share *= 0.98;
    s = part_of(r, r.keys, share, 1, scalable_head_lines).shape;
  }
  s.variant = growth::variant_of({.factor = tapered_factor(s, r), .tapered = true});
  s.kind = filter_kind::scalable;
  s.bits += scalable_head_lines * bits_per_block;
  return s;
}

}  // namespace

// The rule stands above the factor; the steep one has a spread too.
void check_growth(const shape& s) {
  const std::string_view name = kind_name(s.kind);
  const bool split = s.variant >> 8U == 1U << 10U;
  const bool tapered = s.variant >> 8U == 1U << 9U;
  check_range("the number of bits in a cell", s.cell_bits, split ? growth::split_cell_bits : 0,
              split ? growth::split_cell_bits : 0, name);
  if (split) {
    check_range("the number of probes", s.probes, 1, 1, name);
    check_range("the number of doublings", s.variant & 0xffU, 0, growth::most_doublings, name);
  } else if (tapered) {
    check_range("the growth", s.variant & 0xffU, growth::least_factor, growth::most_factor, name);
  } else {
    const bool ruled =
        s.variant >> 17U == 0 && ((s.variant >> 16U) == 0 || ((s.variant >> 8U) & 0xffU) != 0);
    check_range("the variant", ruled ? s.variant & 0xffU : s.variant, 2, 16, name);
  }
}

shape shape_for_scalable(const request& r) {
  const bool by_factor = r.variant.has_value();
  if (r.growth == growth_rule::split && !by_factor) {
    const std::optional<shape> split = split_shape(r);
    return split ? *split : tapered_shape(r);
  }
  if (r.growth == growth_rule::tapered && !by_factor) return tapered_shape(r);
  const std::uint32_t factor = r.variant.value_or(default_growth);
  if (factor < 2 || factor > 16) {
    detail::throw_bad_argument("the growth", std::uint64_t{factor}, "from 2 to 16");
  }
  if (r.growth == growth_rule::reserved || r.growth == growth_rule::steep)
    return shape_by_rule(r, factor);
  double share = growth::first_share(factor);
  shape s = part_of(r, r.keys, share, 1, scalable_head_lines).shape;
  while (r.fpr && whole_rate(s, r.keys, factor) > *r.fpr) {
    share *= 0.9;
    s = part_of(r, r.keys, share, 1, scalable_head_lines).shape;
  }
  s.kind = filter_kind::scalable;
  s.variant = factor;
  s.bits += scalable_head_lines * bits_per_block;
  return s;
}

double fpr_of_scalable(const shape& s, std::uint64_t keys) {
  growth::step first{.blocks = s.bits / bits_per_block - scalable_head_lines, .keys = keys};
  if (s.cell_bits != 0) {
    // What the lines cannot hold is in the stash, whole.
    const std::uint32_t cells = bits_per_block / s.cell_bits;
    const double in_line = std::min(static_cast<double>(keys) / static_cast<double>(first.blocks),
                                    static_cast<double>(cells));
    return -std::expm1(in_line * std::log1p(-1.0 / 32768));
  }
  return blocked_fpr(first.keys, first.blocks, s.probes);
}

shape shape_for_windowed(const request& r) {
  const std::uint32_t g = r.variant.value_or(default_generations);
  const std::uint64_t slots = std::uint64_t{g} + 1;
  const std::uint64_t keys = (r.keys + std::max(1U, g) - 1) / std::max(1U, g);
  const std::uint64_t head = windowed_head_lines(g);
  shape s = part_of(r, keys, 1 / static_cast<double>(slots), slots, head).shape;
  s.kind = filter_kind::windowed;
  s.variant = g;
  s.bits = s.bits * slots + head * bits_per_block;
  return s;
}

double fpr_of_windowed(const shape& s, std::uint64_t keys) {
  const std::uint64_t slots = std::uint64_t{s.variant} + 1;
  const std::uint64_t blocks = (s.bits / bits_per_block - windowed_head_lines(s.variant)) / slots;
  const std::uint64_t in_one = (keys + s.variant - 1) / s.variant;
  return -std::expm1(static_cast<double>(slots) *
                     std::log1p(-std::min(1 - 1e-15, blocked_fpr(in_one, blocks, s.probes))));
}

}  // namespace bloomery::sizing
