// The parser: what each link, header and tunnel says, and what must not be guessed.
#include "bloomery/measure/packet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "bloomery/hash/hash.hpp"
#include "packet_bytes.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

packet_bytes text(std::size_t size = 9) { return packet_bytes().fill(size, 'x'); }
packet_bytes dns() { return ipv4({}, udp(4711, 53, text())); }

void expect_dns(const parsed_packet& p, std::uint32_t offset) {
  ASSERT_EQ(p.status, packet_status::ip);
  EXPECT_EQ(p.source().text(), "192.0.2.1");
  EXPECT_EQ(p.destination().text(), "198.51.100.2");
  EXPECT_EQ(p.protocol, protocol_udp);
  EXPECT_TRUE(p.has_ports);
  EXPECT_EQ(p.source_port, 4711);
  EXPECT_EQ(p.destination_port, 53);
  EXPECT_EQ(p.network_offset, offset);
  EXPECT_EQ(p.network_bytes, 37U);
  EXPECT_EQ(p.network.size(), 37U);
  EXPECT_EQ(p.header_bytes, 20);
  EXPECT_EQ(p.transport_offset, 20U);
  EXPECT_EQ(p.payload_offset, 28U);
  EXPECT_EQ(p.identification, 7U);
  EXPECT_FALSE(p.fragment);
  EXPECT_FALSE(p.transport_cut);
}

TEST(parse_packet, finds_the_packet_behind_every_link) {
  expect_dns(parse_packet(as_captured(ethernet(0x0800, dns()))), 14);
  expect_dns(parse_packet(as_captured(ethernet(0x0800, dns(), {0x8100}))), 18);
  expect_dns(parse_packet(as_captured(ethernet(0x0800, dns(), {0x88a8, 0x8100}))), 22);
  for (const link_type raw :
       {link_type::raw, link_type::raw_12, link_type::raw_14, link_type::ipv4}) {
    expect_dns(parse_packet(as_captured(dns(), raw)), 0);
  }
  const auto cooked = packet_bytes().fill(14).put16(0x0800).put(dns());
  expect_dns(parse_packet(as_captured(cooked, link_type::linux_cooked)), 16);
  const auto cooked_2 = packet_bytes().put16(0x0800).fill(18).put(dns());
  expect_dns(parse_packet(as_captured(cooked_2, link_type::linux_cooked_2)), 20);
  const auto null = packet_bytes().little32(2).put(dns());
  expect_dns(parse_packet(as_captured(null, link_type::null)), 4);
  const auto swapped_null = packet_bytes().put32(2).put(dns());
  expect_dns(parse_packet(as_captured(swapped_null, link_type::null)), 4);
  expect_dns(parse_packet(as_captured(swapped_null, link_type::loop)), 4);
}

void expect_same(const parsed_packet& a, const parsed_packet& b) {
  ASSERT_EQ(a.status, b.status);
  if (!a.is_ip()) return;
  EXPECT_EQ(a.family, b.family);
  EXPECT_EQ(a.protocol, b.protocol);
  EXPECT_EQ(a.tunnels, b.tunnels);
  EXPECT_EQ(a.has_ports, b.has_ports);
  EXPECT_EQ(a.has_icmp, b.has_icmp);
  EXPECT_EQ(a.transport_cut, b.transport_cut);
  EXPECT_EQ(a.fragment, b.fragment);
  EXPECT_EQ(a.more_fragments, b.more_fragments);
  EXPECT_EQ(a.icmp_type, b.icmp_type);
  EXPECT_EQ(a.icmp_code, b.icmp_code);
  EXPECT_EQ(a.source_port, b.source_port);
  EXPECT_EQ(a.destination_port, b.destination_port);
  EXPECT_EQ(a.fragment_offset, b.fragment_offset);
  EXPECT_EQ(a.identification, b.identification);
  EXPECT_EQ(a.network.data(), b.network.data());
  EXPECT_EQ(a.network.size(), b.network.size());
  EXPECT_EQ(a.network_bytes, b.network_bytes);
  EXPECT_EQ(a.header_bytes, b.header_bytes);
  EXPECT_EQ(a.transport_offset, b.transport_offset);
  EXPECT_EQ(a.payload_offset, b.payload_offset);
}

