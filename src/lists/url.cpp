#include "bloomery/lists/url.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "bloomery/lists/address.hpp"

namespace bloomery {

namespace {

constexpr std::size_t longest_label = 63;

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
constexpr bool is_unreserved(char c) noexcept {
  return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}
// The bytes that need no escape in a path or query: a table, as each byte of a log is looked up.
constexpr std::array<bool, 256> plain_bytes = [] {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < 128; ++c) table[c] = is_unreserved(static_cast<char>(c));
  for (const char c : std::string_view("!$&'()*+,;=:@/?"))
    table[static_cast<unsigned char>(c)] = true;
  return table;
}();
constexpr bool is_plain(char c) noexcept { return plain_bytes[static_cast<unsigned char>(c)]; }
constexpr bool is_host_character(char c) noexcept {
  return is_letter(c) || is_digit(c) || c == '-' || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

constexpr int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  const char small = lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// The byte that an escape such as %41 at the beginning of the text stands for, or -1.
constexpr int escaped_byte(std::string_view text) noexcept {
  if (text.size() < 3 || text[0] != '%') return -1;
  const int high = hex_value(text[1]);
  const int low = hex_value(text[2]);
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

void append_escape(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out.push_back('%');
  out.push_back(digits[byte >> 4U]);
  out.push_back(digits[byte & 15U]);
}

std::string normal_escapes(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 1);
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_plain);
    const auto plain = static_cast<std::size_t>(end - text.begin());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const int byte = escaped_byte(text);
    const char c = byte < 0 ? text.front() : static_cast<char>(byte);
    byte >= 0 && is_unreserved(c) ? out.push_back(c) : append_escape(out, c);
    text.remove_prefix(byte < 0 ? 1 : 3);
  }
  return out;
}

// Removes dot segments (RFC 3986, section 5.2.4) from a path that begins with '/'.
std::string without_dot_segments(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/', 1), path.size());
    const std::string_view segment = path.substr(0, end);
    const bool last = end == path.size();
    path.remove_prefix(end);
    if (segment == "/..") {
      out.resize(out.empty() ? 0 : out.rfind('/'));
    } else if (segment != "/.") {
      out.append(segment);
      continue;
    }
    if (last) out.push_back('/');
  }
  return out;
}

std::optional<std::string> unescaped_host(std::string_view text) {
  if (text.find('%') == std::string_view::npos) return normal_domain(text);
  std::string out;
  while (!text.empty()) {
    const int byte = escaped_byte(text);
    out.push_back(byte < 0 ? text.front() : static_cast<char>(byte));
    text.remove_prefix(byte < 0 ? 1 : 3);
  }
  return normal_domain(out);
}

std::optional<std::string> normal_host(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) {
    const auto address = ip_address::parse(text.substr(1, text.size() - 2));
    if (!address || address->family != ip_family::v6) return std::nullopt;
    return address->unmapped().text();
  }
  if (text.find(':') != std::string_view::npos) return std::nullopt;
  if (const auto address = ip_address::parse(text)) return address->text();
  return unescaped_host(text);
}

std::string_view default_port(std::string_view scheme) noexcept {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> ports = {
      {{"http", "80"}, {"https", "443"}, {"ws", "80"}, {"wss", "443"}, {"ftp", "21"}}};
  for (const auto& [name, port] : ports) {
    if (name == scheme) return port;
  }
  return "";
}

// The port without leading zeros, empty if it is the scheme's default; nothing when it is no port.
std::optional<std::string> normal_port(std::string_view text, std::string_view scheme) {
  if (text.empty()) return "";
  unsigned value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end || value > 65535) return std::nullopt;
  std::string port = std::to_string(value);
  return port == default_port(scheme) ? "" : port;
}

std::optional<std::string> normal_scheme(std::string_view text) {
  const auto may_follow = [](char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
  };
  if (text.empty() || !is_letter(text.front())) return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), may_follow)) return std::nullopt;
  std::string scheme(text);
  std::transform(scheme.begin(), scheme.end(), scheme.begin(), lower);
  return scheme;
}

bool take_authority(url& u, std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at != std::string_view::npos) text.remove_prefix(at + 1);
  std::string_view port;
  const std::size_t colon = text.rfind(':');
  const std::size_t bracket = text.rfind(']');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    port = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  auto host = normal_host(text);
  auto number = normal_port(port, u.scheme);
  if (!host || !number) return false;
  u.host = std::move(*host);
  u.port = std::move(*number);
  return true;
}

}  // namespace

std::optional<std::string> normal_domain(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.empty() || text.size() > longest_domain) return std::nullopt;
  std::string out(text);
  std::size_t label = 0;
  bool number = true;  // this label has digits alone
  for (char& c : out) {
    if (c == '.') {
      if (label == 0) return std::nullopt;
      label = 0;
      number = true;
      continue;
    }
    if (!is_host_character(c) || ++label > longest_label) return std::nullopt;
    number = number && is_digit(c);
    c = lower(c);
  }
  if (label == 0 || number) return std::nullopt;
  return out;
}

std::size_t count_labels(std::string_view domain) noexcept {
  return 1 + static_cast<std::size_t>(std::count(domain.begin(), domain.end(), '.'));
}

// A loop, as find_first_of calls memchr for each byte: a fifth of the time of scanning a log.
std::size_t host_end(std::string_view text) noexcept {
  const auto is_end = [](char c) { return c == '/' || c == '?' || c == '#'; };
  return static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_end) - text.begin());
}

std::optional<url> url::parse(std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  url u;
  auto scheme = normal_scheme(text.substr(0, colon));
  if (!scheme) return std::nullopt;
  u.scheme = std::move(*scheme);
  text = text.substr(0, text.find('#')).substr(colon + 3);
  const std::size_t end = host_end(text);
  if (!take_authority(u, text.substr(0, end))) return std::nullopt;
  text.remove_prefix(end);
  const std::size_t mark = std::min(text.find('?'), text.size());
  u.path = normal_escapes(text.substr(0, mark));
  if (u.path.find("/.") != std::string::npos) u.path = without_dot_segments(u.path);
  if (u.path.empty()) u.path = "/";
  if (mark < text.size()) u.query = normal_escapes(text.substr(mark + 1));
  return u;
}

std::string url::authority() const {
  std::string out = host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (!port.empty()) out.append(":").append(port);
  return out;
}

std::string url::text() const {
  std::string out = scheme + "://" + authority() + path;
  if (!query.empty()) out.append("?").append(query);
  return out;
}

}  // namespace bloomery
