// Traceback: what recording costs beside libpcap's bare loop over the same capture, and how long a
// question to an hour of slices takes. Ratios of medians; the two take turns in one run. Times are
// those of the processor: everything runs in one thread over what is in the page cache, and so a
// machine that others use too shows the same.
//
// usage: trace_bench [packets] [folder for files, by default the temporary one]
#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bloomery/format/file.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/measure/capture.hpp"
#include "bloomery/measure/traceback.hpp"

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t packets_per_second = 1'000'000;
constexpr int rounds = 7;

template <class Work>
double seconds_of(Work work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// A frame of 96 bytes: Ethernet, IPv4, UDP, each with its own number.
struct frame {
  std::array<unsigned char, 96> bytes{};

  explicit frame(std::uint64_t number) {
    const std::uint64_t random = bloomery::splitmix64(number);
    bytes[12] = 8;
    bytes[14] = 0x45;
    bytes[17] = 82;
    std::memcpy(&bytes[18], &number, 2);
    bytes[22] = 64;
    bytes[23] = 17;
    std::memcpy(&bytes[26], &random, 8);  // both addresses
    bytes[39] = 62;
    std::memcpy(&bytes[34], &number, 4);  // both ports
  }
};

void write_capture(const fs::path& path, std::uint64_t packets) {
  std::ofstream out(path, std::ios::binary);
  const auto put = [&](std::uint32_t value) {
    out.write(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (const std::uint32_t word : {0xa1b2c3d4U, 0x00040002U, 0U, 0U, 65535U, 1U}) put(word);
  for (std::uint64_t i = 0; i < packets; ++i) {
    const frame f(i);
    put(static_cast<std::uint32_t>(1'762'345'678 + i / packets_per_second));
    put(static_cast<std::uint32_t>(i % packets_per_second * 1'000'000 / packets_per_second));
    put(f.bytes.size());
    put(f.bytes.size());
    out.write(reinterpret_cast<const char*>(f.bytes.data()), f.bytes.size());
  }
}

void bare_loop(const fs::path& path) {
  std::array<char, PCAP_ERRBUF_SIZE> failure{};
  pcap_t* file = pcap_open_offline(path.c_str(), failure.data());
  if (file == nullptr) std::exit(2);
  std::uint64_t bytes = 0;
  pcap_loop(
      file, 0,
      [](unsigned char* sum, const pcap_pkthdr* header, const unsigned char*) {
        *reinterpret_cast<std::uint64_t*>(sum) += header->len;
      },
      reinterpret_cast<unsigned char*>(&bytes));
  pcap_close(file);
  if (bytes == 0) std::exit(2);
}

void record(const fs::path& path, const fs::path& folder) {
  const bloomery::mapped_file file(path);
  bloomery::trace_recorder recorder(folder);
  bloomery::for_each_packet(file.bytes(), [&](const bloomery::captured_packet& p) {
    recorder.add(bloomery::parse_packet(p), p.time_ns);
  });
  recorder.finish();
}

void measure_recording(const fs::path& folder, std::uint64_t packets) {
  const fs::path capture = folder / "traffic.pcap";
  write_capture(capture, packets);
  std::vector<double> bare;
  std::vector<double> recorded;
  for (int i = 0; i < rounds; ++i) {
    fs::remove_all(folder / "slices");
    bare.push_back(seconds_of([&] { bare_loop(capture); }));
    recorded.push_back(seconds_of([&] { record(capture, folder / "slices"); }));
  }
  const double ns = 1e9 / static_cast<double>(packets);
  std::printf("%llu packets of 96 bytes, %llu a second, medians of %d\n",
              static_cast<unsigned long long>(packets),
              static_cast<unsigned long long>(packets_per_second), rounds);
  std::printf("libpcap's bare loop   %6.1f ns a packet\n", median(bare) * ns);
  std::printf("trace record          %6.1f ns a packet, %.2f times the loop\n",
              median(recorded) * ns, median(recorded) / median(bare));
}

void measure_asking(const fs::path& folder, std::uint64_t packets_in_slice,
                    const bloomery::trace_options& o, const char* planned) {
  const fs::path slices = folder / "hour";
  fs::remove_all(slices);
  bloomery::trace_recorder recorder(slices, o);
  const auto parsed = [](const frame& f) {
    return bloomery::parse_packet({.bytes = std::as_bytes(std::span(f.bytes)),
                                   .wire_bytes = static_cast<std::uint32_t>(f.bytes.size())});
  };
  for (std::uint64_t second = 0; second < 3600; ++second) {
    // No two slices in a row have as many packets as each other, and so no plan serves twice.
    for (std::uint64_t i = 0; i < packets_in_slice + second % 50; ++i) {
      const frame f(second * (packets_in_slice + 50) + i);
      recorder.add(parsed(f), second * 1'000'000'000 + i);
    }
  }
  recorder.finish();
  const frame asked(1800 * (packets_in_slice + 50) + 7);
  const auto identity = bloomery::identity_of(parsed(asked)).value();
  std::vector<double> all;
  std::uint64_t seen = 0;
  for (int i = 0; i < rounds; ++i) {
    all.push_back(seconds_of(
        [&] { seen = bloomery::trace_folder(slices).ask(identity, {}).sightings.size(); }));
  }
  std::printf(
      "an hour of slices, %6llu packets each by %s, %7.1f MB: %5.1f ms a question (%llu slices)\n",
      static_cast<unsigned long long>(packets_in_slice), planned,
      static_cast<double>(recorder.bytes()) * 1e-6, median(all) * 1e3,
      static_cast<unsigned long long>(seen));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t packets = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 15'000'000;
  const fs::path folder =
      fs::path(argc > 2 ? argv[2] : fs::temp_directory_path().string()) / "bloomery_trace_bench";
  fs::create_directories(folder);
  measure_recording(folder, packets);
  for (const std::uint64_t in_slice : {100U, 1000U, 10'000U, 30'000U, 100'000U}) {
    measure_asking(folder, in_slice, {}, "rate");
  }
  // Their size says nothing of their rate.
  for (const std::uint64_t in_slice : {10'000U, 100'000U}) {
    measure_asking(folder, in_slice, {.bits_per_packet = 10}, "bits");
  }
  fs::remove_all(folder);
}
