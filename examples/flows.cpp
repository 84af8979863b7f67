// Heavy flows of a capture: bytes in, the flows that send most out, with what may be error. The
// capture is made here; the bytes of a file come from bloomery::mapped_file.
#include <bloomery/measure/capture.hpp>
#include <bloomery/measure/flow_meter.hpp>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

namespace {

void put(std::vector<unsigned char>& to, std::uint32_t value, int bytes) {  // little-endian
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<unsigned char>(value >> (8 * i)));
}

// 500 packets of raw IPv4 and UDP: half of them from 192.0.2.1, the others from all over.
std::vector<unsigned char> small_capture() {
  std::vector<unsigned char> file;
  for (const std::uint32_t word : {0xa1b2c3d4U, 0x00040002U, 0U, 0U, 65535U, 101U}) {
    put(file, word, 4);
  }
  for (unsigned i = 0; i < 500; ++i) {
    for (const std::uint32_t word : {i / 100, 0U, 28U, 1000U}) put(file, word, 4);
    const auto host = static_cast<unsigned char>(i % 2 == 0 ? 1 : i % 250);
    const unsigned char packet[] = {0x45, 0,    3,   0xe8, 0,   0, 0,  0,   64, 17, 0, 0, 192, 0,
                                    2,    host, 198, 51,   100, 2, 18, 103, 0,  53, 0, 8, 0,   0};
    file.insert(file.end(), packet, packet + sizeof packet);
  }
  return file;
}

}  // namespace

int main() {
  bloomery::flow_meter meter({.rule = {.by = bloomery::flow_by::source},
                              .flows = {.memory_bytes = std::uint64_t{1} << 20U}});
  const std::vector<unsigned char> capture = small_capture();
  bloomery::for_each_packet(
      std::as_bytes(std::span(capture)), [&](const bloomery::captured_packet& p) {
        meter.add({&p, 1}, [](const bloomery::flow_meter&) {});  // no intervals here
      });
  const auto heaviest = meter.flows().list(1, 3);
  for (const bloomery::flow_count& f : heaviest) {
    std::printf("%-40s %10llu bytes, of which %llu may be too many\n", f.flow.text().c_str(),
                static_cast<unsigned long long>(f.bytes),
                static_cast<unsigned long long>(f.error_bytes));
  }
  assert(heaviest.front().flow.text() == "192.0.2.1");
  assert(heaviest.front().bytes >= 250000 && meter.flows().exact());
}
