// Derives many keys from one secret, with libsodium: one for each recipient and each filter sent to
// it, so that recipients cannot combine their filters and the owner keeps one secret.
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

// A new master key, from the system's random numbers.
[[nodiscard]] master_key random_master_key();

[[nodiscard]] siphash_hasher::key_type derive_key(const master_key& master,
                                                  std::string_view recipient, std::uint32_t number);

// The hash functions of `count` filters for a recipient. Two parties that want to estimate an
// overlap derive them from a master key and a name on which they have agreed.
[[nodiscard]] std::vector<siphash_hasher> derive_hashers(const master_key& master,
                                                         std::string_view recipient,
                                                         std::uint32_t count);

}  // namespace bloomery
