// URLs and host names in canonical form, so that two that mean the same are the same string.
//
// The rules are those of RFC 3986, section 6.2.2 and 6.2.3: scheme and host in small letters, no
// default port, %41 as A, other escapes in capitals, no dot segments, "/" for an empty path. Beyond
// the RFC, the fragment, user and password, an empty query and the dot after a host name are
// dropped; they do not change the page. Characters that are not allowed in a URL are escaped.
//
// Names outside ASCII stay as they are: their xn-- and UTF-8 forms are two names here.
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

// The position at which the authority (user, host and port) ends in the text that follows "://".
[[nodiscard]] std::size_t host_end(std::string_view text) noexcept;

struct url {
  std::string scheme;
  std::string host;   // a domain or an address: IPv6 without brackets, IPv4 inside IPv6 as IPv4
  std::string port;   // empty for the default
  std::string path;   // begins with '/'
  std::string query;  // without '?'

  // Accepts SCHEME://HOST and what may follow. Returns nothing when there is no valid host.
  [[nodiscard]] static std::optional<url> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  // The host with its port, as it stands in the URL.
  [[nodiscard]] std::string authority() const;
};

}  // namespace bloomery
