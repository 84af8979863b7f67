// How a scalable filter grows: the one rule that the planner and the filter share. Whole numbers only, so that a
// filter grows alike on every machine.
//
// A new layer makes the whole `factor` times as large. A whole rate P is dealt out to 2a layers, where a is the
// number of steps that make 65,536 times the first layer: 2/(3a) P to each of the first a, half of that to each of the others. With doubling, a is 16. Layers with the same
// rate have the same bits a key; half the rate takes about an eighth more of them, and where that is not
// enough, at targets below 1e-6, the planner gives all layers less of the rate (sizing_growing.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

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

// The layer that follows the first `layers` ones; no blocks when there is none.
constexpr step after(step first, std::size_t layers, std::uint32_t factor) noexcept {
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
