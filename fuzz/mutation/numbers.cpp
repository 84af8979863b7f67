#include "mutation/numbers.hpp"

namespace bloomery_fuzz {

std::uint64_t get_number(const byte_vector& bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
  }
  return value;
}

void put_number(byte_vector& bytes, std::size_t at, std::size_t size, std::uint64_t value) {
  for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i) {
    bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

}  // namespace bloomery_fuzz
