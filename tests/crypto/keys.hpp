// What the tests of keyed hashes share.
#pragma once

#include <cstddef>

#include "bloomery/crypto/siphash.hpp"

namespace bloomery {

// 00 01 02 ...
inline siphash_hasher::key_type counting_key() {
  siphash_hasher::key_type key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  return key;
}

}  // namespace bloomery
