#include "bloomery/filter/cell_fill.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace {

using namespace bloomery;

TEST(cell_fill, bits_are_counted_slice_by_slice) {
  const std::array<std::uint64_t, 4> words = {0, ~std::uint64_t{0}, 0xff, 1};
  const cell_array array{.unit = "bits", .parts = {words}};
  const std::vector<cell_slice> slices = fill_slices(array, 2);
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[0].cells, 128U);
  EXPECT_EQ(slices[0].used, 64U);
  EXPECT_EQ(slices[1].cells, 128U);
  EXPECT_EQ(slices[1].used, 9U);
  EXPECT_EQ(fill_slices(array, 100).size(), 4U);  // no more than there are words
}

TEST(cell_fill, cells_of_any_width_and_in_words) {
  // Ten cells of 12 bits in two words, the last of which is cut; the second one is used.
  const std::array<std::uint64_t, 2> words = {std::uint64_t{5} << 12U, 0};
  const cell_array packed{.unit = "cells", .parts = {words}, .cell_bits = 12};
  ASSERT_EQ(fill_slices(packed, 9).size(), 1U);
  EXPECT_EQ(fill_slices(packed, 9)[0].cells, 10U);
  EXPECT_EQ(fill_slices(packed, 9)[0].used, 1U);
  const cell_array in_words{.unit = "cells", .parts = {words}, .cell_bits = 12, .in_words = true};
  ASSERT_EQ(fill_slices(in_words, 9).size(), 2U);
  EXPECT_EQ(fill_slices(in_words, 9)[0].cells, 5U);
  EXPECT_EQ(fill_slices(in_words, 9)[0].used, 1U);
}

TEST(cell_fill, no_array_and_no_slices) {
  EXPECT_TRUE(fill_slices({}, 10).empty());
  const std::array<std::uint64_t, 1> words = {1};
  EXPECT_TRUE(fill_slices({.unit = "bits", .parts = {words}}, 0).empty());
}

}  // namespace
