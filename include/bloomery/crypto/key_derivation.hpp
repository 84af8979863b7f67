// Many keys from one secret, from libsodium: a key for each recipient and each filter that goes to
// him, so that no two recipients can lay their filters together, and the owner has to keep one
// secret only.
//
//     key = BLAKE2b (16 bytes of output, keyed with the master key) of
//           "bloomery key" | number of the filter, 4 bytes, little-endian | name of the recipient
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bloomery/crypto/siphash.hpp"

namespace bloomery {

using master_key = std::array<std::byte, 32>;

// A new one, from the system's random numbers.
[[nodiscard]] master_key random_master_key();

[[nodiscard]] siphash_hasher::key_type derive_key(const master_key& master,
                                                  std::string_view recipient, std::uint32_t number);

// The hash functions of `count` filters for a recipient. For an overlap, two parties derive from a
// master key and a name on which they agreed.
[[nodiscard]] std::vector<siphash_hasher> derive_hashers(const master_key& master,
                                                         std::string_view recipient,
                                                         std::uint32_t count);

}  // namespace bloomery
