#include "words.hpp"

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

#include <algorithm>

#include "bloomery/detail/core/utf8.hpp"
#include "icu.hpp"
#include "lists/characters.hpp"

namespace bloomery {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20U;
constexpr std::string_view blanks = " \t\r\n\v\f";

bool is_hyphen(std::string_view segment) {
  return segment == "-" || segment == "\u2010" || segment == "\u2011";
}

// The length of a piece that ends after a blank, or between two characters if there is no blank.
std::size_t piece_of(std::string_view text) {
  if (text.size() <= piece_bytes) return text.size();
  const std::size_t blank = text.substr(0, piece_bytes).find_last_of(blanks);
  if (blank != std::string_view::npos) return blank + 1;
  std::size_t end = piece_bytes;
  while (end > piece_bytes - 4 && (text[end] & '\xc0') == '\x80') --end;
  return end;
}

bool is_blank(char c) { return blanks.find(c) != std::string_view::npos; }

// Whether a file path begins at the slash: first in a run, perhaps in quotes, or after a '='.
bool begins_path(std::string_view piece, std::size_t slash) {
  if (slash > 0 && piece[slash - 1] == '=') return true;
  const bool opened =
      slash > 0 && std::string_view("('\"`<[~").find(piece[slash - 1]) != std::string_view::npos;
  const std::size_t begin = opened ? slash - 1 : slash;
  return begin == 0 || is_blank(piece[begin - 1]);
}

// The next sign of an address: "://", "www.", a @ between two characters, or the start of a path.
std::size_t next_sign(std::string_view piece, std::size_t from) {
  for (std::size_t at = piece.find_first_of(":@w/", from); at != std::string_view::npos;
       at = piece.find_first_of(":@w/", at + 1)) {
    const std::string_view rest = piece.substr(at);
    if (rest.starts_with("://") || rest.starts_with("www.")) return at;
    if (rest.size() == 1 || is_blank(piece[at + 1])) continue;
    if (rest[0] == '@' && at > 0 && !is_blank(piece[at - 1])) return at;
    if (rest[0] == '/' && begins_path(piece, at)) return at;
  }
  return std::string_view::npos;
}

}  // namespace

struct word_finder::iterator {
  iterator() {
    UErrorCode code = U_ZERO_ERROR;
    breaks = ubrk_open(UBRK_WORD, "", nullptr, 0, &code);
    icu::check(code);
  }
  iterator(const iterator&) = delete;
  iterator& operator=(const iterator&) = delete;
  ~iterator() {
    ubrk_close(breaks);
    utext_close(&text);
  }

  void begin(std::string_view piece) {
    UErrorCode code = U_ZERO_ERROR;
    utext_openUTF8(&text, piece.data(), static_cast<std::int64_t>(piece.size()), &code);
    ubrk_setUText(breaks, &text, &code);
    icu::check(code);
  }

  UBreakIterator* breaks = nullptr;
  UText text = UTEXT_INITIALIZER;
};

word_finder::word_finder() : iterator_(std::make_unique<iterator>()) {}
word_finder::~word_finder() = default;

void word_finder::find(std::string_view text, const std::function<void(const word_run&)>& each) {
  while (!text.empty()) {
    const std::size_t size = piece_of(text);
    find_in_piece(text.substr(0, size), each);
    text.remove_prefix(size);
  }
}

void word_finder::find_addresses(std::string_view piece) {
  addresses_.clear();
  std::size_t end = 0;
  for (std::size_t at = next_sign(piece, 0); at != std::string_view::npos;
       at = next_sign(piece, end)) {
    const std::size_t blank = piece.substr(end, at - end).find_last_of(blanks);
    const std::size_t begin = blank == std::string_view::npos ? end : end + blank + 1;
    end = std::min(piece.find_first_of(blanks, at), piece.size());
    addresses_.push_back(piece.substr(begin, end - begin));
  }
}

void word_finder::find_in_piece(std::string_view piece,
                                const std::function<void(const word_run&)>& each) {
  find_addresses(piece);
  auto address = addresses_.begin();
  iterator_->begin(piece);
  word_run run;
  bool joined = false;  // a hyphen follows the last word
  const auto finish = [&] {
    if (!run.words.empty()) each(run);
    run.words.clear();
    joined = false;
  };
  UBreakIterator* const breaks = iterator_->breaks;
  auto begin = static_cast<std::size_t>(ubrk_first(breaks));
  for (std::int32_t next = ubrk_next(breaks); next != UBRK_DONE; next = ubrk_next(breaks)) {
    const auto end = static_cast<std::size_t>(next);
    const std::string_view segment = piece.substr(begin, end - begin);
    begin = end;
    while (address != addresses_.end() && address->data() + address->size() <= segment.data()) {
      ++address;
    }
    const bool skipped = address != addresses_.end() && segment.data() >= address->data();
    if (!skipped && ubrk_getRuleStatus(breaks) >= UBRK_WORD_NUMBER) {
      if (!joined) finish();
      run.words.push_back(segment);
      joined = false;
    } else if (!skipped && !run.words.empty() && !joined && is_hyphen(segment)) {
      joined = true;
    } else {
      finish();
    }
  }
  finish();
}

bool has_digit(std::string_view word) {
  for (std::size_t at = 0; at < word.size();) {
    if (u_isdigit(static_cast<UChar32>(detail::next_character(word, at))) != 0) return true;
  }
  return false;
}

void for_each_part(std::string_view word, const std::function<void(std::string_view)>& each) {
  std::size_t begin = 0;
  std::size_t end = 0;
  const auto finish = [&] {
    std::string_view part = word.substr(begin, end - begin);
    while (part.starts_with('\'')) part.remove_prefix(1);
    while (part.ends_with('\'')) part.remove_suffix(1);
    if (!part.empty()) each(part);
  };
  for (std::size_t at = 0; at < word.size(); at = end) {
    end = at + detail::code_point_bytes(word, at);
    const std::string_view character = word.substr(at, end - at);
    // Some versions of ICU treat @ as a letter.
    if (std::string_view("_.:@").find(character) == std::string_view::npos) continue;
    end = at;
    finish();
    begin = end = at + 1;
  }
  finish();
}

}  // namespace bloomery
