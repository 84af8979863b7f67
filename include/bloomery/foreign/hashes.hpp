// The hash function that valkey-bloom keeps its filters with; RedisBloom's is in hash/murmur.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bloomery::foreign {

// SipHash with one round a word and three at the end (Aumasson and Bernstein 2012), of the key's
// length in eight bytes and then the key: how programs in Rust hash a slice of bytes.
using sip_key = std::array<std::byte, 16>;
[[nodiscard]] std::uint64_t sip13_of_slice(std::string_view key, const sip_key& secret) noexcept;

}  // namespace bloomery::foreign
