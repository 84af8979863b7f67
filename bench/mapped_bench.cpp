// Asking a blocked filter in a mapped file: cold, when nothing of it is in the page cache, and
// warm; with what `map` asks the system for (huge pages), with pages of 4 KiB, with the whole file
// asked for ahead (MADV_WILLNEED) and with none read ahead (MADV_RANDOM); beside it `load`, which
// reads the file into memory first.
//
//     bloomery_mapped_bench [--json] FOLDER [KEYS]       100,000,000 keys if not said
//
// FOLDER is on the file system to measure; so many KEYS that the file is larger than the last
// cache. Cold is after posix_fadvise(POSIX_FADV_DONTNEED), which any user may do with a file that
// was written to disk; a virtual machine's disk may still be in a cache of its host. Random
// integers are asked in bulk, half of them are keys: 20 of them, then four million, and these again
// when the file is warm. Medians of 5, in time of the clock, since what is waited for counts.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/bloomery.hpp"

namespace {

using namespace bloomery;
using mapped_filter = mapped<filter>;

constexpr std::size_t repetitions = 5;
constexpr std::size_t first_keys = 20;
constexpr std::size_t many_keys = 4'000'000;

std::uint64_t number(std::uint64_t i) { return i * 0x9e3779b97f4a7c15U; }

double seconds_of(auto work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

[[noreturn]] void give_up(const std::string& what) {
  std::perror(("mapped_bench: " + what).c_str());
  std::exit(1);
}

void forget(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) give_up(path);
  if (::fsync(fd) != 0) give_up(path);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

const char* file_system(const std::string& path) {
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) give_up(path);
  switch (static_cast<std::uint64_t>(info.f_type)) {
    case 0xef53: return "ext4";
    case 0x58465342: return "XFS";
    case 0x9123683e: return "Btrfs";
    case 0x01021994: return "tmpfs";
    case 0x794c7630: return "overlayfs";
    default: return "another file system";
  }
}

// The share of the file that is in the page cache.
double cached(std::span<const std::byte> bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> there((bytes.size() + page - 1) / page);
  auto* const start = const_cast<std::byte*>(bytes.data());
  if (::mincore(start, bytes.size(), there.data()) != 0) give_up("mincore");
  const auto count =
      std::count_if(there.begin(), there.end(), [](auto c) { return (c & 1U) != 0; });
  return static_cast<double>(count) / static_cast<double>(there.size());
}

// KiB of the mapping that huge pages map, as the system says.
std::uint64_t huge_kib(std::span<const std::byte> bytes) {
  std::array<char, 32> start{};
  std::snprintf(start.data(), start.size(), "%llx-",
                static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(bytes.data())));
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  std::uint64_t kib = 0;
  for (std::string line; std::getline(maps, line);) {
    const bool is_mapping = line.find('-') < line.find(' ');
    if (is_mapping) here = line.starts_with(start.data());
    if (here && line.starts_with("FilePmdMapped:")) kib = std::strtoull(&line[14], nullptr, 10);
  }
  return kib;
}

// Whole pages: the header is shorter than one.
std::span<const std::byte> mapping_of(const mapped_filter& f) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(f->filter().words().data()) & ~(page - 1);
  return {reinterpret_cast<const std::byte*>(first),
          static_cast<std::size_t>(f.file().file_bytes())};
}

struct manner {
  const char* name;
  int advice;  // after what map asks for; -1 for nothing more
  bool loads;
};

constexpr std::array manners = {
    manner{"load", -1, true},
    manner{"map", -1, false},
    manner{"map, whole file ahead", MADV_WILLNEED, false},
#ifdef MADV_NOHUGEPAGE
    manner{"map, small pages", MADV_NOHUGEPAGE, false},
#endif
    manner{"map, no reading ahead", MADV_RANDOM, false},
};

struct result {
  std::vector<double> open_ms;
  std::vector<double> first_ms;
  std::vector<double> cold_ns;
  std::vector<double> warm_ns;
  double cached = 0;
  double huge = 0;
};

