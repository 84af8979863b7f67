#include "cli/serve/http.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <nlohmann/json.hpp>

namespace bloomery::cli {

void http_request::clear() {
  for (std::string* field : {&method, &target, &accept, &authorization, &content_encoding,
                             &content_type, &if_none_match, &if_range, &range}) {
    field->clear();
  }
}

open_file::~open_file() { ::close(fd_); }

void http_reply::add(std::string_view name, std::string_view value) {
  fields.append(name).append(": ").append(value).append("\r\n");
}

std::uint64_t http_reply::length() const {
  if (file) return file_bytes;
  return owner ? bytes.size() : body.size();
}

http_reply error_reply(unsigned status, std::string_view what) {
  http_reply r{.status = status, .type = "application/json"};
  r.body = nlohmann::json{{"error", what}}.dump(-1, ' ', false,
                                                nlohmann::json::error_handler_t::replace) +
           "\n";
  return r;
}

http_reply error_reply(const http_error& e) {
  http_reply r = error_reply(e.status(), e.what());
  r.fields = e.fields();
  return r;
}

std::string_view status_text(unsigned status) {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    default: return "Unknown";
  }
}

std::string_view route_name(http_route route) {
  constexpr std::array<std::string_view, http_routes> names = {
      "other", "page",   "list",   "filter",  "delta", "check",
      "add",   "digest", "mirror", "metrics", "health"};
  return names.at(static_cast<std::size_t>(route));
}

void append_head(std::string& to, const http_reply& r, const reply_manners& m) {
  fmt::format_to(std::back_inserter(to), "HTTP/1.1 {} {}\r\n", r.status, status_text(r.status));
  if (!m.date.empty()) to.append("Date: ").append(m.date).append("\r\n");
  if (!r.type.empty()) to.append("Content-Type: ").append(r.type).append("\r\n");
  to.append(r.fields);
  if (m.chunked) {
    to.append("Transfer-Encoding: chunked\r\n");
  } else if (m.sized && r.status != 204 && r.status != 304) {
    fmt::format_to(std::back_inserter(to), "Content-Length: {}\r\n", r.length());
  }
  if (!m.keep_alive) to.append("Connection: close\r\n");
  to.append("\r\n");
}

std::string http_date(std::int64_t seconds) {
  constexpr std::array days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto when = static_cast<std::time_t>(seconds);
  std::tm t{};
  ::gmtime_r(&when, &t);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
                     days.at(static_cast<std::size_t>(t.tm_wday)), t.tm_mday,
                     months.at(static_cast<std::size_t>(t.tm_mon)), t.tm_year + 1900, t.tm_hour,
                     t.tm_min, t.tm_sec);
}

std::string percent_decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus_is_space) c = ' ';
    if (c == '%') {
      unsigned value = 0;
      const char* const first = text.data() + i + 1;
      const bool there = i + 2 < text.size();
      const auto [end, failure] =
          there ? std::from_chars(first, first + 2, value, 16) : std::from_chars_result{};
      if (!there || failure != std::errc() || end != first + 2) {
        throw http_error(400, "a % without two hexadecimal digits");
      }
      c = static_cast<char>(value);
      i += 2;
    }
    out.push_back(c);
  }
  return out;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    if (plain) {
      out.push_back(c);
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

http_target split_target(std::string_view target) {
  target = target.substr(0, target.find('#'));
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return {target, {}};
  return {target.substr(0, mark), target.substr(mark + 1)};
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  std::optional<std::string> found;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t sign = pair.find('=');
    if (pair.substr(0, sign) != name) continue;
    if (found) throw http_error(400, fmt::format("the parameter {} is given twice", name));
    found = sign == std::string_view::npos ? "" : percent_decoded(pair.substr(sign + 1), true);
  }
  return found;
}

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The next element of a list with this separator, which is taken off it.
std::string_view next_of(std::string_view& list, char separator) {
  const std::string_view element = list.substr(0, list.find(separator));
  list.remove_prefix(std::min(list.size(), element.size() + 1));
  return trimmed(element);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// How well a range of types fits a type: 0 not at all, 3 the type itself.
int fit(std::string_view range, std::string_view type) {
  if (same_word(range, type)) return 3;
  const std::string_view family = type.substr(0, type.find('/') + 1);
  if (range.size() == family.size() + 1 && range.ends_with('*') &&
      same_word(range.substr(0, family.size()), family)) {
    return 2;
  }
  return range == "*/*" ? 1 : 0;
}

double quality_of(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view p = next_of(parameters, ';');
    if (p.size() < 2 || lower(p[0]) != 'q' || p[1] != '=') continue;
    double q = 0;
    const auto [end, failure] = std::from_chars(p.data() + 2, p.data() + p.size(), q);
    return failure == std::errc() && q >= 0 && q <= 1 ? q : 0;
  }
  return 1;
}

}  // namespace

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view media_type(std::string_view content_type) {
  return trimmed(content_type.substr(0, content_type.find(';')));
}

