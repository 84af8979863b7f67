// The few functions of ICU that are used, with strings and exceptions. Its C interface: the other
// is not stable between versions.
#pragma once

#include <unicode/utypes.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace bloomery::icu {

// Throws errc::unsupported with ICU's name for what went wrong.
void check(UErrorCode code);

[[nodiscard]] std::u16string to_utf16(std::string_view text);
[[nodiscard]] std::string to_utf8(std::u16string_view text);

[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] std::string upper(std::string_view text);
// The first character a capital, the others small.
[[nodiscard]] std::string title(std::string_view text);
// The first character small, the others as they are.
[[nodiscard]] std::string small_first(std::string_view text);

[[nodiscard]] inline bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & '\x80') == 0; });
}

// NFC, with typographic apostrophes and hyphens as on a typewriter, and without soft hyphens.
[[nodiscard]] std::string normal(std::string_view text);

// Case-folded, then NFC: words that differ only in case, or in how their characters are put
// together, are the same.
[[nodiscard]] std::string folded(std::string_view text);

// small: no capital. titled: the first letter only. capitals: all, and two at least. mixed_titled,
// mixed: anything else.
enum class capital_form : std::uint8_t { small, titled, capitals, mixed_titled, mixed };
[[nodiscard]] capital_form capital_form_of(std::string_view text);

}  // namespace bloomery::icu
