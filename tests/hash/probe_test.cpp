// Positions: frozen, inside the array, and such that filters fold and shard.
#include "bloomery/hash/probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace bloomery {
namespace {

constexpr std::uint64_t every_bit = ~std::uint64_t{0};
using positions = std::vector<std::uint64_t>;

shape shape_of(filter_kind kind, std::uint64_t bits, std::uint32_t probes) {
  return {.kind = kind,
          .probes = probes,
          .block_bits = kind == filter_kind::blocked       ? bits_per_block
                        : kind == filter_kind::split_block ? bits_per_split_block
                                                           : 0,
          .bits = bits};
}

template <class Probes>
positions positions_of(typename Probes::hash_type hash, std::uint64_t bits, std::uint32_t probes) {
  positions found;
  const Probes scheme(shape_of(Probes::kind, bits, probes));
  EXPECT_TRUE(scheme.all_of(hash, [&](std::uint64_t position) {
    found.push_back(position);
    return true;
  }));
  return found;
}

// The order of the lanes is free; their bits are not.
positions sorted(positions p) {
  std::sort(p.begin(), p.end());
  return p;
}

// ---- frozen: computed from docs/format.md with Python's integers ------------------------------

TEST(ClassicProbes, AreFrozen) {
  EXPECT_EQ(positions_of<classic_probes>(0x0123456789abcdef, 1000, 7),
            (positions{4, 435, 127, 67, 267, 389, 37}));
  EXPECT_EQ(positions_of<classic_probes>(0xfedcba9876543210, 1000, 7),
            (positions{995, 747, 178, 481, 446, 704, 785}));
  EXPECT_EQ(positions_of<classic_probes>(0x9e3779b97f4a7c15, 1'000'000'000'000, 4),
            (positions{618033988749, 981273932812, 505650004403, 773065093443}));
}

TEST(PartitionedProbes, AreFrozen) {
  EXPECT_EQ(positions_of<partitioned_probes>(0x0123456789abcdef, 1050, 7),
            (positions{0, 215, 319, 460, 640, 808, 905}));
  EXPECT_EQ(positions_of<partitioned_probes>(0xfedcba9876543210, 1050, 7),
            (positions{149, 262, 326, 522, 667, 855, 1017}));
  EXPECT_EQ(positions_of<partitioned_probes>(0x9e3779b97f4a7c15, 700'000'000'000, 7),
            (positions{61803398874, 198127393281, 250565000440, 377306509344, 428492444979,
                       559719350958, 644142156389}));
}

TEST(SplitBlockProbes, AreFrozen) {
  EXPECT_EQ(positions_of<split_block_probes>(0x0123456789abcdef, 256 * 97, 8),
            (positions{18, 51, 94, 119, 132, 176, 204, 248}));
  EXPECT_EQ(positions_of<split_block_probes>(0xfedcba9876543210, 256 * 97, 8),
            (positions{24580, 24612, 24656, 24692, 24717, 24746, 24799, 24827}));
  EXPECT_EQ(positions_of<split_block_probes>(0x9e3779b97f4a7c15, 256'000'000'000, 8),
            (positions{158216700951, 158216700968, 158216700998, 158216701046, 158216701062,
                       158216701119, 158216701140, 158216701177}));
}

TEST(BlockedProbes, AreFrozen) {
  EXPECT_EQ(sorted(positions_of<blocked_probes>(0x0123456789abcdef, 512 * 97, 6)),
            (positions{176, 204, 313, 327, 384, 459}));
  EXPECT_EQ(sorted(positions_of<blocked_probes>(0xfedcba9876543210, 512 * 97, 6)),
            (positions{49156, 49188, 49268, 49322, 49538, 49578}));
  EXPECT_EQ(sorted(positions_of<blocked_probes>(0x9e3779b97f4a7c15, 512'000'000'000, 3)),
            (positions{316433402068, 316433402105, 316433402145}));
  EXPECT_EQ(
      sorted(positions_of<blocked_probes>(0xfedcba9876543210, 512, 16)),
      (positions{4, 36, 80, 116, 141, 170, 223, 251, 267, 313, 321, 373, 386, 426, 469, 483}));
}

// All positions of the hashes splitmix64(0) to splitmix64(999), in any order, as one number.
template <class Probes>
std::uint64_t checksum(std::uint64_t bits, std::uint32_t probes) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    for (const std::uint64_t position : positions_of<Probes>(splitmix64(i), bits, probes)) {
      sum += splitmix64(position + i);
    }
  }
  return sum;
}

TEST(BlockedProbes, AreFrozenForEveryNumberOfProbes) {
  constexpr std::uint64_t sums[] = {
      0x1d8b77fd8a68b7f2, 0x44074f1d417c71ec, 0x51cab6cc9bc29ca6, 0xb97fc0a7890654e9,
      0x8a8db8db6e63c94f, 0xac039e12d2757c18, 0xd1423d2a0005fc71, 0x56a87eba2d8c7392,
      0x7b3cfe269f3cfbc7, 0x44db669d7ff66ebb, 0x0ee5803273d5da0b, 0xa020ad0b678fbbc5,
      0x3ea9d6dbfc277e44, 0xa80d81d2e56a999c, 0xc3a355da0ccb9961, 0xc6c25234c8826850};
  for (std::uint32_t k = 1; k <= 16; ++k) {
    EXPECT_EQ(checksum<blocked_probes>(512 * 97, k), sums[k - 1]) << k;
  }
}

TEST(ClassicProbes, AreFrozenToTheLastProbe) {
  EXPECT_EQ(checksum<classic_probes>(99'991, 64), 0x15bf7869eac559f2U);
}

TEST(PartitionedProbes, AreFrozenToTheLastProbe) {
  EXPECT_EQ(checksum<partitioned_probes>(std::uint64_t{64} * 1009, 64), 0x199119fb21e54935U);
}

TEST(DigestProbes, AreTheWordsModuloTheSize) {
  digest d;
  d.words[0] = 0xd41d8cd9;
  d.words[1] = 999;
  d.words[2] = 1000;
  d.words[3] = 0xffffffff;
  EXPECT_EQ(positions_of<digest_probes>(d, 1000, 4), (positions{3558706393 % 1000, 999, 0, 295}));
  EXPECT_EQ(positions_of<digest_probes>(d, std::uint64_t{1} << 32U, 4),
            (positions{0xd41d8cd9, 999, 1000, 0xffffffff}));
}

// ---- inside the array -------------------------------------------------------------------------

std::vector<std::uint64_t> extreme_and_random_hashes() {
  std::vector<std::uint64_t> hashes = {
      0, 1, every_bit, every_bit - 1, std::uint64_t{1} << 63U, 0xffffffff, 0xffffffff00000000};
  std::mt19937_64 random(11);
  for (int i = 0; i < 200; ++i) hashes.push_back(random());
  return hashes;
}

TEST(ClassicProbes, StayInside) {
  for (const std::uint64_t bits : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{63},
                                   std::uint64_t{1000}, (std::uint64_t{1} << 32U) + 1, max_bits}) {
    for (const std::uint64_t hash : extreme_and_random_hashes()) {
      const positions found = positions_of<classic_probes>(hash, bits, 64);
      ASSERT_EQ(found.size(), 64U);
      for (const std::uint64_t position : found) ASSERT_LT(position, bits);
    }
  }
}

TEST(PartitionedProbes, EachStaysInsideItsSlice) {
  for (const std::uint32_t k : {1U, 3U, 7U, 64U}) {
    for (const std::uint64_t slice :
         {std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{1001}, max_bits / 64}) {
      for (const std::uint64_t hash : extreme_and_random_hashes()) {
        const positions found = positions_of<partitioned_probes>(hash, slice * k, k);
        ASSERT_EQ(found.size(), k);
        for (std::uint64_t j = 0; j < k; ++j) ASSERT_EQ(found[j] / slice, j);
      }
    }
  }
}

// One line for a key, k of its 16 lanes, one bit in each.
TEST(BlockedProbes, AreOneBitInEachOfKLanesOfOneBlock) {
  for (std::uint32_t k = 1; k <= 16; ++k) {
    for (const std::uint64_t blocks : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1000},
                                       std::uint64_t{1} << 33U, max_bits / 512}) {
      for (const std::uint64_t hash : extreme_and_random_hashes()) {
        const positions found = positions_of<blocked_probes>(hash, blocks * 512, k);
        ASSERT_EQ(found.size(), k);
        std::set<std::uint64_t> lanes;
        for (const std::uint64_t position : found) {
          ASSERT_LT(position, blocks * 512);
          ASSERT_EQ(position / 512, found.front() / 512);
          lanes.insert(position / 32);
        }
        ASSERT_EQ(lanes.size(), k);
      }
    }
  }
}

// Every rotation and every bit of a lane occurs.
TEST(BlockedProbes, ReachEveryBitOfABlock) {
  for (const std::uint32_t k : {1U, 6U, 16U}) {
    std::set<std::uint64_t> seen;
    std::mt19937_64 random(12);
    for (int i = 0; i < 20'000; ++i) {
      for (const std::uint64_t p : positions_of<blocked_probes>(random(), 512, k)) seen.insert(p);
    }
    EXPECT_EQ(seen.size(), 512U) << k;
  }
}

// ---- lines to prefetch ------------------------------------------------------------------------

template <class Probes>
positions lines_of(typename Probes::hash_type hash, std::uint64_t bits, std::uint32_t probes) {
  positions found;
  const Probes scheme(shape_of(Probes::kind, bits, probes));
  scheme.lines(hash, [&](std::uint64_t position) { found.push_back(position); });
  return found;
}

TEST(Probes, LinesCoverEveryPosition) {
  for (const std::uint64_t hash : extreme_and_random_hashes()) {
    EXPECT_EQ(lines_of<classic_probes>(hash, 100'000, 7),
              positions_of<classic_probes>(hash, 100'000, 7));
    EXPECT_EQ(lines_of<partitioned_probes>(hash, 100'100, 7),
              positions_of<partitioned_probes>(hash, 100'100, 7));
    const positions block = lines_of<blocked_probes>(hash, 512 * 1000, 7);
    ASSERT_EQ(block.size(), 1U);
    EXPECT_EQ(block[0] % 512, 0U);
    EXPECT_EQ(block[0] / 512, positions_of<blocked_probes>(hash, 512 * 1000, 7)[0] / 512);
  }
  digest d;
  d.words[0] = 77'777;
  d.words[1] = 5;
  EXPECT_EQ(lines_of<digest_probes>(d, 1000, 2), (positions{777, 5}));
}

// A miss in the first line must not cost the others.
TEST(ClassicProbes, StopAtTheFirstMiss) {
  int asked = 0;
  const classic_probes scheme(shape_of(filter_kind::classic, 1000, 7));
  EXPECT_FALSE(scheme.all_of(12345, [&](std::uint64_t) { return ++asked < 3; }));
  EXPECT_EQ(asked, 3);
}

TEST(BlockedProbes, ASingleMissIsAMiss) {
  const blocked_probes scheme(shape_of(filter_kind::blocked, 5120, 6));
  for (int missing = 0; missing < 6; ++missing) {
    int asked = 0;
    EXPECT_FALSE(scheme.all_of(12345, [&](std::uint64_t) { return asked++ != missing; }));
  }
}

// ---- folding and sharding ---------------------------------------------------------------------

// Halving a filter is an OR of neighbours.
TEST(ClassicProbes, HalvingTheSizeHalvesThePositions) {
  for (const std::uint64_t bits : {std::uint64_t{2}, std::uint64_t{1000}, std::uint64_t{123'456},
                                   (std::uint64_t{1} << 40U) + 2, max_bits}) {
    for (const std::uint64_t hash : extreme_and_random_hashes()) {
      positions whole = positions_of<classic_probes>(hash, bits, 9);
      for (std::uint64_t& position : whole) position /= 2;
      ASSERT_EQ(positions_of<classic_probes>(hash, bits / 2, 9), whole) << bits;
    }
  }
}

TEST(PartitionedProbes, HalvingTheSizeHalvesThePositions) {
  for (const std::uint64_t slice : {std::uint64_t{2}, std::uint64_t{1000}, max_bits / 8}) {
    for (const std::uint64_t hash : extreme_and_random_hashes()) {
      positions whole = positions_of<partitioned_probes>(hash, slice * 7, 7);
      for (std::uint64_t& position : whole) position /= 2;
      ASSERT_EQ(positions_of<partitioned_probes>(hash, slice / 2 * 7, 7), whole) << slice;
    }
  }
}

TEST(BlockedProbes, HalvingTheSizeJoinsNeighbouringBlocks) {
  for (const std::uint64_t blocks : {std::uint64_t{2}, std::uint64_t{1000}, std::uint64_t{98'766},
                                     (std::uint64_t{1} << 33U) + 2, max_bits / 512}) {
    for (const std::uint64_t hash : extreme_and_random_hashes()) {
      const positions whole = positions_of<blocked_probes>(hash, blocks * 512, 6);
      const positions half = positions_of<blocked_probes>(hash, blocks / 2 * 512, 6);
      for (std::size_t j = 0; j < 6; ++j) {
        ASSERT_EQ(half[j] / 512, whole[j] / 512 / 2) << blocks;
        ASSERT_EQ(half[j] % 512, whole[j] % 512) << blocks;
      }
    }
  }
}

// A shard is a contiguous slice of the one big filter: with N shards of B blocks, the shard is
// high64(h N), the block in it comes from low64(h N), and the bits in the block from h itself.
TEST(BlockedProbes, AShardIsASliceOfTheWholeFilter) {
  for (const std::uint64_t shards : {1U, 2U, 3U, 16U, 1000U}) {
    for (const std::uint64_t blocks : {1U, 7U, 4096U, 1'000'003U}) {
      const blocked_probes whole(shape_of(filter_kind::blocked, shards * blocks * 512, 6));
      const blocked_probes shard(shape_of(filter_kind::blocked, blocks * 512, 6));
      for (const std::uint64_t hash : extreme_and_random_hashes()) {
        const std::uint64_t number = detail::multiply_high(hash, shards);
        ASSERT_EQ(whole.block_of(hash), number * blocks + shard.block_of(hash * shards));
      }
    }
  }
}

}  // namespace
}  // namespace bloomery
