// The keys of suite.cpp, and what it holds in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery::bench {

using key_list = std::vector<std::uint64_t>;

inline constexpr std::uint64_t most_keys = 4'000'000;  // asked, removed or added in one go

// Key number i is in the filter of n keys if i is below n. The multiplier is odd, so all keys
// differ.
inline std::uint64_t key_number(std::uint64_t i) { return i * 0x9e3779b97f4a7c15U; }

template <class Make>
key_list make_keys(std::uint64_t first, std::uint64_t count, Make make) {
  key_list keys(count);
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = make(first + i);
  return keys;
}

inline key_list asked_keys(std::uint64_t n) {
  return make_keys(0, std::min(n, most_keys), [n](std::uint64_t i) {
    const std::uint64_t random = splitmix64(i);
    return key_number(detail::multiply_high(random, n) + random % 2 * n);
  });
}

// Calls visit(keys) for all keys of the filter, some at a time.
template <class Visit>
void for_all_keys(std::uint64_t n, Visit visit) {
  for (std::uint64_t first = 0; first < n; first += most_keys) {
    visit(make_keys(first, std::min(most_keys, n - first), key_number));
  }
}

// What is measured: one thing at a time is in memory.
struct held_thing {
  std::string name;
  std::shared_ptr<void> thing;
};
inline held_thing& held() {
  static held_thing one;
  return one;
}

template <class What, class Make>
std::shared_ptr<What> hold(const std::string& name, Make make) {
  if (held().name != name) {
    held() = {};
    held() = {.name = name, .thing = std::make_shared<What>(make())};
  }
  return std::static_pointer_cast<What>(held().thing);
}

}  // namespace bloomery::bench
