// What the tests and the benchmark of sketches share: streams of keys with known counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bloomery/hash/hash.hpp"

namespace bloomery_test {

// True of a type that is made from options in braces.
template <class T>
concept made_from_bare_options = requires { T({.keys = 1000U, .fpr = 0.01}); };

// The same as sample_hash(index, stream) of filter/samples.hpp, without GoogleTest.
inline std::uint64_t stream_hash(std::uint64_t index, std::uint64_t stream = 1) {
  return bloomery::splitmix64((stream << 32U) | index);
}

// Key i of `keys` with a probability in proportion to (i + 1)^-exponent, `length` times.
inline std::vector<std::uint32_t> zipf_stream(std::size_t keys, std::size_t length, double exponent,
                                              std::uint64_t seed) {
  std::vector<double> until;
  until.reserve(keys);
  double sum = 0;
  for (std::size_t i = 0; i < keys; ++i) {
    sum += std::pow(static_cast<double>(i + 1), -exponent);
    until.push_back(sum);
  }
  std::vector<std::uint32_t> stream;
  stream.reserve(length);
  for (std::size_t i = 0; i < length; ++i) {
    const double u = static_cast<double>(stream_hash(i, seed) >> 11U) * 0x1p-53 * sum;
    const auto at = std::upper_bound(until.begin(), until.end(), u) - until.begin();
    stream.push_back(
        std::min(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(keys - 1)));
  }
  return stream;
}

inline std::vector<std::uint64_t> counts_in(const std::vector<std::uint32_t>& stream,
                                            std::size_t keys) {
  std::vector<std::uint64_t> counts(keys);
  for (const std::uint32_t key : stream) ++counts[key];
  return counts;
}

inline std::vector<std::uint64_t> hashes_of(const std::vector<std::uint32_t>& stream) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(stream.size());
  for (const std::uint32_t key : stream) hashes.push_back(stream_hash(key));
  return hashes;
}

}  // namespace bloomery_test
