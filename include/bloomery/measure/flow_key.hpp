// What a flow is: which packets are counted together.
//
//     five_tuple    both addresses, both ports, protocol: one direction of one connection
//     pair          both addresses
//     source        who sends;   destination   who receives
//     port          protocol and destination port: the service
//     prefix        the network that sends: the first bits of the source
//
// A key is 40 bytes, of which IPv4 uses 16: hashing and comparing take as long as these need.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/lists/address.hpp"
#include "bloomery/measure/packet.hpp"

namespace bloomery {

enum class flow_by : std::uint8_t { five_tuple, pair, source, destination, port, prefix };

struct flow_rule {
  flow_by by = flow_by::five_tuple;
  unsigned prefix_v4 = 24;  // bits of the source that count, by prefix
  unsigned prefix_v6 = 48;
};

class flow_key {
 public:
  constexpr flow_key() = default;

  // The flow of a packet. Nothing where the packet is no IP, or where its ports belong to the key
  // and were not captured. Later fragments have no ports: they are flows of their own, without any.
  [[nodiscard]] static std::optional<flow_key> of(const parsed_packet& p,
                                                  const flow_rule& rule) noexcept;
  // The same into a key that is there: false, and nothing changed, where there is none.
  static bool make(const parsed_packet& p, const flow_rule& rule, flow_key& to) noexcept;
  // By five_tuple, for a packet of IPv4 that has ports.
  static void make_five_tuple(const parsed_packet& p, flow_key& to) noexcept {
    to.put(head_of(flow_by::five_tuple, ip_family::v4) |
           ports_of(p.protocol, p.source_port, p.destination_port));
    std::memcpy(to.bytes_.data() + address_place, p.network.data() + 12, 8);
  }

  [[nodiscard]] flow_by by() const noexcept { return static_cast<flow_by>(bytes_[0]); }
  [[nodiscard]] ip_family family() const noexcept { return static_cast<ip_family>(bytes_[1]); }
  // What the key is made of; nothing for what it leaves out.
  [[nodiscard]] std::optional<ip_address> source() const noexcept;
  [[nodiscard]] std::optional<ip_address> destination() const noexcept;
  [[nodiscard]] std::optional<std::uint8_t> protocol() const noexcept;
  [[nodiscard]] std::optional<std::uint16_t> source_port() const noexcept;
  [[nodiscard]] std::optional<std::uint16_t> destination_port() const noexcept;
  [[nodiscard]] unsigned prefix_bits() const noexcept {  // of the source, by prefix
    return std::to_integer<unsigned>(bytes_[3]);
  }

  // "192.0.2.1:4711 > 198.51.100.2:53 UDP", "[2001:db8::1]:443 > ...", "192.0.2.0/24", "UDP 53"
  [[nodiscard]] std::string text() const;

  // The bytes that make the key, to be hashed.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {bytes_.data(), family() == ip_family::v6 ? bytes_.size() : short_bytes};
  }
  friend bool operator==(const flow_key& a, const flow_key& b) noexcept {
    return std::memcmp(a.bytes_.data(), b.bytes_.data(), sizeof a.bytes_) == 0;
  }

 private:
  static constexpr std::size_t short_bytes = 16;
  static constexpr std::size_t address_place = 8;

  // The first eight bytes are put together in a register: written one by one they would stall the
  // wide loads that copy and hash the key.
  [[nodiscard]] static std::uint64_t head_of(flow_by by, ip_family family) noexcept {
    return static_cast<std::uint64_t>(by) | (static_cast<std::uint64_t>(family) << 8U);
  }
  [[nodiscard]] static std::uint64_t ports_of(std::uint8_t protocol, std::uint16_t source,
                                              std::uint16_t destination) noexcept {
    return (std::uint64_t{protocol} << 16U) | (std::uint64_t{1} << 24U) |
           (std::uint64_t{__builtin_bswap16(source)} << 32U) |
           (std::uint64_t{__builtin_bswap16(destination)} << 48U);
  }
  void put(std::uint64_t head) noexcept {
    head = detail::little_endian(head);
    static_assert(sizeof head == address_place);
    bytes_ = {};
    std::memcpy(bytes_.data(), &head, sizeof head);
  }

  [[nodiscard]] bool has_ports() const noexcept;
  [[nodiscard]] std::uint16_t port_at(std::size_t at) const noexcept;
  [[nodiscard]] ip_address address_at(bool second) const noexcept;
  void put_addresses(const parsed_packet& p, const flow_rule& rule) noexcept;

  // by, family, protocol, bits of the prefix or whether there are ports; ports; addresses: the
  // second one directly behind the first.
  std::array<std::byte, 40> bytes_{};
};

// "TCP", "ICMPv6", or the number.
[[nodiscard]] std::string protocol_name(std::uint8_t protocol);

}  // namespace bloomery
