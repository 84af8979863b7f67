// Arbitrary bytes as a capture, whole and in pieces, and as packets of every link: nothing is read
// beyond them, both ways give the same packets, all offsets lie inside, and flows add up.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/measure/capture.hpp"
#include "bloomery/measure/flow_meter.hpp"
#include "input.hpp"

namespace {

using namespace bloomery;
using bloomery_fuzz::require;

void check_parsed(const captured_packet& c, const parsed_packet& p) {
  if (!p.is_ip()) return;
  const std::byte* const begin = c.bytes.data();
  require(p.network.data() >= begin &&
          p.network.data() + p.network.size() <= begin + c.bytes.size());
  require(p.network.data() == begin + p.network_offset);
  require(p.network.size() >= (p.family == ip_family::v4 ? 20U : 40U));
  require(p.network_bytes >= p.network.size());
  require(p.transport_offset <= p.payload_offset && p.payload_offset <= p.network.size());
  require(!p.has_ports || p.transport_offset + 4 <= p.network.size());
  require(p.tunnels <= 4);
  static_cast<void>(p.source().text() + p.destination().text());
  for (const flow_by by : {flow_by::five_tuple, flow_by::port, flow_by::prefix}) {
    const auto key = flow_key::of(p, {.by = by, .prefix_v4 = 13, .prefix_v6 = 77});
    if (key) require(!key->text().empty() && key->by() == by);
  }
}

void check_packet(const captured_packet& c) {
  check_parsed(c, parse_packet(c));
  check_parsed(c, parse_packet(c, {.inner = true}));
}

// The packets up to the end or the damage, by their times and sizes.
std::vector<std::uint64_t> packets_of(std::span<const std::byte> bytes, std::size_t piece) {
  std::vector<std::uint64_t> seen;
  std::array<captured_packet, 3> packets;
  capture_reader reader;
  std::vector<std::byte> held;
  try {
    while (!bytes.empty()) {
      const auto next = bytes.first(std::min(piece, bytes.size()));
      bytes = bytes.subspan(next.size());
      held.insert(held.end(), next.begin(), next.end());
      for (;;) {
        const std::vector<std::byte> exact(held);  // so that a sanitizer sees its end
        const auto s = reader.read(exact, packets);
        require(s.taken <= exact.size());
        for (std::size_t i = 0; i < s.packets; ++i) {
          require(packets[i].wire_bytes >= packets[i].bytes.size());
          check_packet(packets[i]);
          seen.push_back(packets[i].time_ns ^ packets[i].bytes.size());
        }
        held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(s.taken));
        if (s.taken == 0) break;
      }
    }
    reader.end(held);
  } catch (const error& e) {
    require(e.code() == errc::corrupt || e.code() == errc::unsupported);
  }
  return seen;
}

void count_flows(std::span<const std::byte> bytes) {
  flow_meter meter({.flows = {.memory_bytes = heavy_flows::least_memory, .seed = 1},
                    .parsing = {.inner = true},
                    .interval_ns = 1000000});
  std::uint64_t packets = 0;
  std::uint64_t sent = 0;
  const auto ended = [&](const flow_meter& m) {
    std::uint64_t certain = 0;
    for (const flow_count& f : m.flows().list()) certain += f.bytes - f.error_bytes;
    require(certain <= m.flows().total_bytes() && m.flows().total_bytes() <= m.seen().bytes);
    sent += m.seen().packets;
  };
  try {
    for_each_packet(bytes, [&](const captured_packet& p) {
      ++packets;
      meter.add({&p, 1}, ended);
    });
  } catch (const error&) {
  }
  if (packets > 0) ended(meter);
  require(sent == packets);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto whole = packets_of(bytes, std::max<std::size_t>(1, size));
  if (size < 2048) require(whole == packets_of(bytes, 13));
  count_flows(bytes);
  if (size == 0) return 0;
  // The same bytes as a packet: the first one chooses the link, and how much was cut off.
  constexpr std::array links = {link_type::ethernet, link_type::raw,  link_type::linux_cooked,
                                link_type::null,     link_type::loop, link_type::linux_cooked_2};
  const auto packet = bytes.subspan(1);
  const std::uint32_t cut = (data[0] & 1U) != 0 ? 1000 : 0;
  check_packet({.bytes = packet,
                .wire_bytes = static_cast<std::uint32_t>(packet.size()) + cut,
                .link = links[(data[0] >> 1U) % links.size()]});
  return 0;
}
