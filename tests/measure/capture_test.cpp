// Captures of both forms, whole, in pieces, cut and damaged.
#include "bloomery/measure/capture.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "packet_bytes.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

struct seen {
  std::uint64_t time_ns;
  std::size_t captured;
  std::uint32_t wire_bytes;
  link_type link;
  friend bool operator==(const seen&, const seen&) = default;
};

std::vector<seen> packets_of(std::span<const std::byte> bytes) {
  std::vector<seen> all;
  for_each_packet(bytes, [&](const captured_packet& p) {
    all.push_back({p.time_ns, p.bytes.size(), p.wire_bytes, p.link});
  });
  return all;
}

packet_bytes frame(std::size_t size) { return packet_bytes().fill(size, 'f'); }

packet_bytes small_pcap() {
  packet_bytes file = pcap_file(link_type::ethernet);
  add_record(file, 10, 5, frame(60));
  add_record(file, 9, 999999, frame(64), 1500);
  add_record(file, 11, 0, frame(0), 40);
  return file;
}

packet_bytes small_pcapng() {
  packet_bytes nano;
  nano.little16(9).little16(1).put8(9).pad(4);                          // nanoseconds
  nano.little16(14).little16(8).little32(100).little32(0).little32(0);  // 100 s later; end
  packet_bytes binary;
  binary.little16(9).little16(1).put8(0x80 | 10).fill(3);  // 1/1024 s
  packet_bytes file = section_block();
  file.put(interface_block(link_type::ethernet)).put(interface_block(link_type::raw, nano));
  file.put(interface_block(link_type::linux_cooked, binary));
  file.put(block(5, frame(12)));  // statistics, which are left out
  file.put(packet_block(0, 7000001, frame(61))).put(packet_block(1, 5, frame(1)));
  file.put(packet_block(2, 1536, frame(2)));
  file.put(section_block()).put(interface_block(link_type::ipv4, {}, 30));
  file.put(block(3, packet_bytes().little32(99).put(frame(30))));  // simple: snapped to 30
  return file.put(packet_block(0, 1, frame(4)));
}

errc code_of(std::span<const std::byte> bytes) {
  try {
    static_cast<void>(packets_of(bytes));
  } catch (const error& e) {
    return e.code();
  }
  return {};
}

TEST(capture_reader, reads_pcap) {
  const std::vector<seen> expected = {{10000005000, 60, 60, link_type::ethernet},
                                      {9999999000, 64, 1500, link_type::ethernet},
                                      {11000000000, 0, 40, link_type::ethernet}};
  EXPECT_EQ(packets_of(small_pcap().view()), expected);
}

TEST(capture_reader, reads_nanoseconds_and_the_other_byte_order) {
  packet_bytes file = pcap_file(link_type::raw, 0xa1b23c4d);
  add_record(file, 1, 5, frame(3));
  EXPECT_EQ(packets_of(file.view())[0].time_ns, 1000000005U);
  packet_bytes big;
  big.put32(0xa1b2c3d4).put16(2).put16(4).fill(8).put32(65535).put32(101);
  big.put32(1).put32(5).put32(3).put32(70).put(frame(3));
  const std::vector<seen> expected = {{1000005000, 3, 70, link_type::raw}};
  EXPECT_EQ(packets_of(big.view()), expected);
}

TEST(capture_reader, reads_pcapng) {
  const std::vector<seen> expected = {{7000001000, 61, 61, link_type::ethernet},
                                      {100000000005, 1, 1, link_type::raw},
                                      {1500000000, 2, 2, link_type::linux_cooked},
                                      {0, 30, 99, link_type::ipv4},
                                      {1000, 4, 4, link_type::ipv4}};
  EXPECT_EQ(packets_of(small_pcapng().view()), expected);
}

TEST(capture_reader, pieces_of_any_size_give_the_same_packets) {
  for (const packet_bytes& file : {small_pcap(), small_pcapng()}) {
    const auto whole = packets_of(file.view());
    for (const std::size_t piece : {1U, 7U, 64U}) {
      capture_reader reader;
      std::vector<seen> all;
      std::vector<std::byte> held;
      std::vector<captured_packet> to(2);
      for (std::size_t at = 0; at < file.size(); at += piece) {
        const auto next = file.view().subspan(at, std::min(piece, file.size() - at));
        held.insert(held.end(), next.begin(), next.end());
        for (;;) {
          const auto s = reader.read(held, to);
          for (std::size_t i = 0; i < s.packets; ++i) {
            all.push_back({to[i].time_ns, to[i].bytes.size(), to[i].wire_bytes, to[i].link});
          }
          if (s.taken == 0) break;
          held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(s.taken));
        }
        EXPECT_GT(reader.wanted(), held.size());
      }
      reader.end(held);
      EXPECT_EQ(reader.position(), file.size());
      EXPECT_EQ(all, whole);
    }
  }
}

