// Code points of text that is probably UTF-8; any other is taken byte by byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::detail {

// Bytes of the code point that begins at `text[at]`: 1 to 4, or 1 for a byte that begins none.
// Overlong forms, surrogates and numbers above U+10FFFF are no code points (RFC 3629).
[[nodiscard]] constexpr std::size_t code_point_bytes(std::string_view text,
                                                     std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first >= 0xc2U && first <= 0xdfU && follows(1)) return 2;
  if ((first & 0xf0U) == 0xe0U && follows(1) && follows(2)) {
    const bool overlong = first == 0xe0U && second < 0xa0U;
    const bool surrogate = first == 0xedU && second >= 0xa0U;
    return overlong || surrogate ? 1 : 3;
  }
  if (first >= 0xf0U && first <= 0xf4U && follows(1) && follows(2) && follows(3)) {
    const bool overlong = first == 0xf0U && second < 0x90U;
    const bool too_large = first == 0xf4U && second >= 0x90U;
    return overlong || too_large ? 1 : 4;
  }
  return 1;
}

// Where each code point begins, and at the end the length of the text.
[[nodiscard]] inline std::vector<std::size_t> code_point_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  std::size_t at = 0;
  for (; at < text.size(); at += code_point_bytes(text, at)) starts.push_back(at);
  starts.push_back(at);
  return starts;
}

// The same text, with U+FFFD in place of each byte that is no part of a code point: for formats
// that are UTF-8 and have no other way to carry such bytes.
[[nodiscard]] inline std::string valid_utf8(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = code_point_bytes(text, at);
    const bool stray = bytes == 1 && static_cast<unsigned char>(text[at]) >= 0x80U;
    out += stray ? std::string_view("\xef\xbf\xbd") : text.substr(at, bytes);
    at += bytes;
  }
  return out;
}

}  // namespace bloomery::detail
