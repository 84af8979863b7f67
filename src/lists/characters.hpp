// UTF-8 to code points and back. A byte that is not UTF-8 is a code point above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "bloomery/detail/core/utf8.hpp"

namespace bloomery::detail {

inline constexpr char32_t foreign_byte = 0x110000;

// The character that begins at text[at]; moves `at` to the next one.
[[nodiscard]] inline char32_t next_character(std::string_view text, std::size_t& at) {
  const std::size_t bytes = code_point_bytes(text, at);
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[at + i]));
  };
  char32_t c = byte(0);
  if (bytes == 1 && c >= 0x80) c += foreign_byte;
  if (bytes > 1) c &= 0x7fU >> bytes;
  for (std::size_t i = 1; i < bytes; ++i) c = (c << 6U) | (byte(i) & 0x3fU);
  at += bytes;
  return c;
}

[[nodiscard]] inline std::u32string to_characters(std::string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) out.push_back(next_character(text, at));
  return out;
}

inline void append_character(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto tail = [&](unsigned shift) { put(0x80U | ((c >> shift) & 0x3fU)); };
  if (c >= foreign_byte) {
    put(c - foreign_byte);
  } else if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0U | (c >> 6U));
    tail(0);
  } else if (c < 0x10000) {
    put(0xe0U | (c >> 12U));
    tail(6);
    tail(0);
  } else {
    put(0xf0U | (c >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

[[nodiscard]] inline std::string to_text(std::u32string_view characters) {
  std::string out;
  for (const char32_t c : characters) append_character(out, c);
  return out;
}

}  // namespace bloomery::detail