TEST(capture_reader, a_cut_capture_gives_all_packets_before_the_cut) {
  const packet_bytes file = small_pcap();
  for (std::size_t size = 0; size < file.size(); ++size) {
    std::size_t packets = 0;
    const bool between = size == 24 || size == 100 || size == 180;
    try {
      for_each_packet(file.view().first(size), [&](const captured_packet&) { ++packets; });
      EXPECT_TRUE(between) << size;
    } catch (const error& e) {
      EXPECT_FALSE(between) << size;
      EXPECT_EQ(e.code(), errc::corrupt);
    }
    EXPECT_EQ(packets, (size >= 100) + (size >= 180)) << size;
  }
}

TEST(capture_reader, what_is_no_capture_is_refused) {
  EXPECT_EQ(code_of(packet_bytes().put32(0x7f454c46).fill(60).view()), errc::unsupported);
  EXPECT_EQ(code_of({}), errc::corrupt);
  packet_bytes version = small_pcap();
  version[4] = std::byte{3};
  EXPECT_EQ(code_of(version.view()), errc::unsupported);
}

TEST(capture_reader, damage_comes_after_the_packets_before_it) {
  packet_bytes file = small_pcap();
  file.little32(1).little32(2).little32(0x40001).little32(9).fill(50);
  std::size_t packets = 0;
  try {
    for_each_packet(file.view(), [&](const captured_packet&) { ++packets; });
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(std::string(e.what()),
              "at byte 196: a packet of more than 262,144 captured bytes: 262145");
  }
  EXPECT_EQ(packets, 3U);
}

TEST(capture_reader, damaged_blocks_are_refused) {
  const auto after_section = [](const packet_bytes& b) {
    return code_of(section_block().put(b).view());
  };
  const auto after_interface = [](const packet_bytes& b) {
    return code_of(section_block().put(interface_block(link_type::raw)).put(b).view());
  };
  EXPECT_EQ(after_section(block(1, frame(4))), errc::corrupt);
  EXPECT_EQ(after_section(packet_block(0, 1, frame(4))), errc::corrupt);  // no interface
  EXPECT_EQ(after_section(block(3, frame(8))), errc::corrupt);
  EXPECT_EQ(after_interface(packet_block(1, 1, frame(4))), errc::corrupt);  // nor a second
  EXPECT_EQ(after_interface(block(6, frame(16))), errc::corrupt);
  packet_bytes larger = packet_block(0, 1, frame(4));
  larger[20] = std::byte{5};
  EXPECT_EQ(after_interface(larger), errc::corrupt);
  packet_bytes tail = block(5, frame(8));
  tail[16] = std::byte{24};
  EXPECT_EQ(after_interface(tail), errc::corrupt);
  for (const std::uint32_t length : {0U, 8U, 13U, 0x1000004U, 0xfffffffcU}) {
    EXPECT_EQ(after_section(packet_bytes().little32(5).little32(length).fill(30)), errc::corrupt);
  }
  EXPECT_EQ(code_of(block(0x0a0d0d0a, frame(16)).view()), errc::corrupt);
}

TEST(capture_reader, options_of_an_interface_may_be_odd) {
  packet_bytes coarse;
  coarse.little16(9).little16(1).put8(0).fill(3);  // whole seconds
  packet_bytes fine;
  fine.little16(9).little16(1).put8(12).fill(3);  // picoseconds
  packet_bytes absurd;
  absurd.little16(9).little16(1).put8(127).fill(3);  // is left out: microseconds
  packet_bytes before;
  before.little16(14).little16(8).fill(8, 255);  // one second earlier
  packet_bytes longer;
  longer.little16(9).little16(60000).fill(4);
  packet_bytes file = section_block();
  for (const packet_bytes& options : {coarse, fine, absurd, before, longer}) {
    file.put(interface_block(link_type::raw, options));
  }
  file.put(packet_block(0, 3, frame(1))).put(packet_block(1, 5000, frame(1)));
  file.put(packet_block(2, 5, frame(1))).put(packet_block(3, 5, frame(1)));
  file.put(packet_block(4, 5, frame(1))).put(packet_block(0, ~std::uint64_t{0}, frame(1)));
  std::vector<std::uint64_t> times;
  for (const seen& s : packets_of(file.view())) times.push_back(s.time_ns);
  const std::vector<std::uint64_t> expected = {3000000000, 5, 5000, 0, 5000, ~std::uint64_t{0}};
  EXPECT_EQ(times, expected);
}

}  // namespace
