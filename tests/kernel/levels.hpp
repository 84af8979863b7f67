// What the tests of the kernels share: the instruction sets of this machine, and keys.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../../src/kernel/dispatch.hpp"
#include "bloomery/hash/hash.hpp"

namespace kernel_tests {

inline std::vector<bloomery::kernel::level> available_levels() {
  std::vector<bloomery::kernel::level> all;
  for (const auto l : bloomery::kernel::levels) {
    if (bloomery::kernel::available(l)) all.push_back(l);
  }
  return all;
}

inline std::string name_of(const testing::TestParamInfo<bloomery::kernel::level>& test) {
  return std::string(level_name(test.param));
}

inline constexpr std::uint64_t spread_seed = bloomery::splitmix64(7);

inline std::vector<std::uint64_t> integers(std::size_t count, std::uint64_t first = 1) {
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = first + i * 0x10001;
  return keys;
}

inline std::vector<std::uint64_t> mixed(std::span<const std::uint64_t> keys) {
  std::vector<std::uint64_t> hashes;
  for (const std::uint64_t key : keys) {
    hashes.push_back(bloomery::mix64(key, spread_seed));
  }
  return hashes;
}

}  // namespace kernel_tests
