// How a scalable filter grows: the rules that the planner and the filter share. Whole numbers only,
// so that a filter grows alike on every machine. docs/math.md has the shares of the rate that each
// layer gets.
//
// By the split rule a filter is one table of fingerprints whose lines double
// (detail/bits/split_lines.hpp): one line a lookup. It is for rates that 16-bit cells are right
// for; the others are tapered.
//
// The tapered rule is for who could not say how many keys will come. The first seven layers have
// most of the rate, so they have few bits a key, and the whole can become 2.6 times as large with
// each of them and still be within four times the filter that knew its keys. The layers after them
// have less of the rate, more bits, and grow by less: factor / bits stays the same.
//
// By the even rule a new layer makes the whole `factor` times as large. A whole rate P is dealt out
// to 2a layers, where a is the number of steps that make 65,536 times the first layer: 2/(3a) P to
// each of the first a, half of that to each of the others. With doubling, a is 16. Layers with the
// same rate have the same bits a key; half the rate takes about an eighth more of them, and where
// that is not enough, at targets below 1e-6, the planner gives all layers less of the rate
// (sizing_growing.cpp).
//
// A filter that was told its keys and only might get more follows the reserved one: its first layer
// has most of the rate, and the others, which may never come, (1 + spread / 16) times its bits a
// key. The steep rule starts small, and a new layer makes the whole up to 32 times as large while
// that is small, so that ten million keys are in five layers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery::growth {

inline constexpr std::size_t most_layers = 32;  // of the slowest growth, doubling

// Layers in the first half.
constexpr std::size_t early_layers(std::uint32_t factor) noexcept {
  std::size_t steps = 0;
  for (std::uint64_t size = 1; size < 65536; size *= factor) ++steps;
  return steps;
}

// The part of the whole rate that one of the first layers may have.
constexpr double first_share(std::uint32_t factor) noexcept {
  return 2.0 / (3.0 * static_cast<double>(early_layers(factor)));
}

struct step {
  std::uint64_t blocks = 0;
  std::uint64_t keys = 0;
};

// What the variant of a shape says.
struct rule {
  std::uint32_t factor = 2;  // by the tapered rule in units of 1/32
  std::uint32_t spread = 0;  // of the reserved and the steep rule
  bool steep = false;
  bool tapered = false;
  bool split = false;  // the factor is then how many times the lines may double
};
constexpr rule rule_of(std::uint32_t variant) noexcept {
  return {.factor = variant & 0xffU,
          .spread = (variant >> 8U) & 0xffU,
          .steep = ((variant >> 16U) & 1U) != 0,
          .tapered = ((variant >> 17U) & 1U) != 0,
          .split = (variant >> 18U) != 0};
}
constexpr std::uint32_t variant_of(const rule& r) noexcept {
  return r.factor | (r.spread << 8U) | (r.steep ? 1U << 16U : 0U) | (r.tapered ? 1U << 17U : 0U) |
         (r.split ? 1U << 18U : 0U);
}

// The split rule: the lines double when they have this many keys each. Just then a seventh of them
// are full, with two keys more it would be a quarter; and just after it there are 39.4 bits a key.
inline constexpr std::uint64_t keys_per_line = 26;
inline constexpr std::uint32_t split_cell_bits = 16;
inline constexpr std::uint32_t most_doublings = 63;
// The rate when the lines have doubled so often and are full again: a key has 15 bits, and half of
// a line's keys have lost one of them, a quarter two, and so on; those of the first lines are as
// many again.
constexpr double split_rate(std::uint32_t doublings) noexcept {
  return static_cast<double>(keys_per_line) * (1 + doublings / 2.0) / 32768;
}

// Layers after the first that the reserved and the steep rule deal a rate to; as many again get
// half of it.
constexpr std::size_t reserved_layers = 8;
constexpr std::size_t steep_layers = 14;
constexpr std::size_t dealt_layers(const rule& r) noexcept {
  return r.steep ? steep_layers : reserved_layers;
}

constexpr std::uint64_t most_keys = std::uint64_t{1} << 60U;

