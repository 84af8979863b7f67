// Arguments of commands as text.
#pragma once

#include <algorithm>
#include <string_view>

#include "api.hpp"

namespace bloomery_redis {

[[nodiscard]] inline std::string_view text_of(const api::string* s) noexcept {
  std::size_t size = 0;
  const char* const start = api::StringPtrLen(s, &size);
  return {start, size};
}

[[nodiscard]] constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Whether an argument is this word, in upper or lower case.
[[nodiscard]] inline bool is_word(std::string_view given, std::string_view upper) noexcept {
  return std::equal(given.begin(), given.end(), upper.begin(), upper.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace bloomery_redis
