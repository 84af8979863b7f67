#include "bloomery/exchange/cache_contents.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), lower);
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_scheme(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}

// A host may have any characters but those that end it; a space or a control character means that
// the line is something else. A colon belongs to an IPv6 address, in brackets.
bool is_host(std::string_view text) {
  const bool bracketed = text.starts_with('[') && text.ends_with(']');
  if (!bracketed && text.find(':') != std::string_view::npos) return false;
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '\x7f' && c != '"' && c != '<' && c != '>';
  });
}

std::uint32_t usual_port(std::string_view scheme) {
  if (scheme == "http") return 80;
  if (scheme == "https") return 443;
  return scheme == "ftp" ? 21 : 0;
}

struct host_and_port {
  std::string_view host;
  std::uint32_t port = 0;  // 0: none was given
};

std::optional<host_and_port> split_port(std::string_view authority) {
  host_and_port out{.host = authority};
  const std::size_t colon = authority.rfind(':');
  // A colon inside of [...] is one of an IPv6 address.
  const std::size_t bracket = authority.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) {
    return out;
  }
  const std::string_view digits = authority.substr(colon + 1);
  const char* const end = digits.data() + digits.size();
  const auto [stop, failed] = std::from_chars(digits.data(), end, out.port);
  if (failed != std::errc() || stop != end || out.port == 0 || out.port > UINT16_MAX) {
    return std::nullopt;
  }
  out.host = authority.substr(0, colon);
  return out;
}

void append_escaped(std::string& out, char c, std::string_view hex) {
  const auto value = static_cast<unsigned char>(c);
  out.append({'%', hex[value >> 4U], hex[value & 0xfU]});
}

