// Derives many keys from one secret, with libsodium: one for each recipient and each filter sent to
// it, so that recipients cannot combine their filters and the owner keeps one secret.
//
//     key = BLAKE2b (16 bytes of output, keyed with the master key) of
//           "bloomery key" | number of the filter, 4 bytes, little-endian | name of the recipient
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/crypto/siphash.hpp"

namespace bloomery {

using master_key = std::array<std::byte, 32>;

// A new master key, from the system's random numbers.
[[nodiscard]] master_key random_master_key();

[[nodiscard]] siphash_hasher::key_type derive_key(const master_key& master,
                                                  std::string_view recipient, std::uint32_t number);

// The hash functions of `count` filters for a recipient, from number `first` on. Two parties that
// want to estimate an overlap derive them from a master key and a name on which they have agreed.
[[nodiscard]] std::vector<siphash_hasher> derive_hashers(const master_key& master,
                                                         std::string_view recipient,
                                                         std::uint32_t count,
                                                         std::uint32_t first = 0);

// A file of a master key holds 64 hexadecimal digits, with or without a line end, or 32 raw bytes.
[[nodiscard]] master_key read_master_key(const std::filesystem::path& path);

// Keys as a recipient gets them: 32 hexadecimal digits, one key a line. Reading throws errc::io,
// and errc::corrupt with the line for anything else.
[[nodiscard]] std::string keys_as_text(const std::vector<siphash_hasher::key_type>& keys);
[[nodiscard]] std::vector<siphash_hasher::key_type> read_keys(const std::filesystem::path& path);

}  // namespace bloomery
