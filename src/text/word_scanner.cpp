#include "bloomery/text/word_scanner.hpp"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <utility>

#include "bloomery/detail/core/utf8.hpp"
#include "icu.hpp"
#include "lists/characters.hpp"

namespace bloomery {

namespace {

// For each byte: the small ASCII letter or digit, or 0 for what separates words or is above ASCII.
constexpr std::array<char, 256> in_word = [] {
  std::array<char, 256> table{};
  for (char c = '0'; c <= '9'; ++c) table[static_cast<unsigned char>(c)] = c;
  for (char c = 'a'; c <= 'z'; ++c) {
    table[static_cast<unsigned char>(c)] = c;
    table[static_cast<unsigned char>(c - 'a' + 'A')] = c;
  }
  return table;
}();

bool is_mark(UChar32 c) {
  return (U_GET_GC_MASK(c) & (U_GC_MN_MASK | U_GC_MC_MASK | U_GC_ME_MASK)) != 0;
}

// The number of bytes at the end of the text that may be the beginning of a character.
std::size_t unfinished(std::string_view text) {
  const std::size_t most = std::min<std::size_t>(3, text.size());
  for (std::size_t i = 1; i <= most; ++i) {
    const auto byte = static_cast<unsigned char>(text[text.size() - i]);
    if ((byte & 0xc0U) == 0x80U) continue;
    const std::size_t length = byte >= 0xf0U ? 4 : byte >= 0xe0U ? 3 : byte >= 0xc0U ? 2 : 1;
    return length > i ? i : 0;
  }
  return 0;
}

}  // namespace

void word_scanner::feed(std::string_view bytes, const receiver& each) {
  std::string joined;
  if (!rest_.empty()) {
    joined = std::exchange(rest_, {}).append(bytes);
    bytes = joined;
  }
  const std::size_t later = unfinished(bytes);
  rest_ = bytes.substr(bytes.size() - later);
  scan(bytes.substr(0, bytes.size() - later), each);
}

void word_scanner::finish(const receiver& each) {
  scan(std::exchange(rest_, {}), each);
  end_word(each);
}

void word_scanner::scan(std::string_view text, const receiver& each) {
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if ((c & '\x80') != 0) {
      const std::size_t bytes = detail::code_point_bytes(text, at);
      take_character(text.substr(at, bytes), each);
      at += bytes;
      continue;
    }
    ++at;
    if (const char folded = in_word[static_cast<unsigned char>(c)]; folded != 0) {
      word_.push_back(folded);
      if (word_.size() >= longest_word) end_word(each);
    } else if (!word_.empty()) {
      end_word(each);
    }
  }
}

void word_scanner::take_character(std::string_view character, const receiver& each) {
  std::size_t at = 0;
  const char32_t code = detail::next_character(character, at);
  const auto c = static_cast<UChar32>(code);
  const bool joins =
      code < detail::foreign_byte && (u_isalnum(c) != 0 || (!word_.empty() && is_mark(c)));
  if (!joins) return end_word(each);
  word_.append(character);
  ascii_ = false;
  if (word_.size() >= longest_word) end_word(each);
}

void word_scanner::end_word(const receiver& each) {
  if (word_.empty()) return;
  if (ascii_) {
    each(word_);
  } else {
    each(icu::folded(word_));
  }
  word_.clear();
  ascii_ = true;
}

}  // namespace bloomery
