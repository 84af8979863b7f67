#include "bloomery/measure/flow_key.hpp"

#include <algorithm>
#include <cstring>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace {

constexpr std::size_t protocol_place = 2;
constexpr std::size_t note_place = 3;
constexpr std::size_t ports_place = 4;
constexpr std::byte with_ports{1};

std::string with_port(const ip_address& a, const std::optional<std::uint16_t>& port) {
  std::string text = a.text();
  if (!port) return text;
  const std::string number = detail::to_text(std::uint64_t{*port});
  return a.family == ip_family::v6 ? "[" + text + "]:" + number : text + ":" + number;
}

}  // namespace

std::string protocol_name(std::uint8_t protocol) {
  switch (protocol) {
    case protocol_icmp: return "ICMP";
    case 2: return "IGMP";
    case protocol_ipv4: return "IPv4";
    case protocol_tcp: return "TCP";
    case protocol_udp: return "UDP";
    case protocol_dccp: return "DCCP";
    case protocol_ipv6: return "IPv6";
    case protocol_gre: return "GRE";
    case 50: return "ESP";
    case 51: return "AH";
    case protocol_icmp6: return "ICMPv6";
    case 89: return "OSPF";
    case protocol_sctp: return "SCTP";
    case protocol_udp_lite: return "UDP-Lite";
    default: return "protocol " + detail::to_text(std::uint64_t{protocol});
  }
}

// Straight from the packet, where the addresses lie beside each other, too.
void flow_key::put_addresses(const parsed_packet& p, const flow_rule& rule) noexcept {
  const bool four = p.family == ip_family::v4;
  const std::size_t size = four ? 4 : 16;
  const std::byte* const from = p.network.data() + (four ? 12 : 8);
  std::byte* const to = bytes_.data() + address_place;
  switch (rule.by) {
    case flow_by::five_tuple:
    case flow_by::pair: four ? std::memcpy(to, from, 8) : std::memcpy(to, from, 32); break;
    case flow_by::source: std::memcpy(to, from, size); break;
    case flow_by::destination: std::memcpy(to + size, from + size, size); break;
    case flow_by::port: break;
    case flow_by::prefix: {
      const unsigned bits =
          std::min(address_bits(p.family), four ? rule.prefix_v4 : rule.prefix_v6);
      bytes_[note_place] = static_cast<std::byte>(bits);
      std::memcpy(to, from, bits / 8);
      if (bits % 8 != 0) {
        to[bits / 8] = from[bits / 8] & static_cast<std::byte>(0xff00U >> (bits % 8));
      }
      break;
    }
  }
}

bool flow_key::make(const parsed_packet& p, const flow_rule& rule, flow_key& to) noexcept {
  if (!p.is_ip()) return false;
  const bool ports = rule.by == flow_by::five_tuple || rule.by == flow_by::port;
  if (ports && p.transport_cut) return false;
  // Services are the same over both versions.
  const ip_family family = rule.by == flow_by::port ? ip_family::v4 : p.family;
  std::uint64_t head = head_of(rule.by, family);
  if (ports && p.has_ports) {
    const std::uint16_t source = rule.by == flow_by::port ? std::uint16_t{0} : p.source_port;
    head |= ports_of(p.protocol, source, p.destination_port);
  } else if (ports) {
    head |= std::uint64_t{p.protocol} << 16U;
  }
  to.put(head);
  to.put_addresses(p, rule);
  return true;
}

std::optional<flow_key> flow_key::of(const parsed_packet& p, const flow_rule& rule) noexcept {
  flow_key k;
  return make(p, rule, k) ? std::optional<flow_key>(k) : std::nullopt;
}

bool flow_key::has_ports() const noexcept {
  return (by() == flow_by::five_tuple || by() == flow_by::port) && bytes_[note_place] == with_ports;
}

std::uint16_t flow_key::port_at(std::size_t at) const noexcept {
  return static_cast<std::uint16_t>((std::to_integer<unsigned>(bytes_[at]) << 8U) |
                                    std::to_integer<unsigned>(bytes_[at + 1]));
}

ip_address flow_key::address_at(bool second) const noexcept {
  ip_address a;
  a.family = family();
  const std::size_t size = a.bits() / 8;
  std::memcpy(a.bytes.data(), bytes_.data() + address_place + (second ? size : 0), size);
  return a;
}

std::optional<ip_address> flow_key::source() const noexcept {
  if (by() == flow_by::destination || by() == flow_by::port) return std::nullopt;
  return address_at(false);
}

std::optional<ip_address> flow_key::destination() const noexcept {
  if (by() == flow_by::five_tuple || by() == flow_by::pair || by() == flow_by::destination) {
    return address_at(true);
  }
  return std::nullopt;
}

std::optional<std::uint8_t> flow_key::protocol() const noexcept {
  if (by() != flow_by::five_tuple && by() != flow_by::port) return std::nullopt;
  return std::to_integer<std::uint8_t>(bytes_[protocol_place]);
}

std::optional<std::uint16_t> flow_key::source_port() const noexcept {
  if (!has_ports() || by() == flow_by::port) return std::nullopt;
  return port_at(ports_place);
}

std::optional<std::uint16_t> flow_key::destination_port() const noexcept {
  if (!has_ports()) return std::nullopt;
  return port_at(ports_place + 2);
}

std::string flow_key::text() const {
  switch (by()) {
    case flow_by::five_tuple:
      return with_port(address_at(false), source_port()) + " > " +
             with_port(address_at(true), destination_port()) + " " + protocol_name(*protocol());
    case flow_by::pair: return address_at(false).text() + " > " + address_at(true).text();
    case flow_by::source: return address_at(false).text();
    case flow_by::destination: return address_at(true).text();
    case flow_by::port: {
      const auto port = destination_port();
      const std::string name = protocol_name(*protocol());
      return port ? name + " " + detail::to_text(std::uint64_t{*port}) : name;
    }
    case flow_by::prefix: {
      return address_at(false).text() + "/" + detail::to_text(std::uint64_t{prefix_bits()});
    }
  }
  return {};
}

}  // namespace bloomery
