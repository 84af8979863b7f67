// Little-endian integers at any address, in containers of std::byte or char.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace bloomery::integers {

template <std::unsigned_integral Integer, class Bytes>
[[nodiscard]] Integer read(const Bytes& bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return static_cast<Integer>(value);
}

template <std::unsigned_integral Integer, class Bytes>
void write(Bytes& bytes, std::size_t at, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    bytes[at + i] = static_cast<typename Bytes::value_type>(std::uint64_t{value} >> (8 * i));
  }
}

template <std::unsigned_integral Integer, class Bytes>
void append(Bytes& bytes, Integer value) {
  bytes.resize(bytes.size() + sizeof value);
  write(bytes, bytes.size() - sizeof value, value);
}

}  // namespace bloomery::integers
