// Every pipeline of the floor does what the floor is: it reads, or inverts, the line of each key.
#include "bloomery/measure/floor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"

namespace {

using namespace bloomery;

constexpr std::array<std::size_t, 4> sizes = {1, 3, 100, 5000};  // in lines
constexpr std::array<std::size_t, 12> counts = {0, 1, 7, 8, 9, 63, 64, 65, 255, 256, 257, 1000};

constexpr std::uint64_t spread_seed = splitmix64(3);

std::vector<std::uint64_t> some_keys(std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = i % 700 * 0x9e3779b97f4a7c15U;  // some twice
  return keys;
}

std::size_t line_of(std::uint64_t key, std::size_t lines) {
  return static_cast<std::size_t>(detail::multiply_high(mix64(key, spread_seed), lines));
}

class pipelines : public testing::TestWithParam<floor_pipeline> {};

TEST_P(pipelines, read_counts_the_keys_whose_line_has_a_bit) {
  for (const std::size_t lines : sizes) {
    bit_array array(lines * 512);
    for (std::size_t l = 0; l < lines; l += 3) array.words()[l * 8 + l % 8] = l % 2 + 1;
    for (const std::size_t count : counts) {
      const auto keys = some_keys(count);
      std::uint64_t expected = 0;
      for (const std::uint64_t key : keys) expected += line_of(key, lines) % 3 == 0 ? 1U : 0U;
      EXPECT_EQ(GetParam().read(array.words(), {keys, spread_seed}), expected) << count;
    }
  }
}

TEST_P(pipelines, write_inverts_the_line_of_each_key) {
  for (const std::size_t lines : sizes) {
    for (const std::size_t count : counts) {
      bit_array array(lines * 512);
      for (std::size_t w = 0; w < lines * 8; ++w) array.words()[w] = w;
      const auto keys = some_keys(count);
      GetParam().write(array.words(), {keys, spread_seed});
      std::vector<std::uint64_t> expected(lines * 8);
      for (std::size_t w = 0; w < lines * 8; ++w) expected[w] = w;
      for (const std::uint64_t key : keys) {
        for (std::size_t w = 0; w < 8; ++w) {
          std::uint64_t& word = expected[line_of(key, lines) * 8 + w];
          word = ~word;
        }
      }
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), array.words().begin())) << count;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, pipelines,
                         testing::ValuesIn(floor_pipelines().begin(), floor_pipelines().end()),
                         [](const testing::TestParamInfo<floor_pipeline>& tested) {
                           std::string name(tested.param.name());
                           std::replace(name.begin(), name.end(), ' ', '_');
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

TEST(the_floor, the_fastest_is_one_of_them) {
  bit_array array(100 * 512);
  const auto keys = some_keys(1000);
  const auto is_one = [](const floor_pipeline& p) {
    const auto all = floor_pipelines();
    return &p >= all.data() && &p < all.data() + all.size();
  };
  EXPECT_TRUE(is_one(fastest_read(array.words(), {keys, spread_seed})));
  EXPECT_TRUE(is_one(fastest_write(array.words(), {keys, spread_seed})));
}

TEST(the_floor, names_the_kernel_in_use) {
  constexpr std::array<std::string_view, 4> names = {"portable", "avx2", "avx512", "neon"};
  EXPECT_NE(std::find(names.begin(), names.end(), kernel_in_use()), names.end());
  const char* const wanted = std::getenv("BLOOMERY_KERNEL");
  if (wanted != nullptr && std::string_view(wanted) == "portable") {
    EXPECT_EQ(kernel_in_use(), "portable");
  }
}

}  // namespace
