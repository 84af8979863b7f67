#include "bloomery/measure/packet_identity.hpp"

#include <cstring>

#include "bloomery/detail/measure/identity_bytes.hpp"

namespace bloomery {

std::optional<packet_identity> packet_identity::from(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return std::nullopt;
  const auto version = std::to_integer<unsigned>(bytes[0]) >> 4U;
  if (bytes.size() != (version == 4 ? v4_bytes : version == 6 ? v6_bytes : 0)) return std::nullopt;
  packet_identity id;
  std::memcpy(id.room.data(), bytes.data(), bytes.size());
  id.size = static_cast<std::uint8_t>(bytes.size());
  return id;
}

std::optional<packet_identity> identity_of(const parsed_packet& p) noexcept {
  packet_identity id;
  id.size = static_cast<std::uint8_t>(detail::write_identity(p, id.room.data()));
  return id.size == 0 ? std::nullopt : std::optional(id);
}

std::optional<parsed_packet> quoted_packet(const parsed_packet& p) noexcept {
  if (!p.is_ip() || !p.has_icmp || !p.first_fragment()) return std::nullopt;
  // Destination unreachable, source quench, redirect, time exceeded, parameter problem; in ICMPv6
  // destination unreachable, too big, time exceeded, parameter problem.
  const unsigned type = p.icmp_type;
  const bool error_message = p.family == ip_family::v4
                                 ? type == 3 || type == 4 || type == 5 || type == 11 || type == 12
                                 : type >= 1 && type <= 4;
  constexpr std::size_t icmp_header = 8;
  const std::size_t from = p.transport_offset + icmp_header;
  if (!error_message || p.network.size() <= from) return std::nullopt;
  const parsed_packet quoted = parse_ip(p.network.subspan(from), UINT32_MAX);
  if (!quoted.is_ip()) return std::nullopt;
  return quoted;
}

}  // namespace bloomery
