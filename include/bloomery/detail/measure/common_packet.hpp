// The packet that most are, for loops over millions of them: TCP or UDP over IPv4 without options,
// in one piece, behind Ethernet without tags, its headers captured. All of its lengths agree, so
// there is nothing to decide; src/measure/packet.cpp has all others, and says the same of these.
//
// Inline, so that who needs some fields only does not pay for the others.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bloomery/measure/packet.hpp"

namespace bloomery::detail {

[[nodiscard]] inline std::uint32_t big_half(const std::byte* at) noexcept {
  std::uint16_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return std::endian::native == std::endian::little ? __builtin_bswap16(value) : value;
}

// False, and nothing changed, for another packet. `p` is new.
[[gnu::always_inline]] inline bool parse_common(const captured_packet& c,
                                                parsed_packet& p) noexcept {
  constexpr std::size_t ethernet = 14;
  constexpr std::size_t ip = 20;
  constexpr std::size_t most_header = 20;  // of TCP without options, or of UDP
  const std::size_t captured = c.bytes.size();
  if (c.link != link_type::ethernet || captured < ethernet + ip + most_header) return false;
  const std::byte* const frame = c.bytes.data();
  const std::byte* const network = frame + ethernet;
  const std::uint32_t claimed = big_half(network + 2);
  const auto protocol = std::to_integer<std::uint8_t>(network[9]);
  const bool tcp = protocol == protocol_tcp;
  if (big_half(frame + 12) != 0x0800 || network[0] != std::byte{0x45} ||
      (big_half(network + 6) & 0x3fffU) != 0 || (!tcp && protocol != protocol_udp) ||
      claimed < ip + most_header ||
      claimed > std::max<std::size_t>(c.wire_bytes, captured) - ethernet) {
    return false;
  }
  const std::size_t here = std::min<std::size_t>(captured - ethernet, claimed);
  const std::size_t header =
      tcp ? std::size_t{std::to_integer<std::uint8_t>(network[ip + 12])} / 16 * 4 : 8;
  p.status = packet_status::ip;
  p.protocol = protocol;
  p.has_ports = true;
  p.source_port = static_cast<std::uint16_t>(big_half(network + ip));
  p.destination_port = static_cast<std::uint16_t>(big_half(network + ip + 2));
  p.identification = big_half(network + 4);
  p.network_offset = ethernet;
  p.network = {network, here};
  p.network_bytes = claimed;
  p.header_bytes = ip;
  p.transport_offset = ip;
  p.payload_offset = static_cast<std::uint32_t>(ip + std::min(header, here - ip));
  return true;
}

}  // namespace bloomery::detail
