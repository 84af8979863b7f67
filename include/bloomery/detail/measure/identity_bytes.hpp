// The bytes that identify a packet, for loops over many of them; measure/packet_identity.hpp says
// what they are.
#pragma once

#include <cstddef>
#include <cstring>

#include "bloomery/measure/packet_identity.hpp"

namespace bloomery::detail {

inline void zero_changing_v4(std::byte* header) noexcept {
  header[1] = std::byte{0};  // TOS
  header[8] = std::byte{0};  // TTL
  header[10] = std::byte{0};
  header[11] = std::byte{0};  // checksum
}

inline void zero_changing_v6(std::byte* header) noexcept {  // the flow label stays
  header[0] &= std::byte{0xf0};
  header[1] &= std::byte{0x0f};
  header[7] = std::byte{0};  // hop limit
}

// `header` bytes of the IP header, and up to `more` bytes of what follows at `from`, with zeros
// where the packet is shorter.
inline bool copy_identity(const parsed_packet& p, std::size_t header, std::size_t from,
                          std::size_t more, std::byte* to) noexcept {
  const std::size_t here = p.network.size();
  if (here < from) return false;
  std::memcpy(to, p.network.data(), header);
  if (here >= from + more) [[likely]] {
    std::memcpy(to + header, p.network.data() + from, more);
    return true;
  }
  if (here < p.network_bytes) return false;  // it was longer
  std::memset(to + header, 0, more);
  std::memcpy(to + header, p.network.data() + from, here - from);
  return true;
}

// What identifies a packet, into 64 bytes of the caller's, of which it returns how many are used; 0
// for nothing. Without an object for each of millions of packets a second.
inline std::size_t write_identity(const parsed_packet& p, std::byte* to) noexcept {
  if (!p.is_ip()) return 0;
  if (p.family == ip_family::v4) {
    if (!copy_identity(p, 20, p.header_bytes, packet_identity::v4_bytes - 20, to)) return 0;
    zero_changing_v4(to);
    return packet_identity::v4_bytes;
  }
  if (!copy_identity(p, 40, 40, packet_identity::v6_bytes - 40, to)) return 0;
  zero_changing_v6(to);
  return packet_identity::v6_bytes;
}

}  // namespace bloomery::detail