template <class Filter>
void ask(const Filter& f, std::span<const std::uint64_t> keys, result& r) {
  std::vector<std::uint64_t> bitmap(many_keys / 64 + 1);
  const auto some = [&](std::span<const std::uint64_t> asked) {
    return seconds_of([&] { f.contains_bits(asked, bitmap); });
  };
  r.first_ms.push_back(some(keys.first(first_keys)) * 1e3);
  r.cold_ns.push_back(some(keys) * 1e9 / static_cast<double>(keys.size()));
  r.warm_ns.push_back(some(keys) * 1e9 / static_cast<double>(keys.size()));
}

void measure(const std::string& path, const manner& m, std::span<const std::uint64_t> keys,
             result& r) {
  forget(path);
  if (m.loads) {
    std::optional<filter> f;
    r.open_ms.push_back(seconds_of([&] { f = load<filter>(path); }) * 1e3);
    ask(*f, keys, r);
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto f = map<filter>(path);
  const std::span<const std::byte> bytes = mapping_of(f);
  auto* const data = const_cast<std::byte*>(bytes.data());
  if (m.advice >= 0 && ::madvise(data, bytes.size(), m.advice) != 0) give_up("madvise");
  r.open_ms.push_back(
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  ask(*f, keys, r);
  r.cached = cached(bytes);
  r.huge = static_cast<double>(huge_kib(bytes)) * 1024 / static_cast<double>(bytes.size());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
  const bool json = count > 1 && std::string_view(arguments[1]) == "--json";
  const int at = json ? 2 : 1;
  if (count <= at) {
    std::fprintf(stderr, "usage: bloomery_mapped_bench [--json] FOLDER [KEYS]\n");
    return 2;
  }
  const std::uint64_t n =
      count > at + 1 ? std::strtoull(arguments[at + 1], nullptr, 10) : 100'000'000;
  const std::string path = std::filesystem::path(arguments[at]) / "mapped_bench.bloom";
  {
    filter f({.keys = n});
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; i < n; ++i) {
      keys.push_back(number(i));
      if (keys.size() < many_keys && i + 1 < n) continue;
      f.add_batch(keys);
      keys.clear();
    }
    save(f, path);
  }
  std::vector<std::uint64_t> asked(many_keys);
  for (std::uint64_t i = 0; i < many_keys; ++i) {
    const std::uint64_t random = splitmix64(i);
    asked[i] = number(detail::multiply_high(random, n) + random % 2 * n);
  }
  std::array<result, manners.size()> results;
  for (std::size_t r = 0; r < repetitions; ++r) {
    for (std::size_t i = 0; i < manners.size(); ++i) {
      measure(path, manners[i], asked, results[i]);
    }
  }
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  const char* const system = file_system(path);
  std::filesystem::remove(path);
  if (json) {
    std::printf(
        "{\"megabytes\": %.1f, \"keys\": %llu, \"asked\": %zu, \"file_system\": \"%s\", "
        "\"rows\": [",
        megabytes, static_cast<unsigned long long>(n), many_keys, system);
  } else {
    std::printf(
        "%.0f MB on %s\n\n| | opened in ms | first %zu keys, ms | %zu keys, cold, ns each | warm | "
        "in the cache then | by huge pages |\n|---|---|---|---|---|---|---|\n",
        megabytes, system, first_keys, many_keys);
  }
  for (std::size_t i = 0; i < manners.size(); ++i) {
    const result& r = results[i];
    if (json) {
      std::printf(
          "%s\n  {\"manner\": \"%s\", \"open_ms\": %.3f, \"first_ms\": %.3f, \"cold_ns\": %.2f, "
          "\"warm_ns\": %.2f, \"cached\": %.3f, \"huge\": %.3f}",
          i == 0 ? "" : ",", manners[i].name, median(r.open_ms), median(r.first_ms),
          median(r.cold_ns), median(r.warm_ns), r.cached, r.huge);
    } else {
      std::printf("| %s | %.1f | %.2f | %.1f | %.1f | %.0f %% | %.0f %% |\n", manners[i].name,
                  median(r.open_ms), median(r.first_ms), median(r.cold_ns), median(r.warm_ns),
                  100 * r.cached, 100 * r.huge);
    }
  }
  if (json) std::printf("\n]}\n");
}
