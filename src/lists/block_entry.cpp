#include "bloomery/lists/block_entry.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bloomery {

namespace {

constexpr std::string_view spaces = " \t\r\v\f";
// The text up to a position that may be npos.
constexpr std::string_view up_to(std::string_view text, std::size_t end) noexcept {
  return text.substr(0, std::min(end, text.size()));
}

std::string_view trim(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

std::string_view take_word(std::string_view& text) noexcept {
  text = trim(text);
  const std::string_view word = up_to(text, text.find_first_of(spaces));
  text.remove_prefix(word.size());
  return word;
}

block_line only(line_kind kind) { return {kind, {}}; }

block_line only(std::optional<block_entry> entry) {
  block_line line = only(entry ? line_kind::entries : line_kind::bad);
  if (entry) line.entries.push_back(std::move(*entry));
  return line;
}

// Names that a hosts file gives the machine itself.
bool is_own_name(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 5> names = {"localhost", "localhost.localdomain", "local",
                                                     "broadcasthost", "0.0.0.0"};
  return name.starts_with("ip6-") || std::find(names.begin(), names.end(), name) != names.end();
}

// Whether hosts files give this address to blocked hosts.
bool leads_nowhere(const ip_address& a) noexcept {
  if (a.family == ip_family::v4) return a.bytes[0] == 127 || a == ip_address{};
  ip_address loopback{.family = ip_family::v6, .bytes = {}};
  if (a == loopback) return true;
  loopback.bytes[15] = 1;
  return a == loopback;
}

block_line parse_hosts(std::string_view names) {
  block_line line;
  for (std::string_view word = take_word(names); !word.empty(); word = take_word(names)) {
    if (word.front() == '#') break;
    auto entry = domain_entry(up_to(word, word.find('#')), block_kind::host);
    if (is_own_name(word)) continue;
    if (!entry) return only(line_kind::bad);
    line.entries.push_back(std::move(*entry));
  }
  if (!line.entries.empty()) line.kind = line_kind::entries;
  return line;
}

block_line parse_between(std::string_view first, std::string_view last) {
  const auto a = ip_address::parse(first);
  const auto b = ip_address::parse(last);
  block_line line = only(line_kind::bad);
  if (!a || !b) return line;
  for (const ip_range& r : ranges_between(a->unmapped(), b->unmapped())) {
    line.entries.push_back(range_entry(r));
  }
  if (!line.entries.empty()) line.kind = line_kind::entries;
  return line;
}

// An address whose prefix is none, "10.0.0.0/33" or "10.0.0.0/255.0.0.0": no part of a URL, but a
// mistake, or a form that is not read.
bool has_odd_prefix(std::string_view token) {
  const std::size_t slash = token.find('/');
  if (slash == std::string_view::npos || slash + 1 == token.size()) return false;
  return token.find_first_not_of("0123456789.", slash + 1) == std::string_view::npos &&
         ip_address::parse(token.substr(0, slash));
}

std::optional<block_line> parse_addresses(std::string_view text) {
  std::string_view rest = text;
  const std::string_view word = take_word(rest);
  const std::string_view token = up_to(word, word.find_first_of(";,#"));
  const std::size_t dash = token.find('-');
  if (dash != std::string_view::npos && ip_address::parse(token.substr(0, dash))) {
    return parse_between(token.substr(0, dash), token.substr(dash + 1));
  }
  const auto range = ip_range::parse(token);
  if (!range && has_odd_prefix(token)) return only(line_kind::bad);
  if (!range) return std::nullopt;
  if (token.size() < word.size()) return only(range_entry(*range));
  rest = trim(rest);
  if (rest.starts_with("- ")) {
    rest.remove_prefix(2);
    const std::string_view last = take_word(rest);
    return parse_between(token, up_to(last, last.find_first_of(";,#")));
  }
  const bool address = token.find('/') == std::string_view::npos;
  const bool name_follows = !rest.empty() && rest.find_first_of("#;") != 0;
  if (address && name_follows && leads_nowhere(range->first)) return parse_hosts(rest);
  return only(range_entry(*range));
}

// Removes options that restrict nothing ($all, $important): half of the rules for URLs have them.
std::string_view without_all(std::string_view text) noexcept {
  for (const std::string_view all : {"$all", "$important", "$all,important", "$important,all"}) {
    if (text.ends_with(all)) return text.substr(0, text.size() - all.size());
  }
  return text;
}

block_line parse_anchored(std::string_view text) {  // ||domain^  ||domain/path
  text = without_all(text);
  if (text.find('$') != std::string_view::npos) return only(line_kind::options);
  if (text.ends_with('|')) text.remove_suffix(1);
  if (text.ends_with('^')) text.remove_suffix(1);
  if (text.empty() || text.find_first_of("*^|") != std::string_view::npos) {
    return only(line_kind::pattern);
  }
  if (text.find_first_of("/?:") == std::string_view::npos) {
    if (const auto address = ip_address::parse(text)) {
      return only(range_entry({*address, address->bits()}));
    }
    auto entry = domain_entry(text, block_kind::domain);
    // "||ads." is the beginning of unknown names.
    return entry && !text.ends_with('.') ? only(std::move(entry)) : only(line_kind::pattern);
  }
  auto entry = url_entry("http://" + std::string(text), block_kind::wide_url);
  return entry ? only(std::move(entry)) : only(line_kind::pattern);
}

block_line parse_url_start(std::string_view text) {  // |http://host/path  |http://host/path|
  text = without_all(text);
  const bool ended = text.ends_with('|');
  if (ended) text.remove_suffix(1);
  if (text.find_first_of("*^|") != std::string_view::npos) return only(line_kind::pattern);
  if (text.find('$') != std::string_view::npos) return only(line_kind::options);
  auto entry = url_entry(text, ended ? block_kind::page : block_kind::url);
  return entry ? only(std::move(entry)) : only(line_kind::pattern);
}

// CSS selectors follow ##, #@#, #?# and the like. In a comment a space or another # follows.
bool is_hiding_rule(std::string_view text) noexcept {
  const std::size_t mark = text.find('#');
  if (mark == std::string_view::npos) return false;
  if (up_to(text, mark).find_first_of(spaces) != std::string_view::npos) return false;
  std::string_view rest = text.substr(mark + 1);
  const std::size_t second = rest.find_first_not_of("@?$%");
  if (second > 2 || rest[second] != '#') return false;
  rest.remove_prefix(second + 1);
  if (rest.starts_with('#')) rest.remove_prefix(1);  // ###name, an element by its name
  return !rest.empty() && rest.front() != '#' &&
         spaces.find(rest.front()) == std::string_view::npos;
}

block_line parse_name(std::string_view text) {
  const std::string_view whole = text;
  std::string_view word = take_word(text);
  const std::size_t end = word.find_first_of(";,#");
  const std::string_view rest = trim(text);
  const bool text_follows = end >= word.size() && !rest.empty() && rest.find_first_of("#;") != 0;
  if (word.find("://") != std::string_view::npos && word.find_first_of("*^") > word.size()) {
    auto entry = url_entry(word, block_kind::url);
    if (entry && !text_follows) return only(std::move(entry));
  }
  word = up_to(word, end);
  const bool below = word.starts_with('.') || word.starts_with("*.");
  std::string_view name = word;
  if (below) name.remove_prefix(word.front() == '.' ? 1 : 2);
  auto entry = domain_entry(name, block_kind::domain);
  const bool dotted = below || name.find('.') < name.size() - 1;
  // "_ads.js", "-banner.gif" and ".468x60." match parts of URLs.
  const auto odd = [](char c) { return c == '-' || c == '_'; };
  const bool whole_name =
      entry && !odd(name.front()) && !odd(name.back()) && !(below && name.back() == '.');
  if (whole_name && dotted && !text_follows) return only(std::move(entry));
  if (text_follows || whole.find_first_of(spaces) != std::string_view::npos) {
    return only(line_kind::bad);
  }
  if (whole.find('$') != std::string_view::npos) return only(line_kind::options);
  const bool pattern = whole.find_first_of("*^/&=?|%") != std::string_view::npos ||
                       std::string_view("-_.").find(whole.front()) != std::string_view::npos;
  return only(pattern ? line_kind::pattern : line_kind::bad);
}

}  // namespace

std::string block_entry::text() const {
  switch (kind) {
    case block_kind::range: return range.text();
    case block_kind::host: return name;
    case block_kind::domain: return "." + name;
    case block_kind::url:
    case block_kind::wide_url: {
      std::string out = kind == block_kind::wide_url ? "." + name : name;
      if (name.find('/') == std::string::npos) out.push_back('/');
      return out;
    }
    case block_kind::page: return "|" + name + "|";
  }
  return name;
}

block_entry range_entry(const ip_range& range) {
  return {.kind = block_kind::range, .range = range.unmapped(), .name = {}};
}

std::optional<block_entry> domain_entry(std::string_view domain, block_kind kind) {
  auto name = normal_domain(domain);
  if (!name) return std::nullopt;
  return block_entry{.kind = kind, .range = {}, .name = std::move(*name)};
}

std::string_view page_path(const url& u) noexcept {
  return u.path.ends_with('/') ? std::string_view(u.path).substr(0, u.path.size() - 1)
                               : std::string_view(u.path);
}

std::optional<block_entry> url_entry(std::string_view text, block_kind kind) {
  if (text.size() > 4 * longest_blocked_url) return std::nullopt;
  const auto u = url::parse(text);
  if (!u) return std::nullopt;
  if (kind == block_kind::wide_url) {
    // An address has no names below it, and a URL without a path on a domain stands for the domain.
    if (ip_address::parse(u->host)) return url_entry(text, block_kind::url);
    if (u->path == "/" && u->query.empty() && u->port.empty()) {
      return domain_entry(u->host, block_kind::domain);
    }
  }
  block_entry entry{.kind = kind, .range = {}, .name = u->authority()};
  const std::string_view path =
      kind == block_kind::page ? std::string_view(u->path) : page_path(*u);
  entry.name.append(path);
  if (!u->query.empty()) entry.name.append("?").append(u->query);
  const auto depth = static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
  if (entry.name.size() > longest_blocked_url || depth > deepest_blocked_url) return std::nullopt;
  return entry;
}

block_line parse_block_line(std::string_view line) {
  if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  const std::string_view text = trim(line);
  if (text.empty() || text.front() == '!' || text.front() == ';') return {};
  if (text.front() == '[' && text.back() == ']') return {};  // [Adblock Plus 2.0]
  if (text.starts_with("@@")) return only(line_kind::exception);
  if (is_hiding_rule(text)) return only(line_kind::hiding);
  if (text.front() == '#') return {};
  if (text.front() == '$') return only(line_kind::options);
  if (text.starts_with("||")) return parse_anchored(text.substr(2));
  if (text.starts_with('|')) return parse_url_start(text.substr(1));
  if (text.size() > 1 && text.front() == '/' && text.back() == '/') {
    return only(line_kind::pattern);
  }
  if (auto addresses = parse_addresses(text)) return std::move(*addresses);
  return parse_name(text);
}

}  // namespace bloomery