// The tapered rule: how many layers of a kind, and their bits a key in units of 1/32 of the first
// layer's.
struct stretch {
  std::size_t layers;
  std::uint32_t bits;
};
inline constexpr std::array<stretch, 3> stretches{{{7, 32}, {6, 42}, {most_layers - 13, 51}}};
inline constexpr std::uint32_t least_factor =
    72;  // 2.25, 1.7 and 1.4 by stretch: 10^7 times the first layer
inline constexpr std::uint32_t most_factor = 128;

constexpr std::uint32_t tapered_bits(std::size_t layer) noexcept {
  for (const stretch& s : stretches) {
    if (layer < s.layers) return s.bits;
    layer -= s.layers;
  }
  return 0;
}

// The same as `after` by the tapered rule.
constexpr step after_tapered(step first, std::size_t layers, std::uint32_t factor) noexcept {
  if (layers >= most_layers) return {};
  std::uint64_t whole = first.keys;
  std::uint64_t keys = 0;
  for (std::size_t i = 1; i <= layers; ++i) {
    if (whole > most_keys / 4) return {};
    const auto larger =
        static_cast<std::uint64_t>(static_cast<detail::uint128>(whole) * factor / tapered_bits(i));
    keys = larger > whole ? larger - whole : 1;
    whole += keys;
  }
  const std::uint64_t bits = tapered_bits(layers);
  if (first.blocks > most_keys / bits) return {};
  const auto blocks = static_cast<detail::uint128>(first.blocks * bits) * keys /
                      (static_cast<detail::uint128>(first.keys) * 32);
  if (blocks > most_keys / 2) return {};
  return {.blocks = static_cast<std::uint64_t>(blocks) + 1, .keys = keys};
}

// How many times larger the whole becomes that takes this many keys.
constexpr std::uint64_t factor_at(std::uint64_t keys, const rule& r) noexcept {
  constexpr std::uint64_t small = std::uint64_t{1} << 20U;
  constexpr std::uint64_t large = std::uint64_t{1} << 24U;
  if (!r.steep || keys >= large) return r.factor;
  const std::uint64_t steep = small / keys > 32 ? 32 : (small / keys < 4 ? 4 : small / keys);
  return steep > r.factor ? steep : r.factor;
}

// The same as `after` by the reserved and the steep rule.
constexpr step after_reserved(step first, std::size_t layers, const rule& r) noexcept {
  if (layers > 2 * dealt_layers(r)) return {};
  std::uint64_t whole = first.keys;
  std::uint64_t keys = 0;
  for (std::size_t i = 0; i < layers; ++i) {
    const std::uint64_t times = factor_at(whole, r);
    if (whole > most_keys / times) return {};
    keys = whole * (times - 1);
    whole *= times;
  }
  if (first.blocks > most_keys / (16 + r.spread)) return {};
  const auto blocks = static_cast<detail::uint128>(first.blocks * (16 + r.spread)) * keys /
                      (static_cast<detail::uint128>(first.keys) * 16);
  if (blocks > most_keys / 2) return {};
  step next{.blocks = static_cast<std::uint64_t>(blocks) + 1, .keys = keys};
  if (layers > dealt_layers(r)) next.blocks += next.blocks / 8 + 1;
  return next;
}

// The layer that follows the first `layers` ones; no blocks when there is none.
constexpr step after(step first, std::size_t layers, std::uint32_t variant) noexcept {
  const rule r = rule_of(variant);
  if (r.tapered) return after_tapered(first, layers, r.factor);
  if (r.spread != 0) return after_reserved(first, layers, r);
  const std::uint32_t factor = r.factor;
  if (layers >= 2 * early_layers(factor)) return {};
  constexpr std::uint64_t limit = std::uint64_t{1} << 48U;
  for (std::size_t i = 0; i < layers; ++i) {
    const std::uint64_t times = i == 0 ? factor - 1 : factor;
    if (first.blocks > limit / times || first.keys > limit * 4096 / times) return {};
    first.blocks *= times;
    first.keys *= times;
  }
  if (layers >= early_layers(factor)) first.blocks += first.blocks / 8 + 1;
  return first;
}

}  // namespace bloomery::growth
