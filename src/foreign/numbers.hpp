// Little-endian numbers at any place of some bytes, on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::foreign {

// The caller has checked that there are so many bytes.
[[nodiscard]] inline std::uint64_t read_number(std::span<const std::byte> bytes, std::size_t at,
                                               std::size_t count) noexcept {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < count; ++i) {
    n |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
  }
  return n;
}

}  // namespace bloomery::foreign
