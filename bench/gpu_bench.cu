// The tables of docs/gpu.md: lookups and adds on a GPU, with the floor of its memory beside them.
//
//     gpu_bench [--curve] [--quick] [--keys N]    quick: the first table alone
//
// Keys are 64-bit integers in device memory, made there. Times are medians of seven, by CUDA's
// events. Filters that are asked hold the keys that they are planned for, at 10 bits a key and six
// probes; adds go into an empty filter.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "bloomery/core/sizing.hpp"
#include "bloomery/gpu/blocked.hpp"
#include "bloomery/hash/mix.hpp"
#include "gpu/device_memory.hpp"
#include "gpu/launch.hpp"

namespace bloomery::gpu {
namespace {

constexpr int repetitions = 7;
constexpr std::uint64_t absent_start = std::uint64_t{1} << 60U;

__global__ void make_keys(std::uint64_t* keys, std::uint64_t count, std::uint64_t start) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) keys[i] = splitmix64(start + i);
}

void generate(device_array<std::uint64_t>& keys, std::uint64_t count, std::uint64_t start) {
  make_keys<<<static_cast<unsigned>((count + 255) / 256), 256>>>(keys.data(), count, start);
  must(cudaGetLastError(), "make_keys");
}

// Median milliseconds; prepare runs before each repetition and is not timed.
template <class Prepare, class Work>
double milliseconds(Prepare prepare, Work work) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  must(cudaEventCreate(&begin), "cudaEventCreate");
  must(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> times;
  for (int i = 0; i <= repetitions; ++i) {
    prepare();
    must(cudaEventRecord(begin), "cudaEventRecord");
    work();
    must(cudaEventRecord(end), "cudaEventRecord");
    must(cudaEventSynchronize(end), "cudaEventSynchronize");
    float taken = 0;
    must(cudaEventElapsedTime(&taken, begin, end), "cudaEventElapsedTime");
    if (i > 0) times.push_back(taken);
  }
  std::ranges::nth_element(times, times.begin() + repetitions / 2);
  return times[repetitions / 2];
}

template <class Work>
double milliseconds(Work work) {
  return milliseconds([] {}, work);
}

plan plan_of(std::uint64_t bytes) {
  plan p;
  p.shape = {.kind = filter_kind::blocked,
             .probes = 6,
             .block_bits = bits_per_block,
             .bits = bytes / 64 * bits_per_block};
  p.keys = p.shape.bits / 10;
  return p;
}

struct row {
  double floor = 0;    // G a second, all of them
  double two[2] = {};  // absent, present
  double four[2] = {};
  double chosen[2] = {};
  double plain = 0;
  double ranges = 0;
  double ranges_planned = 0;
};

row measure(std::uint64_t bytes, device_array<std::uint64_t>& keys,
            const device_array<std::uint8_t>& memory, device_array<std::uint64_t>& answers) {
  const plan p = plan_of(bytes);
  const std::uint64_t n = keys.size();
  const scratch room = {.memory = memory.data(), .bytes = memory.size()};
  blocked_filter f(p);
  const detail::block_map map(p.shape.bits / bits_per_block, p.shape.probes);
  const auto rate = [n](double ms) { return static_cast<double>(n) / ms / 1e6; };
  row r;

  generate(keys, n, 0);
  const key_batch batch = key_batch::integers(keys.data(), n);
  const auto clear = [&] { f.clear(nullptr); };
  r.plain = rate(milliseconds(clear, [&] { f.add(batch, nullptr); }));
  r.ranges = rate(milliseconds(clear, [&] { f.add(batch, nullptr, room); }));
  if (p.keys < n) {
    const key_batch planned = batch.part(0, p.keys);
    r.ranges_planned = static_cast<double>(p.keys) / 1e6 /
                       milliseconds(clear, [&] { f.add(planned, nullptr, room); });
  }

  f.clear(nullptr);
  for (std::uint64_t first = 0; first < p.keys; first += n) {
    generate(keys, n, first);
    f.add(batch.part(0, std::min(n, p.keys - first)), nullptr, room);
  }
  for (int there = 0; there < 2; ++there) {
    // The keys of the last part are there; a small filter has fewer, which come again and again.
    if (there == 0) {
      generate(keys, n, absent_start);
    } else {
      for (std::uint64_t done = 0; done < n; done += std::min(n - done, p.keys)) {
        make_keys<<<static_cast<unsigned>((std::min(n - done, p.keys) + 255) / 256), 256>>>(
            keys.data() + done, std::min(n - done, p.keys), 0);
      }
    }
    const key_source source = {.data = keys.data(), .count = n};
    const answer_target target = {.bits = answers.data()};
    if (there == 0) {
      r.floor = rate(milliseconds([&] {
        must(launch_floor(f.words(), map.blocks, source, answers.data(), nullptr), "floor");
      }));
    }
    r.two[there] = rate(milliseconds([&] {
      must(launch_lookup(map, f.words(), source, target, lookup_form::two_threads, nullptr), "two");
    }));
    r.four[there] = rate(milliseconds([&] {
      must(launch_lookup(map, f.words(), source, target, lookup_form::four_threads, nullptr),
           "four");
    }));
    r.chosen[there] = rate(milliseconds([&] {
      f.contains_bits(batch, answers.data(), nullptr,
                      there == 0 ? expect::mostly_absent : expect::mostly_present);
    }));
  }
  return r;
}

