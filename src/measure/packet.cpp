#include "bloomery/measure/packet.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "bloomery/detail/measure/common_packet.hpp"

namespace bloomery {

namespace {

constexpr int most_tunnels = 4;
constexpr int most_tags = 4;         // VLAN tags before the packet
constexpr int most_extensions = 16;  // headers between IPv6's and the transport's

constexpr std::uint32_t type_ipv4 = 0x0800;
constexpr std::uint32_t type_ipv6 = 0x86dd;
constexpr std::uint32_t type_bridged = 0x6558;  // Ethernet inside GRE
constexpr std::uint16_t vxlan_port = 4789;

using byte_span = std::span<const std::byte>;

inline std::uint32_t byte_at(byte_span bytes, std::size_t at) noexcept {
  return std::to_integer<std::uint32_t>(bytes[at]);
}
inline std::uint32_t big_half(byte_span bytes, std::size_t at) noexcept {
  return detail::big_half(bytes.data() + at);
}
inline std::uint32_t big_word(byte_span bytes, std::size_t at) noexcept {
  return (big_half(bytes, at) << 16U) | big_half(bytes, at + 2);
}

inline bool has_ports(std::uint8_t protocol) noexcept {
  return protocol == protocol_tcp || protocol == protocol_udp || protocol == protocol_sctp ||
         protocol == protocol_dccp || protocol == protocol_udp_lite;
}

// Ports, or type and code, and where the payload begins.
inline void read_transport(parsed_packet& p) noexcept {
  p.payload_offset = p.transport_offset;
  if (!p.first_fragment()) return;
  const auto bytes = p.network.subspan(p.transport_offset);
  std::size_t header = 8;  // UDP, UDP-Lite, and ICMP's for what is looked into
  if (has_ports(p.protocol)) {
    if (bytes.size() < 4) {
      p.transport_cut = true;
      return;
    }
    p.has_ports = true;
    p.source_port = static_cast<std::uint16_t>(big_half(bytes, 0));
    p.destination_port = static_cast<std::uint16_t>(big_half(bytes, 2));
    if (p.protocol == protocol_sctp) header = 12;
    if (p.protocol == protocol_tcp || p.protocol == protocol_dccp) {
      const std::size_t place = p.protocol == protocol_tcp ? 12 : 4;
      if (bytes.size() <= place) return;
      const std::uint32_t value = byte_at(bytes, place);
      header = p.protocol == protocol_tcp ? (value >> 4U) * 4U : value * 4U;
    }
  } else if (p.protocol == (p.family == ip_family::v4 ? protocol_icmp : protocol_icmp6)) {
    if (bytes.size() < 2) {
      p.transport_cut = true;
      return;
    }
    p.has_icmp = true;
    p.icmp_type = static_cast<std::uint8_t>(byte_at(bytes, 0));
    p.icmp_code = static_cast<std::uint8_t>(byte_at(bytes, 1));
  } else {
    return;
  }
  p.payload_offset += static_cast<std::uint32_t>(std::min(header, bytes.size()));
}

// Takes the bytes that the IP header claims, or fewer where fewer were captured. False where it
// claims more than were sent. A length of 0 means that segmentation was left to the device, or a
// jumbogram: then the frame says it.
inline bool take_length(parsed_packet& p, byte_span bytes, std::uint32_t claimed,
                        std::uint32_t wire_bytes) noexcept {
  p.network_bytes = claimed == 0 ? wire_bytes : claimed;
  if (p.network_bytes > wire_bytes) return false;
  p.network = bytes.first(std::min<std::size_t>(bytes.size(), p.network_bytes));
  return true;
}

packet_status parse_ipv4(byte_span bytes, std::uint32_t wire_bytes, parsed_packet& p) noexcept {
  if (wire_bytes < 20) return packet_status::malformed;
  if (bytes.size() < 20) return packet_status::snapped;
  const std::uint32_t header = (byte_at(bytes, 0) & 15U) * 4;
  const std::uint32_t claimed = big_half(bytes, 2);
  if (header < 20 || (claimed != 0 && claimed < header) ||
      !take_length(p, bytes, claimed, wire_bytes) || p.network_bytes < header) {
    return packet_status::malformed;
  }
  p.header_bytes = static_cast<std::uint16_t>(header);
  p.identification = big_half(bytes, 4);
  p.protocol = static_cast<std::uint8_t>(byte_at(bytes, 9));
  const std::uint32_t fragment = big_half(bytes, 6);
  if ((fragment & 0x3fffU) != 0) {
    p.fragment = true;
    p.more_fragments = (fragment & 0x2000U) != 0;
    p.fragment_offset = static_cast<std::uint16_t>((fragment & 0x1fffU) * 8);
  }
  if (p.network.size() < header) {
    p.transport_offset = p.payload_offset = static_cast<std::uint32_t>(p.network.size());
    p.transport_cut = true;
    return packet_status::ip;
  }
  p.transport_offset = header;
  read_transport(p);
  return packet_status::ip;
}

enum class extension : std::uint8_t { none, ordinary, fragment, authentication };
extension extension_of(std::uint8_t protocol) noexcept {
  switch (protocol) {
    case 0:    // hop-by-hop options
    case 43:   // routing
    case 60:   // options for the destination
    case 135:  // mobility
    case 139:  // host identity
    case 140:  // shim6
      return extension::ordinary;
    case 44: return extension::fragment;
    case 51: return extension::authentication;
    default: return extension::none;
  }
}

// Walks over extension headers. False where they are longer than the packet.
bool skip_extensions(parsed_packet& p) noexcept {
  std::size_t at = 40;
  for (int i = 0; i < most_extensions; ++i) {
    p.transport_offset = static_cast<std::uint32_t>(at);
    const extension kind = extension_of(p.protocol);
    if (kind == extension::none || p.fragment_offset != 0) return true;
    if (p.network.size() - at < 8) {
      p.transport_cut = true;
      return p.network.size() < p.network_bytes;
    }
    const auto header = p.network.subspan(at);
    std::size_t length = 8;
    if (kind == extension::ordinary) length = (std::size_t{byte_at(header, 1)} + 1) * 8;
    if (kind == extension::authentication) length = (std::size_t{byte_at(header, 1)} + 2) * 4;
    if (kind == extension::fragment) {
      const std::uint32_t fragment = big_half(header, 2);
      p.more_fragments = (fragment & 1U) != 0;
      p.fragment_offset = static_cast<std::uint16_t>(fragment & 0xfff8U);
      p.fragment = p.more_fragments || p.fragment_offset != 0;
      p.identification = big_word(header, 4);
    }
    if (at + length > p.network_bytes) return false;
    p.protocol = static_cast<std::uint8_t>(byte_at(header, 0));
    if (at + length > p.network.size()) {
      p.transport_cut = true;
      p.transport_offset = static_cast<std::uint32_t>(p.network.size());
      return true;
    }
    at += length;
  }
  return false;
}

packet_status parse_ipv6(byte_span bytes, std::uint32_t wire_bytes, parsed_packet& p) noexcept {
  if (wire_bytes < 40) return packet_status::malformed;
  if (bytes.size() < 40) return packet_status::snapped;
  p.family = ip_family::v6;
  p.header_bytes = 40;
  const std::uint32_t payload = big_half(bytes, 4);
  if (!take_length(p, bytes, payload == 0 ? 0 : payload + 40, wire_bytes)) {
    return packet_status::malformed;
  }
  p.protocol = static_cast<std::uint8_t>(byte_at(bytes, 6));
  if (!skip_extensions(p)) return packet_status::malformed;
  p.payload_offset = p.transport_offset;
  if (!p.transport_cut) read_transport(p);
  return packet_status::ip;
}

// Fills in `p`, which is new. What is no packet leaves nothing but its status behind.
inline void parse_outer(byte_span bytes, std::uint32_t wire_bytes, parsed_packet& p) noexcept {
  if (bytes.empty()) {
    p.status = wire_bytes == 0 ? packet_status::malformed : packet_status::snapped;
    return;
  }
  const std::uint32_t version = byte_at(bytes, 0) >> 4U;
  packet_status found = packet_status::malformed;
  if (version == 4) {
    found = parse_ipv4(bytes, wire_bytes, p);
  } else if (version == 6) {
    found = parse_ipv6(bytes, wire_bytes, p);
  }
  if (found != packet_status::ip) p = {};
  p.status = found;
}

// Where a packet lies in a frame, or why there is none.
struct place {
  packet_status status = packet_status::ip;
  std::uint32_t offset = 0;
};

inline place behind_type(byte_span frame, std::size_t at, std::uint32_t type) noexcept {
  for (int i = 0; i < most_tags && (type == 0x8100 || type == 0x88a8 || type == 0x9100); ++i) {
    if (frame.size() < at + 4) return {packet_status::snapped};
    type = big_half(frame, at + 2);
    at += 4;
  }
  if (type != type_ipv4 && type != type_ipv6) return {packet_status::other};
  // The version in the packet has to agree with the type of the frame.
  if (at < frame.size() && byte_at(frame, at) >> 4U != (type == type_ipv4 ? 4U : 6U)) {
    return {packet_status::malformed};
  }
  return {packet_status::ip, static_cast<std::uint32_t>(at)};
}

place behind_family(byte_span frame, bool network_order) noexcept {
  if (frame.size() < 4) return {packet_status::snapped};
  std::uint32_t family = big_word(frame, 0);
  if (!network_order && family > 0xffff) family = __builtin_bswap32(family);
  const bool ip = family == 2 || family == 10 || family == 24 || family == 28 || family == 30;
  return {ip ? packet_status::ip : packet_status::other, 4};
}

inline place packet_in(byte_span frame, link_type link) noexcept {
  switch (link) {
    case link_type::ethernet:
      if (frame.size() < 14) return {packet_status::snapped};
      return behind_type(frame, 14, big_half(frame, 12));
    case link_type::linux_cooked:
      if (frame.size() < 16) return {packet_status::snapped};
      return behind_type(frame, 16, big_half(frame, 14));
    case link_type::linux_cooked_2:
      if (frame.size() < 20) return {packet_status::snapped};
      return behind_type(frame, 20, big_half(frame, 0));
    case link_type::null: return behind_family(frame, false);
    case link_type::loop: return behind_family(frame, true);
    case link_type::raw_12:
    case link_type::raw_14:
    case link_type::raw:
    case link_type::ipv4:
    case link_type::ipv6: return {};
  }
  return {packet_status::unknown_link};
}

// What a tunnel carries: where it begins in the outer packet, and as what.
struct carried {
  std::size_t offset = 0;
  link_type link = link_type::raw;
};

std::optional<carried> inside_gre(byte_span bytes) noexcept {
  if (bytes.size() < 4) return std::nullopt;
  const std::uint32_t flags = big_half(bytes, 0);
  if ((flags & 0x4007U) != 0) return std::nullopt;  // source routing, or another version
  std::size_t at = 4;
  for (const std::uint32_t flag : {0x8000U, 0x2000U, 0x1000U}) {  // checksum, key, number
    if ((flags & flag) != 0) at += 4;
  }
  switch (big_half(bytes, 2)) {
    case type_ipv4:
    case type_ipv6: return carried{at, link_type::raw};
    case type_bridged: return carried{at, link_type::ethernet};
    default: return std::nullopt;
  }
}

std::optional<carried> inside(const parsed_packet& p) noexcept {
  if (p.transport_cut || p.fragment) return std::nullopt;
  if (p.protocol == protocol_ipv4 || p.protocol == protocol_ipv6) {
    return carried{p.transport_offset, link_type::raw};
  }
  if (p.protocol == protocol_gre) {
    auto found = inside_gre(p.network.subspan(p.transport_offset));
    if (found) found->offset += p.transport_offset;
    return found;
  }
  if (p.protocol == protocol_udp && p.destination_port == vxlan_port) {
    const auto header = p.network.subspan(p.payload_offset);
    if (header.size() < 8 || (byte_at(header, 0) & 8U) == 0) return std::nullopt;
    return carried{p.payload_offset + std::size_t{8}, link_type::ethernet};
  }
  return std::nullopt;
}

inline void parse_at(byte_span frame, std::uint32_t wire_bytes, const place& at,
                     parsed_packet& p) noexcept {
  if (at.status != packet_status::ip) {
    p.status = at.status;
    return;
  }
  parse_outer(frame.subspan(at.offset), wire_bytes - at.offset, p);
  p.network_offset = at.offset;
}

void go_inside(parsed_packet& p) noexcept {
  for (int i = 0; i < most_tunnels && p.is_ip(); ++i) {
    const std::optional<carried> c = inside(p);
    if (!c || c->offset > p.network.size()) return;
    const auto frame = p.network.subspan(c->offset);
    const auto offset = static_cast<std::uint32_t>(c->offset);
    parsed_packet inner;
    parse_at(frame, p.network_bytes - offset, packet_in(frame, c->link), inner);
    if (!inner.is_ip()) return;
    inner.network_offset += p.network_offset + offset;
    inner.tunnels = static_cast<std::uint8_t>(p.tunnels + 1);
    p = inner;
  }
}

ip_address address_at(const parsed_packet& p, std::size_t at_v4, std::size_t at_v6) noexcept {
  ip_address a;
  a.family = p.family;
  const bool four = p.family == ip_family::v4;
  std::memcpy(a.bytes.data(), p.network.data() + (four ? at_v4 : at_v6), four ? 4 : 16);
  return a;
}

}  // namespace

ip_address parsed_packet::source() const noexcept { return address_at(*this, 12, 8); }
ip_address parsed_packet::destination() const noexcept { return address_at(*this, 16, 24); }

parsed_packet parse_packet(const captured_packet& packet, const parse_options& o) noexcept {
  parsed_packet p;
  if (!o.inner && detail::parse_common(packet, p)) return p;
  const auto wire = std::max<std::size_t>(packet.wire_bytes, packet.bytes.size());
  parse_at(packet.bytes, static_cast<std::uint32_t>(wire), packet_in(packet.bytes, packet.link), p);
  if (o.inner) go_inside(p);
  return p;
}

parsed_packet parse_ip(std::span<const std::byte> bytes, std::uint32_t wire_bytes,
                       const parse_options& o) noexcept {
  parsed_packet p;
  parse_outer(bytes, wire_bytes, p);
  if (o.inner) go_inside(p);
  return p;
}

}  // namespace bloomery
