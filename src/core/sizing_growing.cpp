// Sizes and rates of the kinds that grow, and of those that are made of several blocked filters.
#include <algorithm>
#include <cmath>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "checks.hpp"
#include "doubling.hpp"
#include "growth.hpp"
#include "kind_table.hpp"

namespace bloomery::sizing {

namespace {

constexpr std::uint32_t default_generations = 4;

// Rounded up, also where the usual sum of both would be beyond 2^64.
constexpr std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

// Lines before the blocks: see filter/layered.hpp and filter/windowed.hpp.
constexpr std::uint64_t layered_head_lines = 2;
std::uint64_t windowed_head_lines(std::uint32_t generations) { return 1 + (generations + 2) / 2; }

// Refuses what no part can be. The planner of a part would name the numbers of that, which nobody
// has given.
void check_request(const request& r, std::uint64_t keys, double share) {
  check_fpr(*r.fpr, r.keys);
  if (*r.fpr * share < std::max(blocked_fpr_limit, static_cast<double>(keys) * 0x1p-60)) {
    detail::fail(errc::unreachable,
                 "a " + std::string(kind_name(r.kind)) + " filter cannot honour an fpr of " +
                     detail::to_text(*r.fpr) + " for " + detail::to_text(r.keys) +
                     " keys: its parts have a share of it each, and the limit "
                     "of a part is 1e-9 and its keys/2^60");
  }
  if (lower_bound_bits(r.keys, *r.fpr) > static_cast<double>(max_bits)) {
    detail::fail(errc::bad_argument,
                 detail::to_text(r.keys) +
                     " keys would need more than the limit of 2^48 bits; use fewer keys or a "
                     "higher fpr");
  }
}

// The blocked filter that one part is, for `keys` of the keys and `share` of the rate.
plan part_of(const request& r, std::uint64_t keys, double share, std::uint64_t parts,
             std::uint64_t head_lines) {
  request part{.kind = filter_kind::blocked, .keys = std::max<std::uint64_t>(1, keys)};
  part.probes = r.probes;
  if (r.fpr) {
    check_request(r, part.keys, share);
    part.fpr = *r.fpr * share;
  } else if (r.bits_per_key) {
    part.bits_per_key = *r.bits_per_key * static_cast<double>(r.keys) /
                        (static_cast<double>(part.keys) * static_cast<double>(parts));
  } else {
    const std::uint64_t head = head_lines * (bits_per_block / 8);
    part.bytes = *r.bytes > head ? (*r.bytes - head) / parts : 0;
  }
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
  const std::uint64_t lines = std::max(least_lines, divided_up(r.keys, load.keys));
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
  shape s = part_of(r, r.keys, share, 1, layered_head_lines).shape;
  while ((rule.spread = spread_for(s, r, rule)) == 0) {
    share *= 0.9;
    s = part_of(r, r.keys, share, 1, layered_head_lines).shape;
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

shape shape_for_windowed(const request& r) {
  const std::uint32_t g = r.variant.value_or(default_generations);
  const std::uint64_t slots = std::uint64_t{g} + 1;
  const std::uint64_t keys = divided_up(r.keys, std::max(1U, g));
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
  const std::uint64_t in_one = divided_up(keys, s.variant);
  return -std::expm1(static_cast<double>(slots) *
                     std::log1p(-std::min(1 - 1e-15, blocked_fpr(in_one, blocks, s.probes))));
}

// The generations are independent and alike.
double scatter_of_windowed(const shape& s, std::uint64_t keys) {
  const std::uint64_t slots = std::uint64_t{s.variant} + 1;
  shape one = s;
  one.bits = (s.bits / bits_per_block - windowed_head_lines(s.variant)) / slots * bits_per_block;
  return scatter_of_blocked(one, divided_up(keys, s.variant)) /
         std::sqrt(static_cast<double>(slots));
}

}  // namespace bloomery::sizing
