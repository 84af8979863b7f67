// Internet addresses and ranges: parsed, written and compared, without the system or the network.
//
// An IPv4 address inside an IPv6 one (::ffff:1.2.3.4) is looked up as the IPv4 address: servers log
// either. `unmapped` converts it; parsing and writing keep the form.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery {

enum class ip_family : std::uint8_t { v4 = 4, v6 = 6 };

[[nodiscard]] constexpr unsigned address_bits(ip_family family) noexcept {
  return family == ip_family::v4 ? 32U : 128U;
}

struct ip_address {
  ip_family family = ip_family::v4;
  std::array<std::uint8_t, 16> bytes{};  // the most significant first; IPv4 has the first four

  // As inet_pton: dotted decimal without leading zeros, and every form of RFC 4291, section 2.2.
  [[nodiscard]] static std::optional<ip_address> parse(std::string_view text) noexcept;
  // The canonical form of RFC 5952.
  [[nodiscard]] std::string text() const;

  [[nodiscard]] unsigned bits() const noexcept { return address_bits(family); }
  [[nodiscard]] bool is_mapped() const noexcept;
  [[nodiscard]] ip_address unmapped() const noexcept;
  // The address with zeros, or with ones, after the first `length` bits.
  [[nodiscard]] ip_address first_of(unsigned length) const noexcept;
  [[nodiscard]] ip_address last_of(unsigned length) const noexcept;

  friend bool operator==(const ip_address&, const ip_address&) = default;
  // IPv4 comes before IPv6; addresses of one family are ordered by number.
  friend bool operator<(const ip_address& a, const ip_address& b) noexcept {
    return a.family == b.family ? a.bytes < b.bytes : a.family < b.family;
  }
};

struct ip_range {
  ip_address first;
  unsigned length = 32;  // bits that all addresses of the range share

  // "10.0.0.0/8", or an address: a range of one. Bits after the prefix count as zeros.
  [[nodiscard]] static std::optional<ip_range> parse(std::string_view text) noexcept;
  // The form that parse accepts, without a length for a single address.
  [[nodiscard]] std::string text() const;
  // Converts a part of ::ffff:0:0/96 to the range of IPv4 addresses that it contains.
  [[nodiscard]] ip_range unmapped() const noexcept;
  [[nodiscard]] bool contains(const ip_address& address) const noexcept;

  friend bool operator==(const ip_range&, const ip_range&) = default;
};

// The fewest ranges that together are `first` to `last`, both included: at most 62, or 254 of IPv6.
// Empty when the two are of different families or in the wrong order.
[[nodiscard]] std::vector<ip_range> ranges_between(const ip_address& first, const ip_address& last);

}  // namespace bloomery
