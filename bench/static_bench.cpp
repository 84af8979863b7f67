// The static kinds at 1 and at 100 million keys (or as many as the arguments say): nanoseconds a
// key to build on one thread, peak bytes a key above the hashes that were given, bits a key and
// times the bound, nanoseconds a lookup one by one and in batches, for keys of the set and for
// others. Medians of 5, or of 3 from 10 million keys on. Configure with -DBLOOMERY_BENCH=ON.
//
// With --json before the numbers of keys it prints, for scripts/bench, what building takes with one
// thread and with all cores, at 1 %, by the clock and of all processors: medians of 3, or one run
// from 100 million keys on.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/core/kinds.hpp"
#include "bloomery/core/parallel.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/filter/bloomier.hpp"
#include "bloomery/filter/fuse.hpp"
#include "bloomery/filter/ribbon.hpp"

namespace {

using namespace bloomery;
using clock_type = std::chrono::steady_clock;

template <class Work>
double median_ns(int repetitions, std::uint64_t units, Work work) {
  std::vector<double> times;
  for (int r = 0; r < repetitions; ++r) {
    const auto start = clock_type::now();
    work();
    times.push_back(std::chrono::duration<double, std::nano>(clock_type::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + repetitions / 2, times.end());
  return times[static_cast<std::size_t>(repetitions / 2)] / static_cast<double>(units);
}

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

std::vector<std::uint64_t> hashes_of(std::uint64_t keys, std::uint64_t stream) {
  std::vector<std::uint64_t> hashes(keys);
  for (std::uint64_t i = 0; i < keys; ++i) hashes[i] = splitmix64((stream << 40U) + i);
  return hashes;
}

// The values of a bloomier filter; the other kinds have none.
template <class Filter>
std::vector<std::uint64_t> values_of(std::uint64_t keys) {
  return std::vector<std::uint64_t>(Filter::kind == filter_kind::bloomier ? keys : 0, 5);
}

template <class Filter>
Filter make(const plan& p, const std::vector<std::uint64_t>& hashes,
            const std::vector<std::uint64_t>& values, unsigned threads = 1) {
  if constexpr (Filter::kind == filter_kind::bloomier) {
    return Filter(p, hashes, values, threads);
  } else {
    return Filter(p, hashes, threads);
  }
}

template <class Filter>
void lookups(const Filter& f, const std::vector<std::uint64_t>& hashes) {
  std::vector<std::uint64_t> bitmap(hashes.size() / 64 + 1);
  std::uint64_t found = 0;
  const double single = median_ns(5, hashes.size(), [&] {
    for (const std::uint64_t hash : hashes) found += f.contains(hash) ? 1U : 0U;
  });
  const double batch = median_ns(5, hashes.size(), [&] { f.contains_bits(hashes, bitmap); });
  std::printf(" %.1f / %.1f |", single, batch);
  if (found == 1) std::printf("?");  // so that the loop is not left out
}

// Measures in a process of its own, so that the peak of memory is that of the work.
template <class Work>
void alone(Work work) {
  std::fflush(stdout);
  if (const pid_t child = fork(); child != 0) {
    waitpid(child, nullptr, 0);
    return;
  }
  work();
  std::fflush(stdout);
  std::_Exit(0);
}

template <class Filter>
void print_row(const char* name, const shape& s, std::uint64_t keys) {
  const plan p{.shape = s, .keys = keys};
  const auto hashes = hashes_of(keys, 1);
  const auto values = values_of<Filter>(keys);
  const double before = peak_bytes();
  const Filter f = make<Filter>(p, hashes, values);
  const double peak = (peak_bytes() - before) / static_cast<double>(keys);
  const double build =
      median_ns(keys < 10'000'000 ? 5 : 3, keys, [&] { make<Filter>(p, hashes, values); });
  const double bits = static_cast<double>(f.shape().bits) / static_cast<double>(keys);
  std::printf("| %s | %llu | %.1f | %.1f | %.3f | %.4f |", name,
              static_cast<unsigned long long>(keys), build, peak, bits, bits / s.cell_bits);
  const auto questions = static_cast<std::size_t>(std::min<std::uint64_t>(keys, 4'000'000));
  lookups(f, {hashes.begin(), hashes.begin() + static_cast<std::ptrdiff_t>(questions)});
  lookups(f, hashes_of(questions, 2));
  std::printf("\n");
}

shape shape_of(filter_kind kind, std::uint32_t probes, std::uint32_t cell_bits,
               std::uint32_t variant = 0) {
  return {.kind = kind, .probes = probes, .cell_bits = cell_bits, .variant = variant};
}

void print_rows(std::uint64_t keys) {
  const auto fuse = [keys](const char* name, std::uint32_t probes, std::uint32_t bits) {
    alone([&] { print_row<fuse_filter>(name, shape_of(filter_kind::fuse, probes, bits), keys); });
  };
  const auto ribbon = [keys](const char* name, std::uint32_t bits) {
    alone([&] { print_row<ribbon_filter>(name, shape_of(filter_kind::ribbon, 1, bits), keys); });
  };
  fuse("fuse, 3 x 8", 3, 8);
  fuse("fuse, 4 x 8", 4, 8);
  fuse("fuse, 3 x 16", 3, 16);
  fuse("fuse, 3 x 32", 3, 32);
  ribbon("ribbon, 1", 1);
  ribbon("ribbon, 8", 8);
  ribbon("ribbon, 16", 16);
  alone([keys] {
    print_row<bloomier_filter>("bloomier, 8 + 8", shape_of(filter_kind::bloomier, 3, 16, 8), keys);
  });
}

template <class Filter>
void print_build(std::uint64_t keys, unsigned threads, const char* separator) {
  const plan p = sizing::make_plan({.kind = Filter::kind, .keys = keys, .fpr = 0.01});
  const auto hashes = hashes_of(keys, 1);
  const auto values = values_of<Filter>(keys);
  const double before = peak_bytes();
  double bits = 0;
  std::vector<double> processors;
  const double build = median_ns(keys < 100'000'000 ? 3 : 1, keys, [&] {
    const std::clock_t start = std::clock();
    bits = static_cast<double>(make<Filter>(p, hashes, values, threads).shape().bits);
    processors.push_back(static_cast<double>(std::clock() - start) * 1e9 / CLOCKS_PER_SEC);
  });
  std::sort(processors.begin(), processors.end());
  std::printf(
      "%s\n  {\"kind\": \"%s\", \"keys\": %llu, \"threads\": %u, \"build_ns\": %.2f, "
      "\"processor_ns\": %.2f, \"peak_bytes\": %.2f, \"bits\": %.3f}",
      separator, std::string(kind_name(Filter::kind)).c_str(),
      static_cast<unsigned long long>(keys), threads, build,
      processors[processors.size() / 2] / static_cast<double>(keys),
      (peak_bytes() - before) / static_cast<double>(keys), bits / static_cast<double>(keys));
}

void print_builds(const std::vector<std::uint64_t>& sizes) {
  const char* separator = "[";
  const unsigned cores = parallel{}.count();
  for (const std::uint64_t keys : sizes) {
    for (unsigned threads = 1;; threads = cores) {
      alone([&] { print_build<fuse_filter>(keys, threads, separator); });
      separator = ",";
      alone([&] { print_build<ribbon_filter>(keys, threads, separator); });
      alone([&] { print_build<bloomier_filter>(keys, threads, separator); });
      if (threads == cores) break;
    }
  }
  std::printf("\n]\n");
}

}  // namespace

int main(int count, char** arguments) {
  const bool json = count > 1 && std::string_view(arguments[1]) == "--json";
  std::vector<std::uint64_t> sizes;
  for (int i = json ? 2 : 1; i < count; ++i) {
    sizes.push_back(std::strtoull(arguments[i], nullptr, 10));
  }
  if (sizes.empty()) sizes = {1'000'000, 100'000'000};
  if (json) {
    print_builds(sizes);
    return 0;
  }
  std::printf(
      "| kind | keys | build ns | peak bytes | bits | / cell bits |"
      " present, single / batch ns | absent |\n");
  std::printf("|---|---|---|---|---|---|---|---|\n");
  for (const std::uint64_t keys : sizes) print_rows(keys);
}
