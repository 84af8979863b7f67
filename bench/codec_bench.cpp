// The packed form against other coders, over a megabyte of random bits at several fills: bytes
// above the entropy, and the speed of coding and decoding in MB of raw bits a second, medians of 9.
// Prints the table of docs/wire.md. Configure with -DBLOOMERY_BENCH=ON; needs libhtscodecs-dev and
// libzstd-dev.
#include <htscodecs/rANS_static4x16.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "bloomery/bloomery.hpp"

namespace {

using namespace bloomery;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t raw_bytes = std::size_t{1} << 20U;
constexpr int repetitions = 9;

template <class Work>
double median_seconds(Work work) {
  std::array<double, repetitions> times{};
  for (double& t : times) {
    const auto start = clock_type::now();
    work();
    t = std::chrono::duration<double>(clock_type::now() - start).count();
  }
  std::nth_element(times.begin(), times.begin() + repetitions / 2, times.end());
  return times[repetitions / 2];
}

// Measures one cell of the table; encode returns the coded size.
template <class Encode, class Decode>
void print_cell(double entropy, Encode encode, Decode decode) {
  std::size_t size = 0;
  const double coding = median_seconds([&] { size = encode(); });
  const double decoding = median_seconds(decode);
  std::printf(" %+.2f %%, %.0f / %.0f |", 100 * (static_cast<double>(size) / entropy - 1),
              raw_bytes / coding / 1e6, raw_bytes / decoding / 1e6);
}

void print_row(double fill) {
  image_header header;
  header.planned.shape = {.kind = filter_kind::classic, .probes = 1, .bits = raw_bytes * 8};
  std::vector<std::uint64_t> words(raw_bytes / 8);
  std::mt19937_64 random(1);
  for (std::uint64_t i = 0; i < raw_bytes * 8; ++i) {
    if (static_cast<double>(random() >> 11U) * 0x1p-53 < fill) detail::set_bit(words.data(), i);
  }
  const double p = static_cast<double>(count_bits(words)) / (raw_bytes * 8);
  const double entropy = -(p * std::log2(p) + (1 - p) * std::log2(1 - p)) * raw_bytes;
  auto* raw = reinterpret_cast<unsigned char*>(words.data());
  std::vector<unsigned char> coded(4 * raw_bytes);
  std::vector<unsigned char> decoded(raw_bytes);

  std::printf("| %g %% |", 100 * fill);
  std::vector<std::byte> packed;
  print_cell(
      entropy, [&] { return (packed = pack(header, words)).size(); },
      [&] { (void)unpack(packed); });
  for (const int order : {0, 4}) {
    unsigned size = 0;
    print_cell(
        entropy,
        [&] {
          size = static_cast<unsigned>(coded.size());
          rans_compress_to_4x16(raw, raw_bytes, coded.data(), &size, order);
          return std::size_t{size};
        },
        [&] {
          auto out = static_cast<unsigned>(raw_bytes);
          rans_uncompress_to_4x16(coded.data(), size, decoded.data(), &out);
        });
  }
  for (const int level : {3, 19}) {
    std::size_t size = 0;
    print_cell(
        entropy,
        [&] { return size = ZSTD_compress(coded.data(), coded.size(), raw, raw_bytes, level); },
        [&] { ZSTD_decompress(decoded.data(), raw_bytes, coded.data(), size); });
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main() {
  std::printf("| fill | ours | rANS 4x16, order 0 | 32 ways | zstd -3 | zstd -19 |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (const double fill : {0.001, 0.01, 0.03, 0.06, 0.1, 0.2, 0.3, 0.45}) print_row(fill);
}
