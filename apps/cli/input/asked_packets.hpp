// Packets that somebody asks about: from captures, or as hexadecimal digits. And times as people
// write and read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bloomery/measure/packet_identity.hpp"
#include "bloomery/measure/traceback.hpp"
#include "cli/args/command.hpp"

namespace bloomery::cli {

struct asked_packet {
  std::string name;  // its number in the capture, or what it was given as
  std::string text;  // "192.0.2.1 > 198.51.100.2, protocol 17, 60 bytes"
  packet_identity identity;
  std::uint64_t time_ns = 0;  // 0 when nobody knows
};

struct asked_options {
  std::vector<std::string> captures;
  std::vector<std::string> hex;
  bool quoted = false;  // the packets that ICMP errors quote, instead of the errors
  std::string at;
  std::string within;
};
// The options of verbs that ask; `within` is the default to tell of.
void add_asked_options(command& verb, asked_options& o, const std::string& within);

struct asked_packets {
  std::vector<asked_packet> packets;
  std::uint64_t left_out = 0;  // not IP, too little captured, or no error where errors were asked
};
// At most most_packets_asked of them; throws errc::bad_argument for more, and for none.
[[nodiscard]] asked_packets read_asked(const asked_options& o);

// The time to ask about: around --at, else around the packet's own time where `usual`, the default
// of --within, is not 0; all times where neither is known.
[[nodiscard]] time_range when_of(const asked_options& o, const asked_packet& p,
                                 std::uint64_t usual_ns);

[[nodiscard]] std::uint64_t parse_span_ns(std::string_view text);      // 100ms, 1s, 10min
[[nodiscard]] std::uint64_t parse_moment_ns(const std::string& text);  // 1762345678.5, or ISO 8601
[[nodiscard]] std::string as_moment(std::uint64_t ns);  // 2026-11-17T03:00:00.000000000Z

}  // namespace bloomery::cli
