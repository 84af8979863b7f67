// Sizes and rates of the kinds that grow.
#include <algorithm>
#include <cmath>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "checks.hpp"
#include "doubling.hpp"
#include "growth.hpp"
#include "kind_table.hpp"
#include "saturating.hpp"

namespace bloomery::sizing {

namespace {

constexpr std::uint64_t layered_head_lines = 2;  // before the blocks: see filter/layered.hpp

// The blocked filter that the first layer is, for `share` of the rate.
plan first_layer(const request& r, double share) {
  check_part(r, r.keys, share);
  request part{.kind = filter_kind::blocked, .keys = r.keys};
  part.probes = r.probes;
  part.fpr = *r.fpr * share;
  return plan_for_mean(part);
}

constexpr double reserved_share = 0.85;  // what the first layer gets of the rate
constexpr double steep_share = 1.0 / 16;

constexpr std::uint64_t most_blocks = max_bits / bits_per_block;

bool will_never_come(const growth::step& next) {
  return next.blocks == 0 || next.blocks > most_blocks;
}

// The least spread that keeps all layers with a rate of their own below it; 0 when there is none.
// A wider spread means more blocks for the same keys, so what holds for one holds for all above it.
std::uint32_t spread_for(const shape& first, const request& r, growth::rule rule) {
  constexpr std::uint32_t most_spread = 255;
  const growth::step start{.blocks = first.bits / bits_per_block, .keys = r.keys};
  const double rate = blocked_fpr(start.keys, start.blocks, first.probes);
  const auto layers = static_cast<double>(growth::dealt_layers(rule));
  const auto next_with = [&](std::uint32_t spread) {
    rule.spread = spread;
    return growth::after(start, 1, growth::variant_of(rule));
  };
  const auto rate_of_all = [&](const growth::step& next) {
    const double early = blocked_fpr(next.keys, next.blocks, first.probes);
    const double late = blocked_fpr(next.keys, growth::late_blocks(next.blocks), first.probes);
    return -std::expm1(std::log1p(-rate) + layers * (std::log1p(-early) + std::log1p(-late)));
  };
  const auto is_enough = [&](std::uint32_t spread) {
    const growth::step next = next_with(spread);
    return will_never_come(next) || growth::late_blocks(next.blocks) > most_blocks ||
           rate_of_all(next) <= *r.fpr;
  };
  // Most are narrow: so in steps that double, and then between the last two.
  std::uint32_t low = 0;  // too narrow
  std::uint32_t high = 1;
  while (!is_enough(high)) {
    if (high == most_spread) return 0;
    low = high;
    high = std::min(2 * high, most_spread);
  }
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  const growth::step next = next_with(high);
  if (will_never_come(next)) return 1;
  // Refuses what could come early and not late.
  if (growth::late_blocks(next.blocks) > most_blocks) static_cast<void>(rate_of_all(next));
  return high;
}

[[noreturn]] void throw_rate(double fpr) {
  detail::fail(errc::unreachable, "a scalable filter keeps an fpr from " +
                                      detail::to_text(doubling::least_rate) + " to " +
                                      detail::to_text(doubling::most_rate) + ", not " +
                                      detail::to_text(fpr) + "; a layered filter keeps others");
}

// The narrowest cells that keep the rate for a million times the keys, or a thousand at high rates.
const doubling::line_load& load_for(double fpr) {
  constexpr double high_rate = 0.05;
  const std::uint32_t needed = fpr > high_rate ? 10 : 20;
  return *std::ranges::find_if(doubling::loads,
                               [&](const auto& load) { return load.rate(needed) <= fpr; });
}

}  // namespace

shape shape_for_scalable(const request& r) {
  constexpr std::uint64_t least_lines = 16;
  if (!r.fpr || r.probes || r.variant) {
    detail::fail(
        errc::bad_argument,
        "a scalable filter is planned for a number of keys and an fpr alone: its size, its "
        "probes and its growth follow");
  }
  check_fpr(*r.fpr);
  if (*r.fpr < doubling::least_rate || *r.fpr > doubling::most_rate) throw_rate(*r.fpr);
  const doubling::line_load& load = load_for(*r.fpr);
  std::uint32_t doublings = 0;
  while (doublings < doubling::most_doublings && load.rate(doublings + 1) <= *r.fpr) ++doublings;
  const std::uint64_t lines = std::max(least_lines, detail::divided_up(r.keys, load.keys));
  if (lines > max_bits / bits_per_block - doubling::head_lines) {
    detail::fail(errc::bad_argument,
                 detail::to_text(r.keys) +
                     " keys would need more than the limit of 2^48 bits; use fewer keys");
  }
  return {.kind = filter_kind::scalable,
          .probes = 1,
          .block_bits = bits_per_block,
          .cell_bits = load.cell_bits,
          .variant = doublings,
          .bits = (lines + doubling::head_lines) * bits_per_block};
}

double fpr_of_scalable(const shape& s, std::uint64_t keys) {
  // What the lines cannot hold is in the stash, whole.
  const std::uint64_t lines = s.bits / bits_per_block - doubling::head_lines;
  const std::uint32_t cells = 64 / s.cell_bits * (bits_per_block / 64);
  const double in_line =
      std::min(static_cast<double>(keys) / static_cast<double>(lines), static_cast<double>(cells));
  return std::ldexp(in_line, 1 - static_cast<int>(s.cell_bits));
}

void check_scalable(const shape& s) {
  const bool known = std::ranges::any_of(
      doubling::loads, [&](const auto& load) { return load.cell_bits == s.cell_bits; });
  if (!known) {
    detail::throw_bad_argument("the number of bits in a cell", std::uint64_t{s.cell_bits},
                               "12, 16, 21 or 32 in a scalable filter");
  }
  if (s.bits / bits_per_block <= doubling::head_lines) {
    detail::throw_bad_argument("the number of bits", s.bits, "more than the first line's");
  }
}

shape shape_for_layered(const request& r) {
  growth::rule rule{.factor = r.variant.value_or(growth::least_factor),
                    .steep = r.growth == growth_rule::steep};
  if (rule.factor < growth::least_factor || rule.factor > growth::most_factor) {
    detail::throw_bad_argument("the growth", std::uint64_t{rule.factor}, "from 2 to 16");
  }
  if (!r.fpr) {
    detail::fail(errc::bad_argument, "a layered filter is planned for an fpr, not for a size");
  }
  double share = rule.steep ? steep_share : reserved_share;
  shape s = first_layer(r, share).shape;
  while ((rule.spread = spread_for(s, r, rule)) == 0) {
    share *= 0.9;
    s = first_layer(r, share).shape;
  }
  s.kind = filter_kind::layered;
  s.variant = growth::variant_of(rule);
  s.bits += layered_head_lines * bits_per_block;
  return s;
}

double fpr_of_layered(const shape& s, std::uint64_t keys) {
  return blocked_fpr(keys, s.bits / bits_per_block - layered_head_lines, s.probes);
}

// Of the first layer, which has most of the rate.
double scatter_of_layered(const shape& s, std::uint64_t keys) {
  shape first = s;
  first.bits -= layered_head_lines * bits_per_block;
  return scatter_of_blocked(first, keys);
}

void check_layered(const shape& s) {
  const growth::rule r = growth::rule_of(s.variant);
  if (r.factor < growth::least_factor || r.factor > growth::most_factor || r.spread == 0 ||
      s.variant >> 17U != 0) {
    detail::throw_bad_argument("the variant", std::uint64_t{s.variant},
                               "a growth from 2 to 16 and a spread from 1 to 255 in a layered "
                               "filter");
  }
}

plan compact_plan(const plan& p, std::uint64_t stored, double fpr_now) {
  const double target = p.fpr_target > 0 ? p.fpr_target : std::max(fpr_now, 1e-9);
  // New keys that were taken for known ones were not stored: at most their rate, and its scatter.
  const auto kept = static_cast<double>(stored);
  const double missed = kept * fpr_now + 4 * std::sqrt(kept * fpr_now) + 1;
  const auto keys = static_cast<std::uint64_t>(std::ceil(kept + missed));
  return make_plan({.kind = filter_kind::blocked, .keys = keys, .fpr = target});
}

}  // namespace bloomery::sizing
