// The part of hyphenation that needs ICU: which characters are letters, and small letters.
#include <unicode/uchar.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/text/hyphenator.hpp"
#include "lists/characters.hpp"
#include "lists/numbered_lines.hpp"

namespace bloomery {

namespace {

bool is_letter(char32_t c) {
  if (c >= detail::foreign_byte) return false;
  const auto character = static_cast<UChar32>(c);
  constexpr std::uint32_t marks = U_GC_MN_MASK | U_GC_MC_MASK;
  return u_isalpha(character) != 0 || (U_GET_GC_MASK(character) & marks) != 0;
}

// One character for one, so that the places of hyphens are those in the text.
char32_t small(char32_t c) {
  return c >= detail::foreign_byte ? c : static_cast<char32_t>(u_tolower(static_cast<UChar32>(c)));
}

// The word of a line of a list: small, without hyphens.
std::string word_in(std::string_view line) {
  std::string word;
  for (const char32_t c : detail::to_characters(line)) {
    if (c != U'-') detail::append_character(word, small(c));
  }
  return word;
}

std::string_view without_blanks(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

// Appends the word with hyphens where `broken`, which is the same word in small letters, has them.
// An entry that is another word, which no list here gives, leaves the word as it is.
void append_broken(std::string& out, std::u32string_view word, std::string_view broken,
                   std::string_view hyphen) {
  std::string made;
  std::size_t place = 0;
  for (const char32_t c : detail::to_characters(broken)) {
    if (c == U'-') {
      made.append(hyphen);
    } else if (place < word.size() && small(word[place]) == c) {
      detail::append_character(made, word[place++]);
    } else {
      place = word.size() + 1;
      break;
    }
  }
  out.append(place == word.size() ? made : detail::to_text(word));
}

}  // namespace

hyphen_list::hyphen_list(std::string_view text, const std::string& name) : text_(text) {
  detail::numbered_lines lines(text, name);
  while (lines.next()) {
    const std::string_view line = without_blanks(lines.line());
    if (line.empty()) continue;
    const std::u32string all = detail::to_characters(line);
    const bool sound =
        std::ranges::all_of(all, [](char32_t c) { return is_letter(c) || c == U'-'; });
    if (!sound || all.front() == U'-' || all.back() == U'-') {
      lines.fail(errc::corrupt,
                 "an entry is a word of letters with hyphens inside, such as ta-ble");
    }
    places_.push_back({.hash = hash_key(xxh3_hasher(), word_in(line)),
                       .begin = static_cast<std::uint64_t>(line.data() - text.data())});
  }
  std::ranges::stable_sort(places_, {}, &place::hash);
}

std::string_view hyphen_list::line_at(std::uint64_t begin) const {
  const std::string_view rest = text_.substr(static_cast<std::size_t>(begin));
  return without_blanks(rest.substr(0, rest.find('\n')));
}

std::optional<std::string> hyphen_list::find(std::string_view word) const {
  const std::uint64_t hash = hash_key(xxh3_hasher(), word);
  auto next = std::ranges::lower_bound(places_, hash, {}, &place::hash);
  for (; next != places_.end() && next->hash == hash; ++next) {
    const std::string_view line = line_at(next->begin);
    if (word_in(line) != word) continue;
    std::string entry;
    for (const char32_t c : detail::to_characters(line)) detail::append_character(entry, small(c));
    return entry;
  }
  return std::nullopt;
}

void hyphen_list::for_each(const std::function<void(std::string_view word)>& each) const {
  for (const place& p : places_) each(word_in(line_at(p.begin)));
}

std::string hyphenate_text(std::string_view text, hyphenator& words, std::string_view hyphen) {
  const std::u32string all = detail::to_characters(text);
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for (std::size_t at = 0; at < all.size();) {
    std::size_t end = at;
    while (end < all.size() && is_letter(all[end])) ++end;
    if (end == at) {
      detail::append_character(out, all[at++]);
      continue;
    }
    const std::u32string_view word = std::u32string_view(all).substr(at, end - at);
    std::string lower;
    for (const char32_t c : word) detail::append_character(lower, small(c));
    append_broken(out, word, words.hyphenate(lower), hyphen);
    at = end;
  }
  return out;
}

}  // namespace bloomery
