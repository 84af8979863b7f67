// A packet as it was captured, and what its headers say: addresses, protocol, ports, lengths.
//
//     Ethernet, VLAN and QinQ tags | Linux cooked (both) | BSD loopback | none (raw IP)
//       -> IPv4 with options | IPv6 with extension headers
//         -> TCP, UDP, UDP-Lite, SCTP, DCCP: ports;  ICMP: type and code
//         -> on request the packet inside IP-in-IP, GRE and VXLAN
//
// Whoever may send to a network chooses these bytes, and a capture may have only the first of them.
// So each read is checked against what was captured, each loop has a bound, and a packet that is
// not understood says why in `status` and is never guessed at. Nothing here allocates or throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/lists/address.hpp"

namespace bloomery {

// What the first byte of a frame is the beginning of: the numbers of capture files. Files may have
// others, whose packets are of no understood link.
enum class link_type : std::uint16_t {
  null = 0,  // BSD loopback: the family in the byte order of the machine that captured
  ethernet = 1,
  raw_12 = 12,  // raw IP, as some systems number it
  raw_14 = 14,
  raw = 101,
  loop = 108,  // OpenBSD loopback
  linux_cooked = 113,
  ipv4 = 228,
  ipv6 = 229,
  linux_cooked_2 = 276,
};

struct captured_packet {
  std::uint64_t time_ns = 0;  // since 1970, as the capture says; may run backwards, or be 0
  std::span<const std::byte> bytes{};  // of the frame, as many as were captured
  std::uint32_t wire_bytes = 0;        // of the whole frame, never fewer than were captured
  link_type link = link_type::ethernet;
};

enum class packet_status : std::uint8_t {
  ip,            // understood, at least up to both addresses
  other,         // something else than IP: ARP, LLDP, ...
  snapped,       // what was captured ends before the addresses do
  malformed,     // lengths or versions that contradict each other
  unknown_link,  // frames of a link type that is not in the list above
};

// IP protocol numbers that mean something here.
inline constexpr std::uint8_t protocol_icmp = 1;
inline constexpr std::uint8_t protocol_ipv4 = 4;
inline constexpr std::uint8_t protocol_tcp = 6;
inline constexpr std::uint8_t protocol_udp = 17;
inline constexpr std::uint8_t protocol_dccp = 33;
inline constexpr std::uint8_t protocol_ipv6 = 41;
inline constexpr std::uint8_t protocol_gre = 47;
inline constexpr std::uint8_t protocol_icmp6 = 58;
inline constexpr std::uint8_t protocol_sctp = 132;
inline constexpr std::uint8_t protocol_udp_lite = 136;

struct parsed_packet {
  packet_status status = packet_status::other;
  // All that follows is set where the status is `ip` alone.
  ip_family family = ip_family::v4;
  std::uint8_t protocol = 0;   // of what follows the IP header and, in IPv6, its extension headers
  std::uint8_t tunnels = 0;    // how many outer IP headers were taken off
  bool has_ports = false;      // source_port and destination_port are from the packet
  bool has_icmp = false;       // icmp_type and icmp_code are
  bool transport_cut = false;  // what was captured ends before the ports, or within IPv6's headers
  bool fragment = false;       // a piece of a datagram; only the first has ports
  bool more_fragments = false;
  std::uint8_t icmp_type = 0;
  std::uint8_t icmp_code = 0;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint16_t fragment_offset = 0;  // in bytes
  std::uint32_t identification = 0;   // of IPv4, or of IPv6's fragment header
  std::uint32_t network_offset = 0;   // where `network` begins in the frame

  // The IP packet, from its header on, as much of it as was captured, without padding of the link.
  // What follows is relative to its beginning; `transport_offset` and `payload_offset` are at most
  // its size.
  std::span<const std::byte> network{};
  std::uint32_t network_bytes = 0;     // of the whole IP packet, by its header
  std::uint16_t header_bytes = 0;      // IPv4: with its options; IPv6: 40
  std::uint32_t transport_offset = 0;  // behind the IP header and IPv6's extension headers
  std::uint32_t payload_offset = 0;    // behind the header of TCP, UDP or ICMP, or the same

  [[nodiscard]] bool is_ip() const noexcept { return status == packet_status::ip; }
  [[nodiscard]] bool first_fragment() const noexcept { return fragment_offset == 0; }
  // For a packet that is_ip().
  [[nodiscard]] ip_address source() const noexcept;
  [[nodiscard]] ip_address destination() const noexcept;
};

struct parse_options {
  // The innermost packet that is understood instead of the outermost, through up to four tunnels.
  // A tunnel whose inside is not understood is its outer packet.
  bool inner = false;
};

[[nodiscard]] parsed_packet parse_packet(const captured_packet& packet,
                                         const parse_options& o = {}) noexcept;

// The same for bytes that begin with an IP header, such as the quotation in an ICMP error, of which
// `wire_bytes` were sent. A quotation is cut, so its own length may be larger: give UINT32_MAX.
[[nodiscard]] parsed_packet parse_ip(std::span<const std::byte> bytes, std::uint32_t wire_bytes,
                                     const parse_options& o = {}) noexcept;

}  // namespace bloomery