// Common packets have a shorter way through the parser. The bytes behind the Ethernet header never
// take it: both must say the same, of frames with any byte changed, cut and made longer anywhere.
TEST(parse_packet, says_the_same_of_common_packets_on_its_short_way) {
  const packet_bytes whole = ethernet(0x0800, ipv4({}, udp(4711, 53, text(40))));
  std::uint64_t random = 1;
  std::size_t common = 0;
  for (int i = 0; i < 200'000; ++i) {
    packet_bytes frame = whole;
    const auto draw = [&](std::uint64_t below) { return (random = splitmix64(random)) % below; };
    if (draw(2) == 0) frame[23] = std::byte{protocol_tcp};
    if (draw(4) == 0) frame.fill(draw(8));
    if (draw(4) == 0) frame.cut(15 + draw(frame.size() - 14));
    for (std::uint64_t n = draw(3); n > 0; --n) {
      const std::size_t at = 14 + draw(std::min<std::size_t>(frame.size() - 14, 34));
      frame[at] = static_cast<std::byte>(draw(256));
    }
    const std::uint32_t version = std::to_integer<std::uint32_t>(frame[14]) >> 4U;
    const auto wire = static_cast<std::uint32_t>(frame.size() - 4 + draw(20));
    captured_packet c = as_captured(frame);
    c.wire_bytes = wire;
    const parsed_packet p = parse_packet(c);
    if (version != 4) {
      EXPECT_EQ(p.status, packet_status::malformed);
      continue;
    }
    const auto sent = std::max<std::size_t>(wire, frame.size()) - 14;
    expect_same(p, parse_ip(frame.view().subspan(14), static_cast<std::uint32_t>(sent)));
    if (p.is_ip()) {
      EXPECT_EQ(p.network_offset, 14U);
    }
    common += p.is_ip() && p.has_ports && p.network.size() >= 40 ? 1U : 0U;
  }
  EXPECT_GT(common, 50'000U);
}

TEST(parse_packet, leaves_the_padding_of_short_frames_out) {
  expect_dns(parse_packet(as_captured(ethernet(0x0800, dns()).fill(9))), 14);
}

TEST(parse_packet, names_what_is_no_ip) {
  EXPECT_EQ(parse_packet(as_captured(ethernet(0x0806, text(28)))).status, packet_status::other);
  EXPECT_EQ(parse_packet(as_captured(ethernet(0x0040, text(64)))).status, packet_status::other);
  EXPECT_EQ(parse_packet(as_captured(dns(), static_cast<link_type>(147))).status,
            packet_status::unknown_link);
  // More tags than anybody nests.
  const auto tagged = ethernet(0x0800, dns(), {0x8100, 0x8100, 0x8100, 0x8100, 0x8100});
  EXPECT_EQ(parse_packet(as_captured(tagged)).status, packet_status::other);
}

TEST(parse_packet, reads_options_and_every_transport_with_ports) {
  const auto with_options =
      ipv4({.protocol = protocol_tcp, .options_bytes = 8}, tcp(80, 1024, text()));
  const parsed_packet p = parse_packet(as_captured(with_options, link_type::raw));
  ASSERT_TRUE(p.is_ip());
  EXPECT_EQ(p.header_bytes, 28);
  EXPECT_EQ(p.source_port, 80);
  EXPECT_EQ(p.destination_port, 1024);
  EXPECT_EQ(p.payload_offset, 48U);
  for (const std::uint8_t protocol : {protocol_sctp, protocol_dccp, protocol_udp_lite}) {
    const auto bytes = ipv4({.protocol = protocol}, udp(1, 2, text(20)));
    EXPECT_EQ(parse_packet(as_captured(bytes, link_type::raw)).destination_port, 2);
  }
  const auto unreachable =
      ipv4({.protocol = protocol_icmp}, packet_bytes().put8(3).put8(1).fill(30));
  const parsed_packet icmp = parse_packet(as_captured(unreachable, link_type::raw));
  EXPECT_TRUE(icmp.has_icmp);
  EXPECT_FALSE(icmp.has_ports);
  EXPECT_EQ(icmp.icmp_type, 3);
  EXPECT_EQ(icmp.icmp_code, 1);
  EXPECT_EQ(icmp.payload_offset, 28U);
  // A protocol without ports has none, whatever its bytes look like.
  EXPECT_FALSE(parse_packet(as_captured(ipv4({.protocol = 50}, udp(1, 2, text())), link_type::raw))
                   .has_ports);
}

TEST(parse_packet, only_first_fragments_have_ports) {
  const auto first = ipv4({.fragment = 0x2000}, udp(9, 10, text()));
  const parsed_packet a = parse_packet(as_captured(first, link_type::raw));
  EXPECT_TRUE(a.fragment && a.more_fragments && a.has_ports);
  const auto second = ipv4({.fragment = 185}, text(40));
  const parsed_packet b = parse_packet(as_captured(second, link_type::raw));
  EXPECT_TRUE(b.fragment);
  EXPECT_FALSE(b.has_ports || b.more_fragments || b.transport_cut || b.first_fragment());
  EXPECT_EQ(b.fragment_offset, 1480);
  EXPECT_EQ(b.payload_offset, 20U);
}

TEST(parse_packet, walks_over_extension_headers) {
  packet_bytes headers;
  headers.put8(43).put8(0).fill(6);                     // hop-by-hop
  headers.put8(60).put8(1).fill(14);                    // routing, 16 bytes
  headers.put8(44).put8(0).fill(6);                     // for the destination
  headers.put8(51).put8(0).put16(1).put32(0x12345678);  // the first fragment
  headers.put8(protocol_udp).put8(4).fill(22);          // authentication, 24 bytes
  const auto bytes = ipv6("2001:db8::1", "2001:db8::2", 0, headers.put(udp(5, 6, text())));
  const auto frame = ethernet(0x86dd, bytes);
  const parsed_packet p = parse_packet(as_captured(frame));
  ASSERT_TRUE(p.is_ip());
  EXPECT_EQ(p.family, ip_family::v6);
  EXPECT_EQ(p.source().text(), "2001:db8::1");
  EXPECT_EQ(p.destination().text(), "2001:db8::2");
  EXPECT_EQ(p.protocol, protocol_udp);
  EXPECT_EQ(p.source_port, 5);
  EXPECT_EQ(p.identification, 0x12345678U);
  EXPECT_TRUE(p.more_fragments);
  EXPECT_EQ(p.header_bytes, 40);
  EXPECT_EQ(p.transport_offset, 40U + 64U);
  EXPECT_EQ(p.network_bytes, bytes.size());
}

TEST(parse_packet, later_fragments_of_ipv6_end_the_walk) {
  packet_bytes header;
  header.put8(60).put8(0).put16(1448).put32(1).fill(20);
  const auto bytes = ipv6("::1", "::2", 44, header);
  const parsed_packet p = parse_packet(as_captured(bytes, link_type::ipv6));
  ASSERT_TRUE(p.is_ip());
  EXPECT_EQ(p.fragment_offset, 1448);
  EXPECT_EQ(p.protocol, 60);
  EXPECT_EQ(p.transport_offset, 48U);
}

TEST(parse_packet, endless_extension_headers_are_malformed) {
  packet_bytes headers;
  for (int i = 0; i < 40; ++i) headers.put8(60).put8(0).fill(6);
  const auto bytes = ipv6("::1", "::2", 60, headers);
  EXPECT_EQ(parse_packet(as_captured(bytes, link_type::raw)).status, packet_status::malformed);
}

TEST(parse_packet, looks_into_tunnels_on_request) {
  const auto vxlan = packet_bytes().put8(8).fill(7).put(ethernet(0x0800, dns()));
  const ip_fields outer{.source = "10.0.0.1", .destination = "10.0.0.2"};
  const auto in = [&](std::uint8_t protocol, const packet_bytes& payload) {
    ip_fields f = outer;
    f.protocol = protocol;
    return ipv4(f, payload);
  };
  const std::initializer_list<packet_bytes> tunnels = {
      in(protocol_ipv4, dns()),
      in(protocol_gre, packet_bytes().put16(0).put16(0x0800).put(dns())),
      in(protocol_gre, packet_bytes().put16(0xb000).put16(0x0800).fill(12).put(dns())),
      in(protocol_gre, packet_bytes().put16(0).put16(0x6558).put(ethernet(0x0800, dns()))),
      in(protocol_udp, udp(50000, 4789, vxlan)),
      in(protocol_ipv6, ipv6("::1", "::2", protocol_ipv4, dns())),
  };
  for (const packet_bytes& bytes : tunnels) {
    const auto captured = as_captured(bytes, link_type::raw);
    const parsed_packet plain = parse_packet(captured);
    EXPECT_EQ(plain.source().text(), "10.0.0.1");
    EXPECT_EQ(plain.tunnels, 0);
    const parsed_packet inner = parse_packet(captured, {.inner = true});
    EXPECT_GE(inner.tunnels, 1);
    expect_dns(inner, static_cast<std::uint32_t>(bytes.size() - 37));
  }
}

TEST(parse_packet, a_tunnel_of_something_else_is_its_outer_packet) {
  const std::initializer_list<packet_bytes> others = {
      ipv4({.protocol = protocol_ipv4}, text()),
      ipv4({.protocol = protocol_gre}, packet_bytes().put16(1).put16(0x0800).put(dns())),
      ipv4({.protocol = protocol_gre}, packet_bytes().put16(0).put16(0x880b).put(dns())),
      ipv4({}, udp(1, 4789, text(30))),
      ipv4({.protocol = protocol_ipv4, .fragment = 0x2000}, dns()),
  };
  for (const packet_bytes& bytes : others) {
    const parsed_packet p = parse_packet(as_captured(bytes, link_type::raw), {.inner = true});
    EXPECT_TRUE(p.is_ip());
    EXPECT_EQ(p.tunnels, 0);
  }
}

TEST(parse_packet, every_cut_of_a_packet_says_what_is_missing) {
  const auto whole = ethernet(0x0800, dns());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    packet_bytes some = whole;
    some.cut(size);
    captured_packet c = as_captured(some);
    c.wire_bytes = static_cast<std::uint32_t>(whole.size());
    const parsed_packet p = parse_packet(c);
    if (size < 34) {
      EXPECT_EQ(p.status, packet_status::snapped) << size;
      continue;
    }
    ASSERT_EQ(p.status, packet_status::ip) << size;
    EXPECT_EQ(p.network_bytes, 37U);
    EXPECT_EQ(p.network.size(), size - 14);
    EXPECT_EQ(p.has_ports, size >= 38) << size;
    EXPECT_EQ(p.transport_cut, size < 38) << size;
    EXPECT_LE(p.payload_offset, p.network.size());
  }
}

