// What the statistical tests of the static kinds share.
//
// The rate of a static filter is no random draw: a hash that was not given finds the fingerprint
// that its cells make with probability fpr(), whatever the keys. So the number of false positives
// among N questions is binomial, and the tolerance is five standard deviations of that, which
// chance exceeds once in 1.7 million.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "filter/samples.hpp"

namespace bloomery_test {

template <class Filter>
void expect_stated_rate(const Filter& f, std::uint64_t questions, std::uint64_t stream) {
  std::uint64_t found = 0;
  std::vector<std::uint64_t> hashes(1U << 16U);
  std::uint64_t asked = 0;
  for (; asked < questions; asked += hashes.size()) {
    for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = sample_hash(asked + i, stream);
    found += f.contains_count(hashes);
  }
  const double mean = f.fpr() * static_cast<double>(asked);
  EXPECT_NEAR(static_cast<double>(found), mean, 5 * std::sqrt(mean * (1 - f.fpr())) + 1);
}

// Bits that the bound asks for, times `factor`, are enough for all of the payload.
template <class Filter>
void expect_within(const Filter& f, double bits_of_a_key, double factor) {
  EXPECT_LE(static_cast<double>(f.shape().bits),
            factor * static_cast<double>(f.keys()) * bits_of_a_key);
}

}  // namespace bloomery_test
