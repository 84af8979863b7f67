#include "cli/input/asked_packets.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <ctime>
#include <utility>

#include "bloomery/core/error.hpp"
#include "cli/input/packets.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

std::string text_of_packet(const parsed_packet& p) {
  const std::string ports =
      p.has_ports ? fmt::format(", ports {} > {}", p.source_port, p.destination_port) : "";
  return fmt::format("{} > {}, protocol {}{}, {} bytes", p.source().text(), p.destination().text(),
                     p.protocol, ports, p.network_bytes);
}

class asked_collector {
 public:
  explicit asked_collector(bool quoted) : quoted_(quoted) {}

  void add(std::string name, const parsed_packet& p, std::uint64_t time_ns) {
    const std::optional<parsed_packet> inside = quoted_ ? quoted_packet(p) : p;
    const auto identity = inside ? identity_of(*inside) : std::nullopt;
    if (!identity) {
      ++result_.left_out;
      return;
    }
    if (result_.packets.size() == most_packets_asked) {
      throw error(errc::bad_argument,
                  fmt::format("more than {} packets to ask about; take those that matter out of "
                              "the capture first",
                              most_packets_asked));
    }
    result_.packets.push_back({.name = std::move(name),
                               .text = text_of_packet(*inside),
                               .identity = *identity,
                               .time_ns = time_ns});
  }
  [[nodiscard]] asked_packets take() { return std::move(result_); }

 private:
  bool quoted_;
  asked_packets result_;
};

std::vector<std::byte> bytes_of_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  std::string digits;
  for (const char c : text) {
    if (c == ' ' || c == ':') continue;
    digits += c;
  }
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    unsigned value = 0;
    const char* from = digits.data() + i;
    const auto [end, failure] =
        std::from_chars(from, from + std::min<std::size_t>(2, digits.size() - i), value, 16);
    if (failure != std::errc() || end != from + 2) {
      throw error(errc::bad_argument,
                  fmt::format("'{}' are no bytes; write them as pairs of hexadecimal digits, from "
                              "the IP header on",
                              escaped(text.substr(0, 80))));
    }
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

}  // namespace

void add_asked_options(command& verb, asked_options& o, const std::string& within) {
  verb.add_option("PACKET", o.captures, "Captures (pcap, pcapng) of the packets to ask about");
  verb.add_option("--hex", o.hex,
                  "A packet as hexadecimal digits, from its IP header on. May be given several "
                  "times")
      ->one_a_time()
      ->type_name("DIGITS");
  verb.add_flag("--quoted", o.quoted, "Ask about the packets that ICMP errors quote");
  verb.add_option("--at", o.at, "When it came: 1762345678.5 or 2026-11-17T03:00:00Z")
      ->type_name("TIME");
  verb.add_option("--within", o.within,
                  "Ask only about so much time before and after --at, or the packet's own time "
                  "(default " +
                      within + ")")
      ->type_name("TIME");
}

asked_packets read_asked(const asked_options& o) {
  asked_collector all(o.quoted);
  for (const std::string& path : o.captures) {
    std::uint64_t number = 0;
    const std::string before = o.captures.size() > 1 ? name_of_input(path) + ":" : "";
    const auto add = [&](std::span<const captured_packet> some) {
      for (const captured_packet& p : some) {
        all.add(fmt::format("{}{}", before, ++number), parse_packet(p), p.time_ns);
      }
    };
    packet_options input;
    input.paths = {path};
    input.quiet = true;
    // Packets before the place where a capture is cut can be asked about.
    static_cast<void>(read_packets(input, add, [](std::uint64_t) {}));
  }
  for (const std::string& text : o.hex) {
    const std::vector<std::byte> bytes = bytes_of_hex(text);
    const parsed_packet p = parse_ip(bytes, UINT32_MAX);
    if (!p.is_ip()) {
      throw error(errc::bad_argument, fmt::format("'{}' is no IP packet; begin with its IP header",
                                                  escaped(text.substr(0, 80))));
    }
    all.add(text.substr(0, 16), p, 0);
  }
  asked_packets found = all.take();
  if (found.packets.empty()) {
    throw error(errc::bad_argument,
                found.left_out == 0 ? "no packet to ask about; name a capture, or give --hex"
                : o.quoted          ? "no packet is an ICMP error that quotes another"
                                    : "no packet can be asked about: they are not IP, or cut");
  }
  return found;
}

time_range when_of(const asked_options& o, const asked_packet& p, std::uint64_t usual_ns) {
  const std::uint64_t middle = o.at.empty() ? p.time_ns : parse_moment_ns(o.at);
  const std::uint64_t around = o.within.empty() ? usual_ns : parse_span_ns(o.within);
  if (!o.within.empty() && middle == 0) {
    throw error(errc::bad_argument,
                "--within needs a time: that of a packet in a capture, or --at TIME");
  }
  if (middle == 0 || (around == 0 && o.at.empty() && o.within.empty())) return {};
  return {middle > around ? middle - around : 0,
          middle < UINT64_MAX - around ? middle + around : UINT64_MAX};
}

std::uint64_t parse_span_ns(std::string_view text) {
  if (text.ends_with("ms") || text.ends_with("us") || text.ends_with("ns")) {
    return static_cast<std::uint64_t>(std::llround(parse_time(text) * 1e9));
  }
  const std::uint64_t seconds = parse_span(text);
  if (seconds > UINT64_MAX / second_ns) {
    throw error(errc::bad_argument, fmt::format("{} is longer than 584 years", text));
  }
  return seconds * second_ns;
}

std::uint64_t parse_moment_ns(const std::string& text) {
  const auto rejected = [&]() -> error {
    return {errc::bad_argument,
            fmt::format("'{}' is no time; write it like 1762345678.5 or 2026-11-17T03:00:00Z",
                        escaped(text))};
  };
  std::uint64_t seconds = 0;
  std::size_t used = 0;
  std::tm parts{};
  if (const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts); end != nullptr) {
    const std::time_t time = ::timegm(&parts);
    if (time < 0) throw rejected();
    seconds = static_cast<std::uint64_t>(time);
    used = static_cast<std::size_t>(end - text.c_str());
  } else {
    const auto [after, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (failure != std::errc()) throw rejected();
    used = static_cast<std::size_t>(after - text.data());
  }
  std::string_view rest = std::string_view(text).substr(used);
  std::uint64_t ns = 0;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    std::uint64_t unit = second_ns / 10;
    for (; !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; rest.remove_prefix(1), unit /= 10) {
      ns += static_cast<std::uint64_t>(rest[0] - '0') * unit;
    }
  }
  if ((!rest.empty() && rest != "Z") || seconds > UINT64_MAX / second_ns - 1) throw rejected();
  return seconds * second_ns + ns;
}

std::string as_moment(std::uint64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / second_ns);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     ns % second_ns);
}

}  // namespace bloomery::cli
