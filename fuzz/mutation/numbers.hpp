// Numbers in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bloomery_fuzz {

using byte_vector = std::vector<std::byte>;

// The unsigned little-endian number of `size` bytes at `at`; bytes past the end are 0, and writing
// leaves them out.
[[nodiscard]] std::uint64_t get_number(const byte_vector& bytes, std::size_t at, std::size_t size);
void put_number(byte_vector& bytes, std::size_t at, std::size_t size, std::uint64_t value);

}  // namespace bloomery_fuzz
