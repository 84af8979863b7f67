// What does not change about an IP packet on its way, so that routers can know it again (Snoeren,
// Partridge, Sanchez, Jones, Tchakountio, Kent and Strayer 2001, "Hash-based IP traceback").
//
//     IPv4   the 20 bytes of the header, with TOS, TTL and checksum zeroed, without options;
//            8 bytes of what follows the header: 28 bytes
//     IPv6   the 40 bytes of the header, with traffic class and hop limit zeroed; 24 bytes of what
//            follows it, since IPv6 has no number of the packet: 64 bytes
//
// A shorter packet counts as if zeros followed. Eight bytes are what every ICMP error quotes of the
// packet that it is about, so a packet can also be asked for that is known from such an error.
//
// A fragment is a packet of its own. What rewrites packets makes others of them: address
// translation, tunnels, routers that fragment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bloomery/measure/packet.hpp"

namespace bloomery {

struct packet_identity {
  static constexpr std::size_t v4_bytes = 28;
  static constexpr std::size_t v6_bytes = 64;

  std::array<std::byte, v6_bytes> room{};
  std::uint8_t size = 0;

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {room.data(), size}; }

  // Bytes that another host sent; nothing when they can be no packet's.
  [[nodiscard]] static std::optional<packet_identity> from(
      std::span<const std::byte> bytes) noexcept;
};

// Nothing for what is no IP packet, and for one of which too little was captured.
[[nodiscard]] std::optional<packet_identity> identity_of(const parsed_packet& p) noexcept;

// The packet that an ICMP error quotes, as it was when the error was sent; nothing for other
// packets, and where the quotation is no IP header.
[[nodiscard]] std::optional<parsed_packet> quoted_packet(const parsed_packet& p) noexcept;

}  // namespace bloomery
