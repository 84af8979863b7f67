// What web caches hold, from what they leave on disk: access logs, the objects of nginx, and those
// of Squid with its log of them. For cache digests (exchange/cache_digest.hpp). Nothing here opens
// a file: lines and bytes are arguments, and come from outside.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bloomery/detail/core/function_ref.hpp"

namespace bloomery {

// ---- URLs -------------------------------------------------------------------------------------

// A URL as Squid has it in its keys: scheme and host in lower case, without a user, without the
// dot at the end of the host, without the scheme's own port, with a path of at least "/". The rest
// stays as it is: /%7Ea and /~a are two objects. Nothing for what is no URL with a host.
[[nodiscard]] std::optional<std::string> cache_url(std::string_view url);

// The part before the path of a URL that cache_url made: "http://host:8080".
[[nodiscard]] std::string_view origin_of(std::string_view cache_url) noexcept;

// The spellings of a file's path in requests, behind a base URL that cache_url made: as browsers
// and curl write it, and, where there are such characters, as APT does, which escapes '+' and '~',
// too. The second is empty when it is the same.
struct path_spellings {
  std::string usual;
  std::string apt;
};
[[nodiscard]] path_spellings url_of_file(std::string_view base, std::string_view path);

// ---- access logs ------------------------------------------------------------------------------

enum class logged : std::uint8_t {
  fetched,  // a whole document was sent in answer to GET: most likely it is in the cache now
  other,    // another method or status: nothing that a digest should promise
  cut,      // Squid has left out the query ("strip_query_terms"), so the URL is not known
  path,     // only a path, and no base was given
  unknown,  // no line of a log in one of these forms
};

struct logged_request {
  logged what = logged::unknown;
  std::string url;  // as by cache_url; of a fetched document
};

// A line of Squid's own format, or of the common and combined formats of all web servers. Those
// have paths, which belong behind the origin of `base`, as made by cache_url; empty: there is
// none.
[[nodiscard]] logged_request read_log_line(std::string_view line, std::string_view base);

// ---- objects on disk --------------------------------------------------------------------------

// The URL of an object in a cache directory of nginx, from the first bytes of its file. They have
// the key as text: a URL, or scheme, host and path without "://" between ("httpbackend/path"),
// which becomes one. In nginx's own default the host is the upstream; with a base, all before the
// path is replaced by its origin. Nothing for other files.
inline constexpr std::size_t nginx_object_bytes = 8192;  // enough for the key
[[nodiscard]] std::optional<std::string> nginx_object_url(std::span<const std::byte> start,
                                                          std::string_view base);

using squid_key = std::array<std::byte, 16>;  // MD5 of method and URL

// The key of an object in a cache directory of Squid (ufs, aufs, diskd), from the first bytes of
// its file; nothing for other files.
inline constexpr std::size_t squid_object_bytes = 4096;
[[nodiscard]] std::optional<squid_key> squid_object_key(std::span<const std::byte> start);

// The file swap.state of such a directory: objects as they came and went. Calls visit(key, there)
// in this order. A record that was cut off at the end, by a Squid that writes right now, is left
// out. Throws errc::unsupported for a version or a machine's numbers that it does not know.
void read_swap_state(std::span<const std::byte> bytes,
                     detail::function_ref<void(const squid_key&, bool)> visit);

}  // namespace bloomery
