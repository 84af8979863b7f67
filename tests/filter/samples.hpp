// What the tests of filters and files share: hashes from a fixed stream, and the check of an error.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bloomery/bloomery.hpp"

namespace bloomery_test {

// Hash number `index` of a stream. Different for every pair of a stream and an index below 2^32,
// since splitmix64 is a bijection.
template <class Hash = std::uint64_t>
Hash sample_hash(std::uint64_t index, std::uint64_t stream = 1) {
  const std::uint64_t hash = bloomery::splitmix64((stream << 32U) | index);
  if constexpr (std::is_same_v<Hash, bloomery::digest>) {
    bloomery::digest d;
    for (std::uint32_t j = 0; j < d.words.size(); ++j) {
      d.words[j] = static_cast<std::uint32_t>(bloomery::splitmix64(hash + j));
    }
    return d;
  } else {
    return hash;
  }
}

// A digest without cryptography, so that digest filters are tested where that was left out.
class toy_digest_hasher {
 public:
  using result_type = bloomery::digest;
  static constexpr bloomery::hash_id id = bloomery::hash_id::md5;

  [[nodiscard]] static constexpr std::uint32_t probes() noexcept { return 4; }
  [[nodiscard]] bloomery::digest bytes(const void* data, std::size_t size) const noexcept {
    return integer(XXH3_64bits(data, size));
  }
  [[nodiscard]] bloomery::digest integer(std::uint64_t key) const noexcept {
    return sample_hash<bloomery::digest>(key & UINT32_MAX);
  }
  [[nodiscard]] bloomery::hash_spec spec() const noexcept { return {.id = id}; }
};

template <class Hash = std::uint64_t>
std::vector<Hash> sample_hashes(std::size_t count, std::uint64_t stream = 1) {
  std::vector<Hash> hashes;
  for (std::size_t i = 0; i < count; ++i) hashes.push_back(sample_hash<Hash>(i, stream));
  return hashes;
}

// 0, 1, 2, ... as keys. (clang 14 cannot compile libstdc++ 12's std::views::iota.)
inline std::vector<std::uint64_t> numbers(std::size_t count) {
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

inline std::vector<std::uint64_t> words_of(const auto& filter) {
  return {filter.words().begin(), filter.words().end()};
}

// For EXPECT_TRUE: work() throws this code, with a message that holds `text`.
template <class Work>
testing::AssertionResult throws(bloomery::errc code, std::string_view text, Work work) {
  try {
    work();
  } catch (const bloomery::error& e) {
    const std::string what = e.what();
    if (e.code() == code && what.find(text) != std::string::npos) {
      return testing::AssertionSuccess();
    }
    return testing::AssertionFailure()
           << "threw code " << static_cast<int>(e.code()) << ", \"" << what << "\", not code "
           << static_cast<int>(code) << " with \"" << text << "\"";
  } catch (const std::exception& e) {
    return testing::AssertionFailure() << "threw something else: " << e.what();
  }
  return testing::AssertionFailure() << "threw nothing, not \"" << text << "\"";
}

}  // namespace bloomery_test
