// Avalanche: a flipped bit of the key flips each bit of the hash half of the time.
//
// 40,000 keys from std::mt19937_64 with the stated seeds. The share of flips then scatters by
// 0.5/sqrt(40,000) = 0.25 %; 5.5 of those are 1.375 %, which chance exceeds once in 26 million
// bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {
namespace {

constexpr int trials = 40'000;
constexpr double chance = 0.01375;

// bias[j]: the largest distance from 1/2 that any bit of the key has on bit j of the hash.
template <class Hash>
std::array<double, 64> worst_bias(std::size_t key_bytes, std::uint64_t random_seed, Hash hash) {
  std::mt19937_64 random(random_seed);
  std::vector<std::array<std::uint32_t, 64>> flips(key_bytes * 8);
  std::vector<unsigned char> key(key_bytes);
  for (int trial = 0; trial < trials; ++trial) {
    for (unsigned char& byte : key) byte = static_cast<unsigned char>(random() >> 56U);
    const std::uint64_t before = hash(key.data());
    for (std::size_t i = 0; i < flips.size(); ++i) {
      const auto flip = static_cast<unsigned char>(1U << (i % 8));
      key[i / 8] ^= flip;
      const std::uint64_t changed = before ^ hash(key.data());
      key[i / 8] ^= flip;
      for (std::size_t j = 0; j < 64; ++j) flips[i][j] += (changed >> j) & 1U;
    }
  }
  std::array<double, 64> bias{};
  for (const auto& of_bit : flips) {
    for (std::size_t j = 0; j < 64; ++j) {
      bias[j] = std::max(bias[j], std::abs(of_bit[j] / double{trials} - 0.5));
    }
  }
  return bias;
}

TEST(Avalanche, Xxh3OfBytesIsPerfect) {
  for (const std::size_t bytes : {8U, 20U}) {
    const xxh3_hasher hasher(bytes);
    const auto bias =
        worst_bias(bytes, 21, [&](const unsigned char* key) { return hasher.bytes(key, bytes); });
    for (std::size_t j = 0; j < 64; ++j) EXPECT_LT(bias[j], chance) << bytes << " bytes, bit " << j;
  }
}

// Two multiplications are not enough for the lowest bits, which nothing uses on their own: bit 0
// follows bit 3 of the key in all but 1 % of the cases. From bit 24 up, where the block and most of
// the bits inside it come from, there is nothing to see, and the rotation (bits 16 to 19) is within
// 6 %.
class MixerAvalanche : public testing::TestWithParam<std::uint64_t> {};

TEST_P(MixerAvalanche, IsPerfectFromBit24UpAndFairInTheRotation) {
  const std::uint64_t seed = splitmix64(GetParam());
  const auto bias = worst_bias(8, 22, [&](const unsigned char* key) {
    std::uint64_t number = 0;
    std::memcpy(&number, key, sizeof number);
    return mix64(detail::little_endian(number), seed);
  });
  for (std::size_t j = 24; j < 64; ++j) EXPECT_LT(bias[j], chance) << "bit " << j;
  for (std::size_t j = 16; j < 24; ++j) EXPECT_LT(bias[j], 0.06 + chance) << "bit " << j;
}

// The bits inside the lanes come from products that carry everything below upwards. In 15 lanes
// there is nothing to see; lane 12 has a bias of 1.5 %.
TEST_P(MixerAvalanche, IsFairInTheLanes) {
  const std::uint64_t seed = splitmix64(GetParam());
  for (const std::size_t first_lane : {0U, 8U}) {
    const auto bias = worst_bias(8, 23, [&](const unsigned char* key) {
      std::uint64_t number = 0;
      std::memcpy(&number, key, sizeof number);
      const auto x = static_cast<std::uint32_t>(mix64(detail::little_endian(number), seed));
      std::uint64_t lanes = 0;
      for (std::size_t lane = first_lane; lane < first_lane + 8; ++lane) {
        lanes = lanes << 5U | (x * block_geometry::lane_multiplier[lane]) >> 27U;
      }
      return lanes;
    });
    for (std::size_t j = 0; j < 40; ++j)
      EXPECT_LT(bias[j], 0.015 + chance) << first_lane << ' ' << j;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MixerAvalanche, testing::Values(0, 1, 0x0123456789abcdef));

}  // namespace
}  // namespace bloomery