std::optional<std::size_t> preferred_type(std::string_view accept,
                                          std::initializer_list<std::string_view> offered) {
  if (trimmed(accept).empty()) return 0;
  std::optional<std::size_t> best;
  double best_quality = 0;
  std::size_t number = 0;
  for (const std::string_view type : offered) {
    double quality = 0;
    int closest = 0;
    for (std::string_view list = accept; !list.empty();) {
      std::string_view element = next_of(list, ',');
      const int near = fit(next_of(element, ';'), type);
      if (near <= closest) continue;
      closest = near;
      quality = quality_of(element);
    }
    if (quality > best_quality) {
      best = number;
      best_quality = quality;
    }
    ++number;
  }
  return best;
}

bool matches_etag(std::string_view if_none_match, std::string_view etag) {
  while (!if_none_match.empty()) {
    std::string_view tag = next_of(if_none_match, ',');
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == "*" || tag == etag) return true;
  }
  return false;
}

std::pair<range_kind, byte_range> parse_range(std::string_view range, std::uint64_t length) {
  const std::pair whole{range_kind::whole, byte_range{0, length}};
  constexpr std::string_view unit = "bytes=";
  if (!range.starts_with(unit)) return whole;
  range = trimmed(range.substr(unit.size()));
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos || range.find(',') != std::string_view::npos) return whole;
  const auto number = [&](std::string_view text) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || text.empty()) return std::nullopt;
    return failure == std::errc::result_out_of_range ? UINT64_MAX : value;
  };
  const std::string_view first = range.substr(0, dash);
  const std::string_view last = range.substr(dash + 1);
  if (first.empty()) {  // the last so many bytes
    const auto count = number(last);
    if (!count) return whole;
    if (*count == 0 || length == 0) return {range_kind::unsatisfiable, {}};
    const std::uint64_t some = std::min(*count, length);
    return {range_kind::part, {length - some, some}};
  }
  const auto from = number(first);
  const auto to = last.empty() ? std::optional(UINT64_MAX) : number(last);
  if (!from || !to || *to < *from) return whole;
  if (*from >= length) return {range_kind::unsatisfiable, {}};
  return {range_kind::part, {*from, std::min(*to, length - 1) - *from + 1}};
}

http_reply tagged_reply(const http_request& q, const std::string& etag, std::string_view type,
                        std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  http_reply r;
  r.add("ETag", etag);
  r.add("Cache-Control", "no-cache");
  if (matches_etag(q.if_none_match, etag)) {
    r.status = 304;
    return r;
  }
  r.add("Accept-Ranges", "bytes");
  const bool ranged = !q.range.empty() && (q.if_range.empty() || q.if_range == etag);
  const auto [kind, part] =
      ranged ? parse_range(q.range, bytes.size()) : std::pair{range_kind::whole, byte_range{}};
  if (kind == range_kind::unsatisfiable) {
    throw http_error(416, fmt::format("there are {} bytes", bytes.size()),
                     fmt::format("Content-Range: bytes */{}\r\n", bytes.size()));
  }
  r.type = type;
  r.bytes = bytes;
  r.owner = std::move(owner);
  if (kind == range_kind::part) {
    r.status = 206;
    r.bytes =
        bytes.subspan(static_cast<std::size_t>(part.from), static_cast<std::size_t>(part.bytes));
    r.add("Content-Range",
          fmt::format("bytes {}-{}/{}", part.from, part.from + part.bytes - 1, bytes.size()));
  }
  return r;
}

bool same_secret(std::string_view given, std::string_view kept) {
  // The loop is as long as what was given, whatever is kept.
  volatile unsigned differ = given.size() == kept.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = kept.empty() ? '\0' : kept[i % kept.size()];
    differ = differ | static_cast<unsigned char>(static_cast<unsigned char>(given[i]) ^
                                                 static_cast<unsigned char>(other));
  }
  return differ == 0;
}

}  // namespace bloomery::cli
