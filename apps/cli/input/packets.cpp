#include "cli/input/packets.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/measure/capture.hpp"
#include "cli/input/bytes.hpp"
#include "cli/input/decompress.hpp"
#include "cli/input/live_packets.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

using packet_batch = std::array<captured_packet, 256>;

// Reads on in `bytes` until they end; returns how many of them were taken.
std::size_t read_on(capture_reader& reader, std::span<const std::byte> bytes,
                    const packet_visit& visit, packet_batch& packets) {
  std::size_t taken = 0;
  for (;;) {
    const capture_reader::step s = reader.read(bytes.subspan(taken), packets);
    if (s.packets > 0) visit(std::span(packets).first(s.packets));
    taken += s.taken;
    if (s.taken == 0) return taken;
  }
}

// A regular file that is not packed is mapped: nothing is copied.
void read_mapped(const mapped_file& file, const packet_visit& visit, progress& meter) {
  constexpr std::size_t piece = std::size_t{4} << 20U;  // between looks at the progress
  capture_reader reader;
  packet_batch packets;
  auto bytes = file.bytes();
  while (!bytes.empty()) {
    const auto seen = bytes.first(std::min(bytes.size(), std::max(piece, reader.wanted())));
    const std::size_t taken = read_on(reader, seen, visit, packets);
    meter.advance(taken);
    bytes = bytes.subspan(taken);
    if (taken == 0 && seen.size() == file.bytes().size()) break;
    if (taken == 0 && seen.size() >= bytes.size()) break;
  }
  reader.end(bytes);
}

void read_stream(const std::string& path, const packet_visit& visit, progress& meter) {
  constexpr std::size_t room = std::size_t{256} << 10U;
  byte_source source({path}, meter, {.text = false, .lists = false});
  source.open_next();
  capture_reader reader;
  packet_batch packets;
  std::vector<std::byte> held;
  for (;;) {
    const std::size_t before = held.size();
    held.resize(before + room);
    const std::size_t got = source.read(reinterpret_cast<char*>(held.data() + before), room);
    held.resize(before + got);
    if (got == 0) break;
    const std::size_t taken = read_on(reader, held, visit, packets);
    held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(taken));
  }
  reader.end(held);
}

bool is_packed(std::span<const std::byte> bytes) {
  const auto start = bytes.first(std::min(bytes.size(), magic_bytes));
  return unpacker_for({reinterpret_cast<const char*>(start.data()), start.size()}) != nullptr;
}

void read_capture(const std::string& path, const packet_visit& visit, progress& meter) {
  struct stat info {};
  if (path != "-" && ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
    const mapped_file file(path);
    if (!is_packed(file.bytes())) {
      read_mapped(file, visit, meter);
      return;
    }
  }
  read_stream(path, visit, meter);
}

}  // namespace

void add_packet_options(command& verb, packet_options& o) {
  verb.add_option("CAPTURE", o.paths,
                  "Captures, pcap or pcapng, packed or not; standard input without one, or with -")
      ->type_name("CAPTURE");
  verb.add_option("--interface", o.interface, "Listen to this interface of the machine instead")
      ->type_name("NAME");
  verb.add_option("--for", o.span, "Listen for so long, like 10s or 5m; else until Ctrl-C")
      ->type_name("SPAN");
  verb.add_flag("--progress", o.progress, "Show progress even when not on a terminal");
  verb.add_flag("-q,--quiet", o.quiet, "Print results and errors only");
}

bool read_packets(const packet_options& o, const packet_visit& visit, const packet_pause& pause) {
  if (o.live()) {
    if (!o.paths.empty()) {
      throw error(errc::bad_argument, "captures and --interface are given; one of them is enough");
    }
#ifdef BLOOMERY_HAS_PCAP
    read_live_packets(o, visit, pause);
    return true;
#else
    static_cast<void>(pause);
    throw error(
        errc::unsupported,
        "--interface: this build is without libpcap; give it captures, as from tcpdump -w -");
#endif
  }
  if (!o.span.empty()) throw error(errc::bad_argument, "--for is for --interface");
  const std::vector<std::string> paths = o.paths.empty() ? std::vector<std::string>{"-"} : o.paths;
  progress meter("reading", o.show());
  bool whole = true;
  for (const std::string& path : paths) {
    std::uint64_t packets = 0;
    const auto counting = [&](std::span<const captured_packet> some) {
      packets += some.size();
      visit(some);
    };
    try {
      read_capture(path, counting, meter);
    } catch (const error& e) {
      const std::string name = name_of_input(path);
      const std::string_view what = e.what();
      const std::string text =
          what.starts_with(name) ? std::string(what) : fmt::format("{}: {}", name, what);
      if (e.code() != errc::corrupt || packets == 0) throw error(e.code(), text);
      meter.clear();
      tell("bloomery: {}\n", text);
      whole = false;
    }
  }
  return whole;
}

std::uint64_t parse_interval(const std::string& text) {
  const char last = text.empty() ? ' ' : text.back();
  const bool longer =
      last == 'm' || last == 'h' || last == 'd' || last == 'w' || text.ends_with("min");
  const double seconds = longer ? static_cast<double>(parse_span(text)) : parse_time(text);
  constexpr double most = 1e9;  // thirty years
  if (!(seconds >= 1e-6 && seconds <= most)) {
    throw error(errc::bad_argument, fmt::format("{}: an interval is from 1us to 10000d", text));
  }
  return static_cast<std::uint64_t>(std::llround(seconds * 1e9));
}

}  // namespace bloomery::cli
