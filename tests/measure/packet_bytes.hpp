// Packets and captures as bytes, made by hand for the tests of this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "bloomery/lists/address.hpp"
#include "bloomery/measure/packet.hpp"

namespace bloomery_test {

class packet_bytes {
 public:
  packet_bytes() = default;

  packet_bytes& put8(std::uint32_t value) {
    bytes_.push_back(static_cast<std::byte>(value));
    return *this;
  }
  packet_bytes& put16(std::uint32_t value) { return put8(value >> 8U).put8(value); }
  packet_bytes& put32(std::uint32_t value) { return put16(value >> 16U).put16(value); }
  packet_bytes& put(const packet_bytes& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    return *this;
  }
  packet_bytes& put(std::string_view address) {
    const auto a = bloomery::ip_address::parse(address).value();
    for (unsigned i = 0; i < a.bits() / 8; ++i) put8(a.bytes[i]);
    return *this;
  }
  packet_bytes& fill(std::size_t count, std::uint32_t value = 0) {
    for (std::size_t i = 0; i < count; ++i) put8(value);
    return *this;
  }
  // Little-endian, as most captures are.
  packet_bytes& little16(std::uint32_t value) { return put8(value).put8(value >> 8U); }
  packet_bytes& little32(std::uint32_t value) { return little16(value).little16(value >> 16U); }
  packet_bytes& pad(std::size_t multiple) {
    while (bytes_.size() % multiple != 0) put8(0);
    return *this;
  }
  packet_bytes& cut(std::size_t size) {
    bytes_.resize(size);
    return *this;
  }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  std::byte& operator[](std::size_t at) { return bytes_[at]; }
  [[nodiscard]] std::span<const std::byte> view() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

struct ip_fields {
  std::string_view source = "192.0.2.1";
  std::string_view destination = "198.51.100.2";
  std::uint8_t protocol = bloomery::protocol_udp;
  std::uint32_t options_bytes = 0;  // of IPv4
  std::uint32_t fragment = 0;       // as the header has it
  std::uint32_t identification = 7;
};

inline packet_bytes ipv4(const ip_fields& f, const packet_bytes& payload) {
  packet_bytes p;
  const std::uint32_t header = 20 + f.options_bytes;
  p.put8(0x40 | header / 4).put8(0).put16(static_cast<std::uint32_t>(header + payload.size()));
  p.put16(f.identification).put16(f.fragment).put8(64).put8(f.protocol).put16(0);
  return p.put(f.source).put(f.destination).fill(f.options_bytes, 1).put(payload);
}

inline packet_bytes ipv6(std::string_view source, std::string_view destination, std::uint32_t next,
                         const packet_bytes& payload) {
  packet_bytes p;
  p.put32(0x60000000).put16(static_cast<std::uint32_t>(payload.size())).put8(next).put8(64);
  return p.put(source).put(destination).put(payload);
}

inline packet_bytes udp(std::uint32_t source_port, std::uint32_t destination_port,
                        const packet_bytes& payload) {
  packet_bytes p;
  p.put16(source_port).put16(destination_port);
  return p.put16(static_cast<std::uint32_t>(8 + payload.size())).put16(0).put(payload);
}

inline packet_bytes tcp(std::uint32_t source_port, std::uint32_t destination_port,
                        const packet_bytes& payload) {
  packet_bytes p;
  p.put16(source_port).put16(destination_port).put32(1).put32(2).put16(0x5010).fill(6);
  return p.put(payload);
}

inline packet_bytes ethernet(std::uint32_t type, const packet_bytes& payload,
                             std::initializer_list<std::uint32_t> tags = {}) {
  packet_bytes p;
  p.fill(12, 2);
  for (const std::uint32_t tag : tags) p.put16(tag).put16(5);
  return p.put16(type).put(payload);
}

inline bloomery::captured_packet as_captured(
    const packet_bytes& p, bloomery::link_type link = bloomery::link_type::ethernet) {
  return {.bytes = p.view(), .wire_bytes = static_cast<std::uint32_t>(p.size()), .link = link};
}

// A pcap file of little-endian numbers; packets are appended with add_record.
inline packet_bytes pcap_file(bloomery::link_type link, std::uint32_t magic = 0xa1b2c3d4) {
  packet_bytes p;
  p.little32(magic).little16(2).little16(4).fill(8).little32(65535);
  return p.little32(static_cast<std::uint32_t>(link));
}
inline void add_record(packet_bytes& file, std::uint32_t seconds, std::uint32_t fraction,
                       const packet_bytes& packet, std::uint32_t wire_bytes = 0) {
  const auto captured = static_cast<std::uint32_t>(packet.size());
  file.little32(seconds).little32(fraction).little32(captured);
  file.little32(wire_bytes == 0 ? captured : wire_bytes).put(packet);
}

// A block of a pcapng file, little-endian.
inline packet_bytes block(std::uint32_t type, packet_bytes body) {
  body.pad(4);
  packet_bytes p;
  const auto length = static_cast<std::uint32_t>(body.size() + 12);
  return p.little32(type).little32(length).put(body).little32(length);
}
inline packet_bytes section_block() {
  packet_bytes body;
  return block(0x0a0d0d0a, body.little32(0x1a2b3c4d).little16(1).little16(0).fill(8, 255));
}
inline packet_bytes interface_block(bloomery::link_type link, const packet_bytes& options = {},
                                    std::uint32_t snap = 0) {
  packet_bytes body;
  body.little16(static_cast<std::uint32_t>(link)).little16(0).little32(snap);
  return block(1, body.put(options));
}
inline packet_bytes packet_block(std::uint32_t interface, std::uint64_t ticks,
                                 const packet_bytes& packet) {
  packet_bytes body;
  const auto captured = static_cast<std::uint32_t>(packet.size());
  body.little32(interface).little32(static_cast<std::uint32_t>(ticks >> 32U));
  body.little32(static_cast<std::uint32_t>(ticks)).little32(captured).little32(captured);
  return block(6, body.put(packet));
}

}  // namespace bloomery_test
