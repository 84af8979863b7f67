// How a layered filter grows: the rule that the planner and the filter share. Whole numbers only,
// so that all machines agree. docs/math.md has the shares of the rate that each layer gets.
//
// A filter that was told its keys and only might get more follows the reserved rule: its first
// layer has most of the rate, and the others (1 + spread / 16) times its bits a key. The steep rule
// starts small and grows up to 32 times at a step while small: ten million keys are in five layers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery::growth {

inline constexpr std::size_t most_layers = 32;

struct step {
  std::uint64_t blocks = 0;
  std::uint64_t keys = 0;
};

struct rule {  // what the variant of a shape says
  std::uint32_t factor = 2;
  std::uint32_t spread = 1;
  bool steep = false;
};
constexpr rule rule_of(std::uint32_t variant) noexcept {
  return {
      .factor = variant & 0xffU, .spread = (variant >> 8U) & 0xffU, .steep = (variant >> 16U) != 0};
}
constexpr std::uint32_t variant_of(const rule& r) noexcept {
  return r.factor | (r.spread << 8U) | (r.steep ? 1U << 16U : 0U);
}
inline constexpr std::uint32_t least_factor = 2;
inline constexpr std::uint32_t most_factor = 16;

// Layers after the first that the rules deal a rate to; as many again get half, by more blocks.
constexpr std::size_t reserved_layers = 8;
constexpr std::size_t steep_layers = 14;
constexpr std::size_t dealt_layers(const rule& r) noexcept {
  return r.steep ? steep_layers : reserved_layers;
}

constexpr std::uint64_t late_blocks(std::uint64_t blocks) noexcept {
  return blocks + blocks / 8 + 1;
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

// The layer that follows the first `layers` ones; no blocks when there is none.
constexpr step after(step first, std::size_t layers, std::uint32_t variant) noexcept {
  const rule r = rule_of(variant);
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
  if (layers > dealt_layers(r)) next.blocks = late_blocks(next.blocks);
  return next;
}

}  // namespace bloomery::growth
