// What processors and GPUs share, held against what the host uses: the mapping of a block and XXH3.
// Nothing here needs a GPU.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bloomery/detail/hash/block_map.hpp"
#include "bloomery/detail/hash/portable_xxh3.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {
namespace {

TEST(block_map, has_the_positions_of_the_filter) {
  for (std::uint32_t probes = 1; probes <= max_blocked_probes; ++probes) {
    for (const std::uint64_t blocks : {1U, 2U, 77U, 1U << 20U, 4000000007U}) {
      const blocked_probes host({.probes = probes, .bits = blocks * bits_per_block});
      const detail::block_map map(blocks, probes);
      for (std::uint64_t i = 0; i < 2000; ++i) {
        const std::uint64_t hash = splitmix64(i * 31 + probes);
        ASSERT_EQ(map.block_of(hash), host.block_of(hash));
        ASSERT_EQ(map.lanes_of(hash) & 0xffffU, host.lanes_of(hash));
        const int upper = std::popcount(host.lanes_of(hash) >> 8U);
        ASSERT_EQ(map.fuller_half(hash), upper > static_cast<int>(probes) - upper ? 1U : 0U);
        std::array<std::uint32_t, block_geometry::lanes> lanes{};
        for (std::uint32_t j = 0; j < probes; ++j) {
          const std::uint32_t lane = map.lane_of(hash, j);
          const std::uint32_t bit = detail::lane_bit(hash, map.multipliers[lane]);
          lanes[lane] |= std::uint32_t{1} << bit;
          const std::uint32_t turn = detail::lane_turn(hash, map.multipliers[lane], lane);
          ASSERT_EQ(std::rotr(std::uint32_t{1} << bit, static_cast<int>(turn)),
                    std::uint32_t{1} << lane);
        }
        const block_mask mask = host.mask_of(hash);
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
          ASSERT_EQ(lanes[lane], detail::load_lane(mask.words.data(), lane)) << probes;
        }
      }
    }
  }
}

TEST(portable_xxh3, is_xxh3_for_every_length_and_seed) {
  std::vector<unsigned char> text(5000);
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<unsigned char>(splitmix64(i) >> 56U);
  }
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xdeadbeef},
                                   splitmix64(7), ~std::uint64_t{0}}) {
    const detail::portable_xxh3 portable(seed);
    const xxh3_hasher host(seed);
    for (std::size_t size = 0; size <= 2200; ++size) {
      const unsigned char* const start = text.data() + size % 9;
      ASSERT_EQ(portable(start, size), host.bytes(start, size)) << size << " bytes, seed " << seed;
    }
    ASSERT_EQ(portable(text.data(), text.size()), host.bytes(text.data(), text.size()));
  }
}

}  // namespace
}  // namespace bloomery
