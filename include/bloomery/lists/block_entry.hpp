// The entries of block lists, and the forms in which lists are written.
//
//     192.0.2.1   192.0.2.0/24 ; why                      addresses; text may follow
//     2001:db8::/32   192.0.2.3-192.0.2.77                more of them
//     0.0.0.0 ads.example                                 a line of a hosts file: this host alone
//     ads.example  .ads.example  *.ads.example            a domain and all below it
//     ||ads.example^                                      the same
//     http://ads.example/a   |http://ads.example/a        this page of this host and all below it
//     ||ads.example/a                                     the same of all hosts of the domain
//     |http://ads.example/a.png|                          this URL alone
//
// Each line is recognised by itself, so lists can be concatenated. A line of a hosts file begins
// with an address that leads nowhere (0.0.0.0, 127.0.0.1, ::, ::1); any other address before a name
// is an address with text after it. Comments begin with '#', '!' or ';'.
//
// Rules of ad blockers that a set of names cannot express are left out, and the caller is told:
// exceptions (@@), element hiding (##), options ($, except $all and $important), and patterns (*, ^
// in the middle, regular expressions, parts of URLs).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/lists/address.hpp"
#include "bloomery/lists/url.hpp"

namespace bloomery {

enum class block_kind : std::uint8_t {
  range,     // addresses
  host,      // a host name alone
  domain,    // with all names below it
  url,       // a page and all below it
  wide_url,  // the same on every host of a domain
  page,      // a URL alone
};

// Longer and deeper URLs are not accepted.
inline constexpr std::size_t longest_blocked_url = 2048;
inline constexpr std::size_t deepest_blocked_url = 63;  // slashes

struct block_entry {
  block_kind kind = block_kind::range;
  ip_range range;
  // The domain, or host, path and query of a URL, without scheme, user, default port and last '/'.
  std::string name;

  // 192.0.2.0/24, host, .domain, host/path, .domain/path, |host/path|
  [[nodiscard]] std::string text() const;

  friend bool operator==(const block_entry&, const block_entry&) = default;
};

[[nodiscard]] block_entry range_entry(const ip_range& range);
// These return nothing for a text that is no domain or no URL, or is too long.
[[nodiscard]] std::optional<block_entry> domain_entry(std::string_view domain, block_kind kind);
[[nodiscard]] std::optional<block_entry> url_entry(std::string_view text, block_kind kind);

// The path without a '/' at its end, as entries have it: "/a/" and "/a" are the same page.
[[nodiscard]] std::string_view page_path(const url& u) noexcept;

enum class line_kind : std::uint8_t {
  entries,    // one or, with ranges and hosts, several
  nothing,    // empty, a comment, a name of the machine itself
  exception,  // left out ...
  hiding,
  options,
  pattern,
  bad,  // not recognised
};
inline constexpr std::size_t line_kinds = 7;

struct block_line {
  line_kind kind = line_kind::nothing;
  std::vector<block_entry> entries;
};

[[nodiscard]] block_line parse_block_line(std::string_view line);

}  // namespace bloomery
