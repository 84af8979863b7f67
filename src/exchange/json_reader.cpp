#include "json_reader.hpp"

#include <array>
#include <charconv>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/utf8.hpp"

namespace bloomery::detail {

namespace {

constexpr unsigned most_depth = 16;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_code_point(std::string& to, std::uint32_t c) {
  const auto byte = [&](std::uint32_t value) { to += static_cast<char>(value); };
  const auto following = [&](unsigned shift) { byte(0x80U | ((c >> shift) & 0x3fU)); };
  if (c < 0x80U) {
    byte(c);
  } else if (c < 0x800U) {
    byte(0xc0U | (c >> 6U));
    following(0);
  } else if (c < 0x10000U) {
    byte(0xe0U | (c >> 12U));
    following(6);
    following(0);
  } else {
    byte(0xf0U | (c >> 18U));
    following(12);
    following(6);
    following(0);
  }
}

}  // namespace

void json_reader::fail(std::string_view why) const {
  detail::fail(errc::corrupt, std::string(what_) + " is damaged: " + std::string(why));
}

char json_reader::peek() {
  const std::size_t at = rest_.find_first_not_of(" \t\r\n");
  rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
  return rest_.empty() ? '\0' : rest_.front();
}

bool json_reader::take(char c) {
  if (peek() != c || rest_.empty()) return false;
  rest_.remove_prefix(1);
  return true;
}

void json_reader::expect(char c) {
  if (!take(c)) fail("it is no JSON of the form that is expected");
}

bool json_reader::open(char start, char end) {
  expect(start);
  if (++depth_ > most_depth) fail("it is nested too deeply");
  if (!take(end)) return true;
  --depth_;
  return false;
}

bool json_reader::goes_on(char end) {
  if (take(',')) return true;
  expect(end);
  --depth_;
  return false;
}

std::string json_reader::string() {
  expect('"');
  std::string text;
  for (;;) {
    if (rest_.empty()) fail("it is cut off");
    const char c = rest_.front();
    if (c == '"') break;
    if (c == '\\') {
      append_escaped(text);
      continue;
    }
    if (static_cast<unsigned char>(c) < 0x20U) fail("a string has a control character");
    const std::size_t bytes = code_point_bytes(rest_, 0);
    if (bytes == 1 && static_cast<unsigned char>(c) >= 0x80U) fail("a string is no UTF-8");
    text.append(rest_.substr(0, bytes));
    rest_.remove_prefix(bytes);
  }
  rest_.remove_prefix(1);
  return text;
}

std::uint32_t json_reader::hexadecimal() {
  std::uint32_t value = 0;
  const std::string_view digits = rest_.substr(0, 4);
  const auto* const end = digits.data() + digits.size();
  if (digits.size() != 4 || std::from_chars(digits.data(), end, value, 16).ptr != end) {
    fail("a string has a bad escape");
  }
  rest_.remove_prefix(4);
  return value;
}

void json_reader::append_escaped(std::string& to) {
  constexpr std::string_view names = "\"\\/bfnrt";
  constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
  rest_.remove_prefix(1);
  if (rest_.empty()) fail("it is cut off");
  const char c = rest_.front();
  rest_.remove_prefix(1);
  if (const std::size_t at = names.find(c); at != std::string_view::npos) {
    to += meant[at];
    return;
  }
  if (c != 'u') fail("a string has a bad escape");
  std::uint32_t point = hexadecimal();
  if (point >= 0xd800U && point < 0xdc00U && rest_.starts_with("\\u")) {
    rest_.remove_prefix(2);
    const std::uint32_t low = hexadecimal();
    if (low < 0xdc00U || low > 0xdfffU) fail("a string has half a character");
    point = 0x10000U + ((point - 0xd800U) << 10U) + (low - 0xdc00U);
  } else if (point >= 0xd800U && point <= 0xdfffU) {
    fail("a string has half a character");
  }
  append_code_point(to, point);
}

std::uint64_t json_reader::number() {
  const char first = peek();
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  const auto length = static_cast<std::size_t>(end - rest_.data());
  if (!is_digit(first) || failure != std::errc() || (first == '0' && length > 1)) {
    fail("a number is none, or too large");
  }
  rest_.remove_prefix(length);
  if (!rest_.empty() && (rest_.front() == '.' || rest_.front() == 'e' || rest_.front() == 'E')) {
    fail("a number is not whole");
  }
  return value;
}

void json_reader::skip_digits() {
  if (rest_.empty() || !is_digit(rest_.front())) fail("a number is none");
  while (!rest_.empty() && is_digit(rest_.front())) rest_.remove_prefix(1);
}

void json_reader::skip_number() {
  const auto next_is = [this](std::string_view any) {
    if (rest_.empty() || any.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  };
  next_is("-");
  if (!next_is("0")) skip_digits();
  if (next_is(".")) skip_digits();
  if (next_is("eE")) {
    next_is("+-");
    skip_digits();
  }
}

void json_reader::skip() {
  switch (peek()) {
    case '{': return object([this](std::string_view) { skip(); });
    case '[': return array([this] { skip(); });
    case '"': static_cast<void>(string()); return;
    default: break;
  }
  for (const std::string_view word : {"true", "false", "null"}) {
    if (!rest_.starts_with(word)) continue;
    return rest_.remove_prefix(word.size());
  }
  skip_number();
}

void json_reader::finish() {
  if (peek() != '\0' || !rest_.empty()) fail("something follows its end");
}

std::string json_quoted(std::string_view text) {
  constexpr std::array<char, 17> digits = {"0123456789abcdef"};
  std::string out = "\"";
  for (const char c : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (byte < 0x20U) {
      ((out += "\\u00") += digits.at(byte >> 4U)) += digits.at(byte & 15U);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace bloomery::detail
