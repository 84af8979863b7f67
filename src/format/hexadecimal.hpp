// Numbers as 16 hexadecimal digits.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bloomery::detail {

[[nodiscard]] inline std::string in_hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto* const end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  const auto count = static_cast<std::size_t>(end - digits.data());
  return std::string(digits.size() - count, '0') + std::string(digits.data(), count);
}

}  // namespace bloomery::detail