void print_head() {
  std::printf(
      "| size | floor | two absent | two present | four absent | four present | asked absent | "
      "of floor | asked present | of floor | add by key | add by ranges | add planned keys |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

void print_row(std::uint64_t bytes, const row& r) {
  const std::uint64_t mib = bytes >> 20U;
  if (mib < 1024) {
    std::printf("| %llu MiB ", static_cast<unsigned long long>(mib));
  } else {
    std::printf("| %llu GiB ", static_cast<unsigned long long>(mib / 1024));
  }
  std::printf(
      "| %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.0f %% | %.1f | %.0f %% | %.1f | %.1f |",
      r.floor, r.two[0], r.two[1], r.four[0], r.four[1], r.chosen[0], 100 * r.chosen[0] / r.floor,
      r.chosen[1], 100 * r.chosen[1] / r.floor, r.plain, r.ranges);
  if (r.ranges_planned > 0) {
    std::printf(" %.1f |\n", r.ranges_planned);
  } else {
    std::printf(" |\n");
  }
  std::fflush(stdout);
}

// Other forms of keys and answers, at 1 GiB.
void print_forms(device_array<std::uint64_t>& keys, device_array<std::uint64_t>& answers) {
  const plan p = plan_of(std::uint64_t{1} << 30U);
  const std::uint64_t n = std::min<std::uint64_t>(keys.size(), std::uint64_t{1} << 27U);
  blocked_filter f(p);
  generate(keys, n, 0);
  f.add(key_batch::integers(keys.data(), n), nullptr);
  // Half of them are there.
  generate(keys, n, n / 2);
  device_array<std::uint32_t> indexes(n);
  device_array<std::uint64_t> found(1);
  const auto print = [n](const char* what, double ms) {
    std::printf("| %s | %.1f |\n", what, static_cast<double>(n) / ms / 1e6);
  };
  const key_batch numbers = key_batch::integers(keys.data(), n);
  print("integers, bitmap",
        milliseconds([&] { f.contains_bits(numbers, answers.data(), nullptr); }));
  print("hashes, bitmap", milliseconds([&] {
          f.contains_bits(key_batch::hashes(keys.data(), n), answers.data(), nullptr);
        }));
  print("integers, bytes", milliseconds([&] {
          f.contains_bytes(numbers, reinterpret_cast<std::uint8_t*>(answers.data()), nullptr);
        }));
  print("integers, indexes of the half that is there",
        milliseconds([&] { f.contains_indexes(numbers, indexes.data(), found.data(), nullptr); }));
  print("integers, count", milliseconds([&] { f.contains_count(numbers, found.data(), nullptr); }));
  for (const std::uint64_t size : {8, 20, 64}) {
    std::vector<std::uint64_t> offsets(n + 1);
    for (std::uint64_t i = 0; i <= n; ++i) offsets[i] = std::min(i * size, (n - 1) * 8);
    // Strings are the bytes of the keys, one after the other.
    const std::uint64_t strings = std::min(n, n * 8 / size - 1);
    const device_array<std::uint64_t> device_offsets{std::span<const std::uint64_t>(offsets)};
    const double ms = milliseconds([&] {
      f.contains_bits(key_batch::strings(reinterpret_cast<const char*>(keys.data()),
                                         device_offsets.data(), strings),
                      answers.data(), nullptr);
    });
    std::printf("| strings of %llu bytes, bitmap | %.1f |\n", static_cast<unsigned long long>(size),
                static_cast<double>(strings) / ms / 1e6);
  }
  const double bits_ms = milliseconds([&] { f.count_bits(found.data(), nullptr); });
  const blocked_filter other(p);
  const double merge_ms = milliseconds([&] { f.merge(other, nullptr); });
  std::printf("count_bits of 1 GiB %.2f ms (%.0f GB/s), merge %.2f ms (%.0f GB/s)\n", bits_ms,
              1.0737e3 / bits_ms, merge_ms, 3 * 1.0737e3 / merge_ms);
}

// 10^10 keys in 12.5 GB.
void build_large() {
  constexpr std::uint64_t all = 10000000000;
  constexpr std::uint64_t piece = std::uint64_t{1} << 30U;
  constexpr std::uint64_t asked = 1000000000;
  const plan p = [] {
    plan made = plan_of(12500000000);
    made.keys = all;
    return made;
  }();
  blocked_filter f(p);
  device_array<std::uint64_t> keys(piece);
  device_array<std::uint8_t> memory(f.add_scratch_bytes(piece));
  device_array<std::uint64_t> found(1);
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    f.clear(nullptr);
    must(cudaDeviceSynchronize(), "clear");
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t first = 0; first < all; first += piece) {
      const std::uint64_t count = std::min(piece, all - first);
      generate(keys, count, first);
      f.add(key_batch::integers(keys.data(), count), nullptr,
            {.memory = memory.data(), .bytes = memory.size()});
    }
    must(cudaDeviceSynchronize(), "build");
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::sort(times);
  generate(keys, asked, absent_start);
  f.contains_count(key_batch::integers(keys.data(), asked), found.data(), nullptr);
  const double rate = static_cast<double>(found.host()[0]) / static_cast<double>(asked);
  generate(keys, asked, 7 * piece);
  f.contains_count(key_batch::integers(keys.data(), asked), found.data(), nullptr);
  const bool all_there = found.host()[0] == asked;
  std::printf(
      "10^10 keys into 12.5 GB: %.3f s, keys made on the way (%.1f G keys/s); scratch %.1f GB; of "
      "10^9 absent keys %.4f %% pass, the model says %.4f %%; 10^9 present keys: %s\n",
      times[times.size() / 2], static_cast<double>(all) / times[times.size() / 2] / 1e9,
      static_cast<double>(memory.size()) / 1e9, 100 * rate,
      100 * sizing::blocked_fpr(all, p.shape.bits / bits_per_block, p.shape.probes),
      all_there ? "all there" : "SOME ARE MISSING");
}

int run(bool curve, bool quick, std::uint64_t n) {
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) {
    std::printf("gpu_bench: skipped, there is no GPU\n");
    return 77;
  }
  std::printf("%s, %d multiprocessors, %d MiB of L2, %.0f GiB; %llu keys, medians of %d\n",
              device.name, device.multiProcessorCount, device.l2CacheSize >> 20,
              static_cast<double>(device.totalGlobalMem) / 1073741824.0,
              static_cast<unsigned long long>(n), repetitions);
  {
    device_array<std::uint64_t> keys(n);
    // For the hungriest filter of the curve.
    const std::size_t room = n * 24 + (std::size_t{256} << 20U);
    const device_array<std::uint8_t> memory(room);
    device_array<std::uint64_t> answers(n / 8);
    print_head();
    std::vector<std::uint64_t> mib = {16, 1024, 8192};
    if (curve) {
      mib.clear();
      for (std::uint64_t m = 1; m <= 65536; m *= 2) mib.push_back(m);
    }
    for (const std::uint64_t m : mib) {
      print_row(m << 20U, measure(m << 20U, keys, memory, answers));
    }
    if (quick) return 0;
    print_forms(keys, answers);
  }
  build_large();
  must(cudaDeviceSynchronize(), "the end");
  return 0;
}

}  // namespace
}  // namespace bloomery::gpu

int main(int argc, char** argv) {
  bool curve = false;
  bool quick = false;
  std::uint64_t keys = std::uint64_t{1} << 28U;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--curve") == 0) curve = true;
    if (std::strcmp(argv[i], "--quick") == 0) quick = true;
    if (std::strcmp(argv[i], "--keys") == 0 && i + 1 < argc)
      keys = std::strtoull(argv[++i], nullptr, 10);
  }
  return bloomery::gpu::run(curve, quick, keys);
}
