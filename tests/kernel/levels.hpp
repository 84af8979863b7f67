// The instruction sets that this machine has, as parameters of tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../../src/kernel/dispatch.hpp"

namespace bloomery_test {

inline std::vector<bloomery::kernel::level> available_levels() {
  std::vector<bloomery::kernel::level> all;
  for (const auto l : bloomery::kernel::levels) {
    if (bloomery::kernel::available(l)) all.push_back(l);
  }
  return all;
}

inline std::string level_of_test(const testing::TestParamInfo<bloomery::kernel::level>& test) {
  return std::string(bloomery::kernel::level_name(test.param));
}

}  // namespace bloomery_test
