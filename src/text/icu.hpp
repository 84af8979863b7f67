// What the library uses of ICU, by its C interface: that for C++ is not stable between versions.
#pragma once

#include <unicode/utypes.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace bloomery::icu {

void check(UErrorCode code);  // throws errc::unsupported with ICU's name for what went wrong

[[nodiscard]] std::u16string to_utf16(std::string_view text);
[[nodiscard]] std::string to_utf8(std::u16string_view text);

[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] std::string upper(std::string_view text);
// The text with its first character as a capital and the others small.
[[nodiscard]] std::string title(std::string_view text);
// The text with its first character small and the others unchanged.
[[nodiscard]] std::string small_first(std::string_view text);

[[nodiscard]] inline bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & '\x80') == 0; });
}

// The text in NFC, with ASCII apostrophes and hyphens, and without soft hyphens.
[[nodiscard]] std::string normal(std::string_view text);

// The text case-folded, then in NFC: words that differ in case or composition only become equal.
[[nodiscard]] std::string folded(std::string_view text);

// Which letters of a word are capitals. small: none. titled: the first only. capitals: all, and at
// least two. mixed_titled, mixed: others, with or without the first.
enum class capital_form : std::uint8_t { small, titled, capitals, mixed_titled, mixed };
[[nodiscard]] capital_form capital_form_of(std::string_view text);

}  // namespace bloomery::icu