TEST(parse_packet, lengths_that_lie_are_malformed) {
  const auto with = [](std::size_t at, std::uint32_t value) {
    packet_bytes bytes = dns();
    bytes[at] = static_cast<std::byte>(value >> 8U);
    bytes[at + 1] = static_cast<std::byte>(value);
    return parse_packet(as_captured(bytes, link_type::raw)).status;
  };
  EXPECT_EQ(with(2, 38), packet_status::malformed);  // longer than the frame
  EXPECT_EQ(with(2, 65535), packet_status::malformed);
  EXPECT_EQ(with(2, 19), packet_status::malformed);      // shorter than its header
  EXPECT_EQ(with(0, 0x4400), packet_status::malformed);  // a header of 16 bytes
  EXPECT_EQ(with(0, 0x4f00), packet_status::malformed);  // of 60, in a packet of 37
  EXPECT_EQ(with(0, 0x7500), packet_status::malformed);  // version 7
  EXPECT_EQ(with(2, 0), packet_status::ip);              // left to the network card
  // The frame says IPv6, the packet IPv4.
  EXPECT_EQ(parse_packet(as_captured(ethernet(0x86dd, dns()))).status, packet_status::malformed);
}

TEST(parse_ip, takes_quotations_of_icmp_errors) {
  packet_bytes quoted = ipv4({}, udp(4711, 53, text(500)));
  quoted.cut(28);
  const parsed_packet p = parse_ip(quoted.view(), UINT32_MAX);
  ASSERT_TRUE(p.is_ip());
  EXPECT_EQ(p.network_bytes, 528U);
  EXPECT_EQ(p.destination_port, 53);
  EXPECT_EQ(parse_ip(quoted.view(), 28).status, packet_status::malformed);
  EXPECT_EQ(parse_ip({}, 0).status, packet_status::malformed);
}

}  // namespace
