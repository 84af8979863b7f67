// Which shapes a filter can have, and what is said about the others.
#include "bloomery/core/shape.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/block_geometry.hpp"

namespace bloomery {
namespace {

shape classic(std::uint64_t bits, std::uint32_t probes) {
  return {.kind = filter_kind::classic, .probes = probes, .bits = bits};
}
shape partitioned(std::uint64_t bits, std::uint32_t probes) {
  return {.kind = filter_kind::partitioned, .probes = probes, .bits = bits};
}
shape blocked(std::uint64_t bits, std::uint32_t probes) {
  return {.kind = filter_kind::blocked, .probes = probes, .block_bits = 512, .bits = bits};
}
shape foreign(std::uint64_t bits, std::uint32_t probes) {
  return {
      .kind = filter_kind::classic, .scheme = probe_scheme::modulo, .probes = probes, .bits = bits};
}

// The text of the refusal, empty when there is none.
std::string refusal(const shape& s) {
  try {
    check_shape(s);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_argument);
    return e.what();
  }
  return "";
}

testing::AssertionResult says(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << '"' << text << "\" does not hold \"" << part << '"';
}

TEST(Shape, KindsHaveNames) {
  EXPECT_EQ(kind_name(filter_kind::classic), "classic");
  EXPECT_EQ(kind_name(filter_kind::partitioned), "partitioned");
  EXPECT_EQ(kind_name(filter_kind::blocked), "blocked");
  EXPECT_EQ(kind_name(filter_kind{999}), "unknown");
}

TEST(Shape, NumbersOfTheFormatAreFrozen) {
  EXPECT_EQ(static_cast<int>(filter_kind::classic), 1);
  EXPECT_EQ(static_cast<int>(filter_kind::partitioned), 2);
  EXPECT_EQ(static_cast<int>(filter_kind::blocked), 3);
  EXPECT_EQ(static_cast<int>(filter_kind::split_block), 15);
  EXPECT_EQ(static_cast<int>(probe_scheme::multiply), 1);
  EXPECT_EQ(static_cast<int>(probe_scheme::modulo), 2);
}

TEST(Shape, TheSmallestAndLargestAreAccepted) {
  EXPECT_EQ(refusal(classic(1, 1)), "");
  EXPECT_EQ(refusal(classic(max_bits, 64)), "");
  EXPECT_EQ(refusal(partitioned(7, 7)), "");
  EXPECT_EQ(refusal(partitioned(max_bits, 64)), "");
  EXPECT_EQ(refusal(blocked(512, 1)), "");
  EXPECT_EQ(refusal(blocked(max_bits, 16)), "");
  EXPECT_EQ(refusal(foreign(std::uint64_t{1} << 32U, 4)), "");
}

TEST(Shape, BitsOutsideTheirRangeAreRefused) {
  EXPECT_TRUE(says(refusal(classic(0, 1)), "bits is 0"));
  EXPECT_TRUE(says(refusal(classic(max_bits + 1, 1)), "281474976710657"));
  EXPECT_TRUE(says(refusal(classic(max_bits + 1, 1)), "2^48"));
  EXPECT_TRUE(says(refusal(blocked(~std::uint64_t{0} - 511, 1)), "2^48"));
}

TEST(Shape, ProbesOutsideTheirRangeAreRefused) {
  EXPECT_TRUE(says(refusal(classic(64, 0)), "probes is 0"));
  EXPECT_TRUE(says(refusal(classic(64, 65)), "probes is 65, but it must be from 1 to 64"));
  EXPECT_TRUE(says(refusal(partitioned(6500, 65)), "from 1 to 64"));
  EXPECT_TRUE(says(refusal(blocked(512, 17)), "probes is 17, but it must be from 1 to 16"));
}

TEST(Shape, ABlockedArrayIsWholeBlocks) {
  EXPECT_TRUE(says(refusal(blocked(513, 4)), "513"));
  EXPECT_TRUE(says(refusal(blocked(513, 4)), "multiple of 512"));
  const shape split{.kind = filter_kind::split_block, .probes = 8, .block_bits = 256, .bits = 256};
  EXPECT_EQ(refusal(split), "");
  shape bad_split = split;
  bad_split.bits = 384;
  EXPECT_TRUE(says(refusal(bad_split), "384, but it must be a multiple of 256"));
  bad_split = split;
  bad_split.block_bits = 512;
  EXPECT_TRUE(says(refusal(bad_split), "in a block is 512, but it must be 256"));
  bad_split = split;
  bad_split.probes = 7;
  EXPECT_TRUE(says(refusal(bad_split), "probes is 7, but it must be 8 in a split-block filter"));
  shape wrong_block = blocked(512, 4);
  wrong_block.block_bits = 256;
  EXPECT_TRUE(says(refusal(wrong_block), "256"));
  shape not_blocked = classic(512, 4);
  not_blocked.block_bits = 512;
  EXPECT_TRUE(says(refusal(not_blocked), "512"));
}

TEST(Shape, APartitionedArrayIsEqualSlices) {
  EXPECT_TRUE(says(refusal(partitioned(100, 7)), "100"));
  EXPECT_TRUE(says(refusal(partitioned(100, 7)), "multiple of the number of probes"));
  EXPECT_EQ(refusal(partitioned(98, 7)), "");
}

TEST(Shape, ForeignDigestsNeedAClassicArrayThatTheirWordsReach) {
  EXPECT_TRUE(says(refusal(foreign((std::uint64_t{1} << 32U) + 1, 4)), "4294967297"));
  EXPECT_TRUE(says(refusal(foreign((std::uint64_t{1} << 32U) + 1, 4)), "2^32"));
  shape s = blocked(512, 4);
  s.scheme = probe_scheme::modulo;
  EXPECT_TRUE(says(refusal(s), "classic"));
}

TEST(Shape, EqualShapesHaveEqualFields) {
  EXPECT_EQ(blocked(1024, 6), blocked(1024, 6));
  EXPECT_NE(blocked(1024, 6), blocked(1024, 7));
  EXPECT_NE(blocked(1024, 6), blocked(512, 6));
  EXPECT_NE(classic(1024, 6), partitioned(1024, 6));
  EXPECT_NE(classic(1024, 6), foreign(1024, 6));
}

// ---- the geometry of a block ------------------------------------------------------------------

TEST(BlockGeometry, APatternHasAsManyLanesAsProbes) {
  for (std::uint32_t k = 0; k <= 16; ++k) {
    EXPECT_EQ(std::popcount(block_geometry::lane_pattern[k]), static_cast<int>(k));
  }
}

// A pattern that repeats under rotation would waste hash bits: two keys would meet in all lanes.
TEST(BlockGeometry, NoPatternBelowSixteenProbesRepeatsUnderRotation) {
  for (std::uint32_t k = 1; k < 16; ++k) {
    for (int r = 1; r < 16; ++r) {
      EXPECT_NE(std::rotl(block_geometry::lane_pattern[k], r), block_geometry::lane_pattern[k])
          << k << " probes, rotation " << r;
    }
  }
}

TEST(BlockGeometry, ListsOfLanesAreThePatterns) {
  for (std::uint32_t k = 1; k <= 16; ++k) {
    std::uint32_t pattern = 0;
    for (std::uint32_t j = 0; j < k; ++j) {
      pattern |= std::uint32_t{1} << block_geometry::pattern_lanes[k][j];
    }
    EXPECT_EQ(pattern, block_geometry::lane_pattern[k]);
  }
}

TEST(BlockGeometry, MultipliersAreOddAndDifferent) {
  const auto& multipliers = block_geometry::lane_multiplier;
  for (std::size_t i = 0; i < multipliers.size(); ++i) {
    EXPECT_EQ(multipliers[i] % 2, 1U);
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(multipliers[i], multipliers[j]);
  }
}

}  // namespace
}  // namespace bloomery
