// Integers and checksums in the files of a store: little-endian, XXH3-64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bloomery/hash/hash.hpp"
#include "core/integers.hpp"

namespace bloomery::detail {

[[nodiscard]] inline std::uint64_t checksum_of(std::string_view bytes) {
  return hash_key(xxh3_hasher(), bytes);
}

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace bloomery::detail
