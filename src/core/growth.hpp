// How a scalable filter grows: the one rule that the planner and the filter share. Whole numbers only, so that a
// filter grows alike on every machine.
//
// A new layer makes the whole `factor` times as large. A whole rate P is dealt out to 2a layers, where a is the
// number of steps that make 65,536 times the first layer: 2/(3a) P to each of the first a, half of that to each of the others. With doubling, a is 16. Layers with the same
// rate have the same bits a key; half the rate takes about an eighth more of them, and where that is not
// enough, at targets below 1e-6, the planner gives all layers less of the rate (sizing_growing.cpp).
//
// That is the even rule. A filter that was told its keys and only might get more follows the reserved one: its first layer has most of
// the rate, and the others, which may never come, (1 + spread / 16) times its bits a key. The steep rule is for who could not say:
// the first layer is small, and a new one makes the whole up to 32 times as large while that is small, so that ten
// million keys are in five layers. docs/math.md has the shares.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/core/arithmetic.hpp"

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
  std::uint32_t factor = 2;
  std::uint32_t spread = 0;  // 0 for the even rule
  bool steep = false;
};
constexpr rule rule_of(std::uint32_t variant) noexcept {
  return {
      .factor = variant & 0xffU, .spread = (variant >> 8U) & 0xffU, .steep = (variant >> 16U) != 0};
}
constexpr std::uint32_t variant_of(const rule& r) noexcept {
  return r.factor | (r.spread << 8U) | (r.steep ? 1U << 16U : 0U);
}

// Layers after the first that the reserved and the steep rule deal a rate to; as many again get half of it.
constexpr std::size_t reserved_layers = 8;
constexpr std::size_t steep_layers = 14;
constexpr std::size_t dealt_layers(const rule& r) noexcept {
  return r.steep ? steep_layers : reserved_layers;
}

constexpr std::uint64_t most_keys = std::uint64_t{1} << 60U;

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
