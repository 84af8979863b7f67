#include "block_rate.hpp"

#include <array>
#include <bit>

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/core/block_geometry.hpp"

namespace bloomery::detail {

// For each block, the mean over 16 rotations of the product of the fills of the k lanes asked for.
// Fills lie there twice, backwards: rotations are 16 neighbours, the inner loop one vector product.
double block_rate(std::span<const std::uint64_t> words, std::uint32_t probes, std::size_t stride,
                  const lane_planes& plane) noexcept {
  using block_geometry::lanes;
  constexpr std::size_t words_per_block = bits_per_block / 64;
  const std::uint32_t plane_bits = plane.bits();
  const auto positions = static_cast<float>(plane.positions);
  double sum = 0;
  std::size_t blocks = 0;
  for (std::size_t at = 0; at + words_per_block <= words.size(); at += stride, ++blocks) {
    std::array<float, std::size_t{2} * lanes> fill{};
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint64_t word = detail::little_endian(words[at + lane / 2]);
      const auto half = static_cast<std::uint32_t>(word >> (lane % 2 * 32));
      const float share = static_cast<float>(std::popcount(half & plane_bits)) / positions;
      fill[(lanes - lane) % lanes] = share;
      fill[(lanes - lane) % lanes + lanes] = share;
    }
    std::array<float, lanes> product{};
    product.fill(1.0F);
    for (std::uint32_t i = 0; i < lanes; ++i) {
      if (((block_geometry::lane_pattern[probes] >> i) & 1U) == 0) continue;
      // Rotation r asks lane i - r, which stands at index r - i (mod 16).
      for (std::uint32_t r = 0; r < lanes; ++r) product[r] *= fill[lanes + r - i];
    }
    float in_block = 0;
    for (const float p : product) in_block += p;
    sum += static_cast<double>(in_block);
  }
  return blocks == 0 ? 0 : sum / lanes / static_cast<double>(blocks);
}

// All lanes are asked for.
double split_block_rate(std::span<const std::uint64_t> words) noexcept {
  constexpr std::size_t words_per_block = bits_per_split_block / 64;
  double sum = 0;
  for (std::size_t at = 0; at + words_per_block <= words.size(); at += words_per_block) {
    std::uint64_t ways = 1;  // of asking for set bits only; at most 32^8
    for (std::size_t w = at; w < at + words_per_block; ++w) {
      ways *= static_cast<std::uint64_t>(std::popcount(words[w] & UINT32_MAX));
      ways *= static_cast<std::uint64_t>(std::popcount(words[w] >> 32U));
    }
    sum += static_cast<double>(ways);
  }
  const std::size_t blocks = words.size() / words_per_block;
  return blocks == 0 ? 0 : sum * 0x1p-40 / static_cast<double>(blocks);
}

}  // namespace bloomery::detail