// The words of a line, which one or more spaces part.
std::vector<std::string_view> first_words_of(std::string_view line, std::size_t most) {
  std::vector<std::string_view> words;
  while (words.size() < most) {
    const std::size_t start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) break;
    line.remove_prefix(start);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

bool is_status(std::string_view text) {
  return text.size() == 3 && std::ranges::all_of(text, is_digit);
}

logged_request asked_for(std::string_view method, std::string_view status, std::string_view target,
                         std::string_view base) {
  if (method != "GET" || status != "200") return {.what = logged::other, .url = {}};
  std::string whole(target);
  if (target.starts_with('/')) {
    if (base.empty()) return {.what = logged::path, .url = {}};
    whole.insert(0, origin_of(base));
  }
  auto url = cache_url(whole);
  if (!url) return {};
  return {.what = logged::fetched, .url = std::move(*url)};
}

// 1794967945.791     45 127.0.0.1 TCP_MISS/200 471 GET http://host/o30 - HIER_DIRECT/127.0.0.1 -
std::optional<logged_request> read_squid_line(std::string_view line) {
  const auto words = first_words_of(line, 7);
  if (words.size() < 7 || !is_digit(words[0].front())) return std::nullopt;
  const std::size_t slash = words[3].find('/');
  if (slash == std::string_view::npos || !is_status(words[3].substr(slash + 1))) {
    return std::nullopt;
  }
  logged_request r = asked_for(words[5], words[3].substr(slash + 1), words[6], {});
  if (r.what == logged::fetched && r.url.ends_with('?')) return logged_request{logged::cut, {}};
  if (r.what == logged::path) return logged_request{};
  return r;
}

// 192.0.2.1 - - [18/Nov/2026:02:12:24 +0000] "GET /path HTTP/1.1" 200 471 ...
std::optional<logged_request> read_web_line(std::string_view line, std::string_view base) {
  const std::size_t open = line.find("] \"");
  if (open == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(open + 3);
  const std::size_t close = rest.find('"');
  if (close == std::string_view::npos) return std::nullopt;
  const auto request = first_words_of(rest.substr(0, close), 3);
  const auto after = first_words_of(rest.substr(close + 1), 1);
  if (after.empty() || !is_status(after[0])) return std::nullopt;
  if (request.size() < 2) return logged_request{logged::other, {}};
  return asked_for(request[0], after[0], request[1], base);
}

template <class Number>
Number native_at(std::span<const std::byte> bytes, std::size_t at) {
  Number value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

// ---- URLs -------------------------------------------------------------------------------------

std::optional<std::string> cache_url(std::string_view url) {
  const std::size_t colon = url.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string scheme = in_lower_case(url.substr(0, colon));
  if (!is_scheme(scheme)) return std::nullopt;
  std::string_view rest = url.substr(colon + 3);
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, end);
  rest.remove_prefix(end);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    authority.remove_prefix(at + 1);
  }
  auto parts = split_port(authority);
  if (!parts) return std::nullopt;
  while (parts->host.ends_with('.')) parts->host.remove_suffix(1);
  if (!is_host(parts->host)) return std::nullopt;
  std::string out = scheme + "://" + in_lower_case(parts->host);
  if (parts->port != 0 && parts->port != usual_port(scheme)) {
    out.append(":").append(std::to_string(parts->port));
  }
  if (!rest.starts_with('/')) out.push_back('/');
  return out.append(rest);
}

std::string_view origin_of(std::string_view cache_url) noexcept {
  const std::size_t host = cache_url.find("://");
  if (host == std::string_view::npos) return {};
  return cache_url.substr(0, cache_url.find('/', host + 3));
}

path_spellings url_of_file(std::string_view base, std::string_view path) {
  constexpr std::string_view plain = "-._~!$&'()*+,;=:@/";  // of RFC 3986, in a path
  path_spellings out;
  out.usual = base;
  if (!base.ends_with('/')) out.usual.push_back('/');
  out.apt = out.usual;
  bool other = false;
  for (const char c : path) {
    const char small = lower(c);
    const bool stays =
        (small >= 'a' && small <= 'z') || is_digit(c) || plain.find(c) != std::string_view::npos;
    if (stays) {
      out.usual.push_back(c);
    } else {
      append_escaped(out.usual, c, "0123456789ABCDEF");
    }
    if (c == '+' || c == '~') {
      append_escaped(out.apt, c, "0123456789abcdef");
      other = true;
    } else if (stays) {
      out.apt.push_back(c);
    } else {
      append_escaped(out.apt, c, "0123456789abcdef");
    }
  }
  if (!other) out.apt.clear();
  return out;
}

// ---- access logs ------------------------------------------------------------------------------

logged_request read_log_line(std::string_view line, std::string_view base) {
  if (auto found = read_squid_line(line)) return *found;
  if (auto found = read_web_line(line, base)) return *found;
  return {};
}

// ---- objects on disk --------------------------------------------------------------------------

std::optional<std::string> nginx_object_url(std::span<const std::byte> start,
                                            std::string_view base) {
  constexpr std::string_view mark = "\nKEY: ";
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view key = text.substr(at + mark.size());
  const std::size_t end = key.find('\n');
  if (end == std::string_view::npos) return std::nullopt;  // longer than all that was read
  key = key.substr(0, end);
  const std::size_t colon = key.find("://");
  const bool whole = colon < key.find('/');
  const std::size_t path = key.find('/', whole ? colon + 3 : 0);
  if (!base.empty() && path != std::string_view::npos) {
    return cache_url(std::string(origin_of(base)).append(key.substr(path)));
  }
  if (whole) return cache_url(key);
  for (const std::string_view scheme : {"https", "http"}) {
    if (key.starts_with(scheme)) {
      return cache_url(std::string(scheme).append("://").append(key.substr(scheme.size())));
    }
  }
  return std::nullopt;
}

// The first byte is 3, then comes the length of all that is before the object, in the numbers of
// the machine; then fields, each a byte for what it is, its length and its bytes. Field 3 is the
// key.
std::optional<squid_key> squid_object_key(std::span<const std::byte> start) {
  constexpr std::size_t head = 5;
  constexpr std::byte sound{3};
  constexpr std::byte key_field{3};
  if (start.size() < head || start[0] != sound) return std::nullopt;
  const auto length = native_at<std::uint32_t>(start, 1);
  if (length < head || length > std::uint32_t{1} << 20U) return std::nullopt;
  start = start.first(std::min<std::size_t>(start.size(), length)).subspan(head);
  while (start.size() >= head) {
    const std::byte type = start[0];
    const auto size = native_at<std::uint32_t>(start, 1);
    start = start.subspan(head);
    if (size > start.size()) return std::nullopt;
    if (type == key_field) {
      squid_key key{};
      if (size != key.size()) return std::nullopt;
      std::memcpy(key.data(), start.data(), key.size());
      return key;
    }
    start = start.subspan(size);
  }
  return std::nullopt;
}

// Records of 72 bytes where time_t has 64 bits: what was done (1 added, 2 removed, 3 the first
// record, with version and length), a checksum of 3 bytes, the number of the file at 4, five times
// and a size, the flags, at 52 the key.
void read_swap_state(std::span<const std::byte> bytes,
                     detail::function_ref<void(const squid_key&, bool)> visit) {
  constexpr std::size_t record_bytes = 72;
  constexpr std::size_t key_at = 52;
  constexpr std::uint32_t known_version = 2;
  constexpr std::byte added{1};
  constexpr std::byte removed{2};
  constexpr std::byte first{3};
  if (bytes.empty()) return;  // of a cache that has just been made
  if (bytes.size() < record_bytes || bytes[0] != first ||
      native_at<std::uint32_t>(bytes, 4) != known_version ||
      native_at<std::uint32_t>(bytes, 8) != record_bytes) {
    throw error(errc::unsupported,
                "it is no swap.state of version 2 with records of 72 bytes, as Squid writes it on "
                "64-bit machines");
  }
  for (bytes = bytes.subspan(record_bytes); bytes.size() >= record_bytes;
       bytes = bytes.subspan(record_bytes)) {
    if (bytes[0] != added && bytes[0] != removed) continue;
    squid_key key{};
    std::memcpy(key.data(), bytes.data() + key_at, key.size());
    visit(key, bytes[0] == added);
  }
}

}  // namespace bloomery
