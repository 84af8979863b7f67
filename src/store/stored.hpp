// Reads and writes the integers and checksums in the files of a store: little-endian, XXH3-64.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bloomery/hash/hash.hpp"

namespace bloomery::detail {

template <std::unsigned_integral Integer>
void put_integer(std::string& out, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    out.push_back(static_cast<char>((value >> (8 * i)) & 0xffU));
  }
}

template <std::unsigned_integral Integer>
[[nodiscard]] Integer get_integer(std::string_view text, std::size_t at) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value |= static_cast<Integer>(static_cast<unsigned char>(text[at + i])) << (8 * i);
  }
  return value;
}

[[nodiscard]] inline std::uint64_t checksum_of(std::string_view bytes) {
  return hash_key(xxh3_hasher(), bytes);
}

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace bloomery::detail
