#include "bloomery/lists/block_scan.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "bloomery/lists/url.hpp"

namespace bloomery {

namespace {

// For each of the 256 bytes: whether it is part of a word, and what it says about the word.
constexpr std::uint8_t word_byte = 1;
constexpr std::uint8_t letter = 2;
constexpr std::uint8_t hex = 4;
constexpr std::uint8_t dot = 8;
constexpr std::uint8_t colon = 16;
constexpr std::uint8_t ends_url = 32;

constexpr std::array<std::uint8_t, 256> byte_table() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < 256; ++c) {
    const bool small = (c | 0x20U) >= 'a' && (c | 0x20U) <= 'z' && c < 0x80;
    const bool digit = c >= '0' && c <= '9';
    if (small || c >= 0x80) table[c] = word_byte | letter;
    if (small && (c | 0x20U) <= 'f') table[c] |= hex;
    if (digit) table[c] = word_byte | hex;
    if (c <= ' ' || c == 0x7f) table[c] = ends_url;
  }
  table['-'] = table['_'] = word_byte;
  table['.'] = word_byte | dot;
  table[':'] = word_byte | colon;
  for (const char c : std::string_view("\"'<>`|{}"))
    table[static_cast<unsigned char>(c)] = ends_url;
  return table;
}
constexpr std::array<std::uint8_t, 256> bytes = byte_table();
constexpr std::uint8_t class_of(char c) noexcept { return bytes[static_cast<unsigned char>(c)]; }

constexpr std::string_view loose = ".-_:";  // may stand beside a word without being part of it

std::string_view strip(std::string_view word) noexcept {
  const std::size_t begin = word.find_first_not_of(loose);
  if (begin == std::string_view::npos) return {};
  return word.substr(begin, word.find_last_not_of(loose) - begin + 1);
}

void take_part(std::string_view part, std::vector<text_thing>& out) {
  part = strip(part);
  const std::size_t last_dot = part.rfind('.');
  if (last_dot == std::string_view::npos || part.size() > longest_domain) return;
  const std::string_view ending = part.substr(last_dot + 1);
  if ((class_of(ending.back()) & letter) == 0 && !ending.starts_with("xn--")) {
    if (part.size() > 15) return;
    if (const auto a = ip_address::parse(part)) out.push_back({thing_kind::address, part, *a});
    return;
  }
  const bool letters =
      std::all_of(ending.begin(), ending.end(), [](char c) { return (class_of(c) & letter) != 0; });
  if (ending.size() < 2 || (!letters && !ending.starts_with("xn--"))) return;
  out.push_back({thing_kind::domain, part, {}});
}

bool take_v6(std::string_view word, std::vector<text_thing>& out) {
  if (word.size() < 2 || word.size() > 46) return false;
  auto address = ip_address::parse(word);
  if (!address && loose.find(word.back()) != std::string_view::npos) {  // "::1: no such host"
    word.remove_suffix(1);
    address = ip_address::parse(word);
  }
  if (!address || address->family != ip_family::v6) return false;
  out.push_back({thing_kind::address, word, *address});
  return true;
}

// Takes a word with colons: IPv6, perhaps after a name as in mail ("IPv6:2001:db8::1"), or several.
void take_word(std::string_view word, std::size_t colons, std::vector<text_thing>& out) {
  if (colons >= 2) {
    if (take_v6(word, out)) return;
    if (take_v6(word.substr(word.find(':') + 1), out)) return;
  }
  while (!word.empty()) {
    const std::size_t end = std::min(word.find(':'), word.size());
    take_part(word.substr(0, end), out);
    word.remove_prefix(std::min(end + 1, word.size()));
  }
}

constexpr bool is_punctuation(char c) noexcept {
  return std::string_view(".,;:!)]").find(c) != std::string_view::npos;
}

// The URL without punctuation around it, but with a bracket that it opened. The host stays whole.
std::string_view without_punctuation(std::string_view text, std::size_t host) noexcept {
  const auto surplus = [&](char close, char open) {
    return std::count(text.begin(), text.end(), close) - std::count(text.begin(), text.end(), open);
  };
  auto round = surplus(')', '(');
  auto square = surplus(']', '[');
  while (text.size() > host && is_punctuation(text.back())) {
    if (text.back() == ')' && round-- <= 0) break;
    if (text.back() == ']' && square-- <= 0) break;
    text.remove_suffix(1);
  }
  return text;
}

// Takes the URL whose "://" is at `mark`. Returns the position after it, or `mark` when it is none.
std::size_t take_url(std::string_view line, std::size_t word, std::size_t mark,
                     std::vector<text_thing>& out) {
  std::size_t begin = mark;
  const auto in_scheme = [](char c) { return (class_of(c) & (letter | hex)) != 0 || c == '-'; };
  while (begin > word && in_scheme(line[begin - 1])) --begin;
  // The host, up to the next '/', is checked first: a line of "://" takes no quadratic time.
  std::size_t end = mark + 3;
  const auto ends_host = [&](char c) {
    return (class_of(c) & ends_url) != 0 || c == '/' || c == '?' || c == '#';
  };
  while (end < line.size() && !ends_host(line[end])) ++end;
  std::string_view text = line.substr(begin, end - begin);
  while (text.size() > mark + 3 - begin && text.back() != ']' && is_punctuation(text.back())) {
    text.remove_suffix(1);
  }
  if (!url::parse(text)) return mark;
  if (begin + text.size() == end) {
    while (end < line.size() && (class_of(line[end]) & ends_url) == 0) ++end;
    const std::size_t host = text.size();
    text = without_punctuation(line.substr(begin, end - begin), host);
  }
  out.push_back({thing_kind::url, text, {}});
  return begin + text.size();
}

}  // namespace

void scan_text(std::string_view line, std::vector<text_thing>& out) {
  for (std::size_t i = 0; i < line.size();) {
    if ((class_of(line[i]) & word_byte) == 0) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    std::size_t dots = 0;
    std::size_t colons = 0;
    for (; i < line.size() && (class_of(line[i]) & word_byte) != 0; ++i) {
      dots += (class_of(line[i]) & dot) != 0 ? 1U : 0U;
      colons += (class_of(line[i]) & colon) != 0 ? 1U : 0U;
    }
    if (dots == 0 && colons == 0) continue;
    if (line[i - 1] == ':' && line.substr(i).starts_with("//")) {
      const std::size_t end = take_url(line, begin, i - 1, out);
      if (end != i - 1) i = end;
      continue;
    }
    if (i < line.size() && line[i] == '@') continue;
    if (dots > 0 || colons > 1) take_word(line.substr(begin, i - begin), colons, out);
  }
}

}  // namespace bloomery
