// URLs and host names in one form each, so that two that mean the same are the same string.
//
// The rules are those of RFC 3986, section 6.2.2 and 6.2.3: scheme and host in small letters, no
// default port, %41 as A, other escapes in capitals, no dot segments, "/" for an empty path. Beyond
// it, as what fetches the page does not see it: the fragment, user and password, an empty query and
// the dot after a host name are dropped; characters that may not stand in a URL are escaped.
//
// Names outside ASCII stay as they are: xn-- and UTF-8 forms of a name are two names here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bloomery {

inline constexpr std::size_t longest_domain = 253;

// Labels of 1 to 63 letters, digits, '-', '_' or bytes above ASCII, the last one not a number.
[[nodiscard]] std::optional<std::string> normal_domain(std::string_view text);
[[nodiscard]] std::size_t count_labels(std::string_view domain) noexcept;

// Where the host, with user and port, ends in what follows "://".
[[nodiscard]] std::size_t host_end(std::string_view text) noexcept;

struct url {
  std::string scheme;
  std::string host;   // a domain or an address: IPv6 without brackets, IPv4 inside IPv6 as IPv4
  std::string port;   // empty for the default
  std::string path;   // begins with '/'
  std::string query;  // without '?'

  // SCHEME://HOST with what may follow. Nothing when there is no host, or none that could exist.
  [[nodiscard]] static std::optional<url> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  // The host with its port, as it stands in the URL.
  [[nodiscard]] std::string authority() const;
};

}  // namespace bloomery
