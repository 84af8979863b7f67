// What a packet of a capture costs, step by step, beside a bare loop of libpcap over the same file:
// the table of docs/packets.md.
//
//     bloomery_packets_bench [FILE]           a capture of yours; else one is made
//     bloomery_packets_bench make FILE N      makes one of N packets
//
// Times are processor time, which other programs disturb least, in nanoseconds a packet: the median
// of nine rounds in which all steps take turns. The file is in the page cache.
#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bloomery/format/file.hpp"
#include "bloomery/measure/capture.hpp"
#include "bloomery/measure/flow_meter.hpp"

namespace {

using namespace bloomery;

constexpr int rounds = 9;

// Packets of a million flows, as many of each as Zipf's law has, of which 82 bytes are captured:
// Ethernet, IPv4, TCP and UDP.
void make_capture(const std::string& path, std::uint32_t packets) {
  constexpr std::uint32_t flows = 1000000;
  constexpr std::size_t captured = 82;
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) std::abort();
  const std::array<std::uint32_t, 6> header = {0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1};
  std::fwrite(header.data(), sizeof header, 1, file);
  std::mt19937_64 random(1);
  for (std::uint32_t i = 0; i < packets; ++i) {
    const double u = static_cast<double>(random() >> 11U) * 0x1p-53;
    const auto flow = static_cast<std::uint32_t>(std::pow(flows, u)) - 1;  // Zipf, exponent 1
    const std::uint64_t tuple = splitmix64(flow);
    const bool tcp = (tuple & 7U) != 0;
    const auto wire = static_cast<std::uint32_t>(captured + (random() & 1023U));
    const std::array<std::uint32_t, 4> record = {i / 1000000, i % 1000000, captured, wire};
    std::fwrite(record.data(), sizeof record, 1, file);
    std::array<unsigned char, captured> frame{};
    frame[12] = 8;
    frame[14] = 0x45;
    frame[16] = static_cast<unsigned char>((wire - 14) >> 8U);
    frame[17] = static_cast<unsigned char>(wire - 14);
    frame[23] = tcp ? 6 : 17;
    std::memcpy(&frame[26], &tuple, 8);
    std::memcpy(&frame[34], &flow, 4);
    frame[46] = 0x50;
    std::fwrite(frame.data(), frame.size(), 1, file);
  }
  std::fclose(file);
}

struct step {
  const char* name;
  std::function<void()> run;
  std::vector<double> times{};

  [[nodiscard]] double median() {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }
};

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

class bench {
 public:
  explicit bench(std::string path) : path_(std::move(path)) {}

  void run() {
    std::vector<step> steps = {
        {"libpcap's loop, which does nothing", [this] { loop_of_libpcap(); }},
        {"the reader", [this] { read([](const captured_packet& p) { return p.wire_bytes; }); }},
        {"and the parser",
         [this] { read([](const captured_packet& p) { return parse_packet(p).source_port; }); }},
        {"and key and hash", [this] { hash_flows(); }},
        {"all of flows, 1 MiB", [this] { meter({}); }},
        {"with serial stages", [this] { meter({.flows = {.order = stage_order::serial}}); }},
        {"all of flows, 64 MiB",
         [this] { meter({.flows = {.memory_bytes = std::uint64_t{64} << 20U}}); }},
        {"distinct destinations, 1 MiB",
         [this] {
           meter({.rule = {.by = flow_by::source}, .distinct = spread_over::destination});
         }},
        {"an exact std::unordered_map", [this] { exact(); }},
    };
    for (int round = 0; round < rounds; ++round) {
      for (step& s : steps) {
        const double start = processor_seconds();
        s.run();
        s.times.push_back((processor_seconds() - start) * 1e9 / static_cast<double>(packets_));
      }
    }
    const double floor = steps.front().median();
    std::printf("%llu packets\n| step | ns a packet | times libpcap's loop |\n|---|---|---|\n",
                static_cast<unsigned long long>(packets_));
    for (step& s : steps)
      std::printf("| %s | %.1f | %.2f |\n", s.name, s.median(), s.median() / floor);
  }

 private:
  struct totals {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
  };

  void loop_of_libpcap() {
    std::array<char, PCAP_ERRBUF_SIZE> why{};
    pcap_t* const capture = pcap_open_offline(path_.c_str(), why.data());
    if (capture == nullptr) std::abort();
    totals seen;
    pcap_loop(
        capture, 0,
        [](u_char* to, const pcap_pkthdr* header, const u_char*) {
          auto& sum = *reinterpret_cast<totals*>(to);
          ++sum.packets;
          sum.bytes += header->len;
        },
        reinterpret_cast<u_char*>(&seen));
    packets_ = seen.packets;
    sink_ = sink_ + seen.bytes;
    pcap_close(capture);
  }

  template <class Use>
  void read(Use use) {
    const mapped_file file(path_);
    std::uint64_t sum = 0;
    for_each_packet(file.bytes(), [&](const captured_packet& p) { sum += use(p); });
    sink_ = sink_ + sum;
  }

  void hash_flows() {
    const heavy_flows flows;
    read([&](const captured_packet& p) {
      const auto key = flow_key::of(parse_packet(p), {});
      return key ? flows.hash_of(*key) : 0;
    });
  }

  void meter(const meter_options& o) {
    const mapped_file file(path_);
    flow_meter m(o);
    capture_reader reader;
    std::array<captured_packet, 256> packets;
    auto bytes = file.bytes();
    for (;;) {
      const auto s = reader.read(bytes, packets);
      m.add(std::span(packets).first(s.packets), [](const flow_meter&) {});
      bytes = bytes.subspan(s.taken);
      if (s.taken == 0) break;
    }
    sink_ = sink_ + m.seen().bytes;
  }

  void exact() {
    const secret_hasher hasher(random_seed());
    std::unordered_map<std::uint64_t, std::uint64_t> counts;
    read([&](const captured_packet& p) {
      const auto key = flow_key::of(parse_packet(p), {});
      return key ? counts[hasher.bytes(key->bytes().data(), key->bytes().size())] += p.wire_bytes
                 : std::uint64_t{0};
    });
  }

  std::string path_;
  std::uint64_t packets_ = 0;
  volatile std::uint64_t sink_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3 && std::string_view(argv[1]) == "make") {
    make_capture(argv[2], static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10)));
    return 0;
  }
  if (argc > 1) {
    bench(argv[1]).run();
    return 0;
  }
  const std::string made = std::filesystem::temp_directory_path() / "bloomery-packets-bench.pcap";
  make_capture(made, 10'000'000);
  bench(made).run();
  std::filesystem::remove(made);
}
