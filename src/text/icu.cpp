#include "icu.hpp"

#include <unicode/uchar.h>
#include <unicode/ucnv.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include <memory>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/utf8.hpp"
#include "bloomery/text/speller.hpp"
#include "lists/characters.hpp"

namespace bloomery {

namespace {

// ICU's functions have lengths of 32 bits.
constexpr std::size_t most_bytes = std::size_t{1} << 29U;

std::int32_t length_of(std::size_t size) {
  if (size > most_bytes) {
    throw error(errc::unsupported, "a text of " + std::to_string(size) + " bytes; ICU takes " +
                                       std::to_string(most_bytes) + " at once");
  }
  return static_cast<std::int32_t>(size);
}

template <class Map>
std::u16string changed(const std::u16string& text, Map map) {
  // No text becomes more than three times as long (Unicode's SpecialCasing).
  std::u16string out(3 * text.size() + 1, u'\0');
  UErrorCode code = U_ZERO_ERROR;
  const std::int32_t size =
      map(out.data(), length_of(out.size()), text.data(), length_of(text.size()), code);
  icu::check(code);
  out.resize(static_cast<std::size_t>(size));
  return out;
}

std::u16string lower16(const std::u16string& text) {
  return changed(text,
                 [](char16_t* to, std::int32_t room, const char16_t* from, std::int32_t size,
                    UErrorCode& code) { return u_strToLower(to, room, from, size, "", &code); });
}

std::u16string upper16(const std::u16string& text) {
  return changed(text,
                 [](char16_t* to, std::int32_t room, const char16_t* from, std::int32_t size,
                    UErrorCode& code) { return u_strToUpper(to, room, from, size, "", &code); });
}

// The text in NFC.
std::u16string composed(const std::u16string& text) {
  UErrorCode code = U_ZERO_ERROR;
  const UNormalizer2* nfc = unorm2_getNFCInstance(&code);
  icu::check(code);
  return changed(text,
                 [&](char16_t* to, std::int32_t room, const char16_t* from, std::int32_t size,
                     UErrorCode& c) { return unorm2_normalize(nfc, from, size, to, room, &c); });
}

template <class Change>
std::string ascii_with(std::string_view text, Change change) {
  std::string out(text);
  for (char& c : out) c = change(c);
  return out;
}

char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
char ascii_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

}  // namespace

namespace icu {

void check(UErrorCode code) {
  if (U_FAILURE(code)) throw error(errc::unsupported, std::string("ICU: ") + u_errorName(code));
}

std::u16string to_utf16(std::string_view text) {
  std::u16string out(text.size() + 1, u'\0');
  std::int32_t size = 0;
  UErrorCode code = U_ZERO_ERROR;
  u_strFromUTF8WithSub(out.data(), length_of(out.size()), &size, text.data(),
                       length_of(text.size()), 0xfffd, nullptr, &code);
  check(code);
  out.resize(static_cast<std::size_t>(size));
  return out;
}

std::string to_utf8(std::u16string_view text) {
  std::string out(3 * text.size() + 1, '\0');
  std::int32_t size = 0;
  UErrorCode code = U_ZERO_ERROR;
  u_strToUTF8WithSub(out.data(), length_of(out.size()), &size, text.data(), length_of(text.size()),
                     0xfffd, nullptr, &code);
  check(code);
  out.resize(static_cast<std::size_t>(size));
  return out;
}

std::string lower(std::string_view text) {
  if (is_ascii(text)) return ascii_with(text, ascii_lower);
  return to_utf8(lower16(to_utf16(text)));
}

std::string upper(std::string_view text) {
  if (is_ascii(text)) return ascii_with(text, ascii_upper);
  return to_utf8(upper16(to_utf16(text)));
}

std::string title(std::string_view text) {
  const std::size_t first = text.empty() ? 0 : detail::code_point_bytes(text, 0);
  return upper(text.substr(0, first)) + lower(text.substr(first));
}

std::string small_first(std::string_view text) {
  const std::size_t first = text.empty() ? 0 : detail::code_point_bytes(text, 0);
  return lower(text.substr(0, first)).append(text.substr(first));
}

std::string folded(std::string_view text) {
  const std::u16string small =
      changed(to_utf16(text), [](char16_t* to, std::int32_t room, const char16_t* from,
                                 std::int32_t size, UErrorCode& code) {
        return u_strFoldCase(to, room, from, size, U_FOLD_CASE_DEFAULT, &code);
      });
  return to_utf8(composed(small));
}

std::string normal(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  std::string out = to_utf8(composed(to_utf16(text)));
  replace_all(out, "\u2019", "'");
  replace_all(out, "\u2010", "-");
  replace_all(out, "\u2011", "-");
  replace_all(out, "\u00ad", "");
  return out;
}

capital_form capital_form_of(std::string_view text) {
  std::size_t capitals = 0;
  std::size_t small = 0;
  bool first = false;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0;
    const auto c = static_cast<UChar32>(detail::next_character(text, at));
    const bool capital = c < 0x80 ? c >= 'A' && c <= 'Z' : u_isupper(c) != 0 || u_istitle(c) != 0;
    capitals += capital ? 1U : 0U;
    small += !capital && u_islower(c) != 0 ? 1U : 0U;
    first = first || (begins && capital);
  }
  if (capitals == 0) return capital_form::small;
  if (first && capitals == 1) return capital_form::titled;
  if (small == 0) return capital_form::capitals;
  return first ? capital_form::mixed_titled : capital_form::mixed;
}

}  // namespace icu

std::string to_utf8(std::string_view bytes, const std::string& encoding) {
  constexpr std::string_view vendor = "microsoft-";
  const std::string name = encoding.starts_with(vendor) ? encoding.substr(vendor.size()) : encoding;
  if (name == "UTF-8") return std::string(bytes);
  UErrorCode code = U_ZERO_ERROR;
  const std::unique_ptr<UConverter, void (*)(UConverter*)> converter(
      name.empty() ? nullptr : ucnv_open(name.c_str(), &code), ucnv_close);
  if (converter == nullptr || U_FAILURE(code)) {
    throw error(errc::unsupported, "the encoding '" + encoding.substr(0, 40) + "' is not known");
  }
  std::u16string wide(2 * bytes.size() + 1, u'\0');
  const std::int32_t size = ucnv_toUChars(converter.get(), wide.data(), length_of(wide.size()),
                                          bytes.data(), length_of(bytes.size()), &code);
  icu::check(code);
  return icu::to_utf8(std::u16string_view(wide).substr(0, static_cast<std::size_t>(size)));
}

}  // namespace bloomery
