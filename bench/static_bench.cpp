// The static kinds at 1 and at 100 million keys (or as many as the arguments say): nanoseconds a
// key to build on one thread, peak bytes a key above the hashes that were given, bits a key and
// times the bound, nanoseconds a lookup one by one and in batches, for keys of the set and for
// others. Medians of 5, or of 3 from 10 million keys on. Configure with -DBLOOMERY_BENCH=ON.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

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

template <class Filter>
Filter make(const plan& p, const std::vector<std::uint64_t>& hashes) {
  if constexpr (Filter::kind == filter_kind::bloomier) {
    return Filter(p, hashes, std::vector<std::uint64_t>(hashes.size(), 5));
  } else {
    return Filter(p, hashes);
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

// Measures one row in a process of its own, so that the peak of memory is that of the row.
template <class Filter>
void print_row(const char* name, const shape& s, std::uint64_t keys) {
  std::fflush(stdout);
  if (const pid_t child = fork(); child != 0) {
    waitpid(child, nullptr, 0);
    return;
  }
  const plan p{.shape = s, .keys = keys};
  const auto hashes = hashes_of(keys, 1);
  const double before = peak_bytes();
  const Filter f = make<Filter>(p, hashes);
  const double peak = (peak_bytes() - before) / static_cast<double>(keys);
  const double build = median_ns(keys < 10'000'000 ? 5 : 3, keys, [&] { make<Filter>(p, hashes); });
  const double bits = static_cast<double>(f.shape().bits) / static_cast<double>(keys);
  std::printf("| %s | %llu | %.1f | %.1f | %.3f | %.4f |", name,
              static_cast<unsigned long long>(keys), build, peak, bits, bits / s.cell_bits);
  const auto questions = static_cast<std::size_t>(std::min<std::uint64_t>(keys, 4'000'000));
  lookups(f, {hashes.begin(), hashes.begin() + static_cast<std::ptrdiff_t>(questions)});
  lookups(f, hashes_of(questions, 2));
  std::printf("\n");
  std::fflush(stdout);
  std::_Exit(0);
}

shape shape_of(filter_kind kind, std::uint32_t probes, std::uint32_t cell_bits,
               std::uint32_t variant = 0) {
  return {.kind = kind, .probes = probes, .cell_bits = cell_bits, .variant = variant};
}

void print_rows(std::uint64_t keys) {
  print_row<fuse_filter>("fuse, 3 x 8", shape_of(filter_kind::fuse, 3, 8), keys);
  print_row<fuse_filter>("fuse, 4 x 8", shape_of(filter_kind::fuse, 4, 8), keys);
  print_row<fuse_filter>("fuse, 3 x 16", shape_of(filter_kind::fuse, 3, 16), keys);
  print_row<fuse_filter>("fuse, 3 x 32", shape_of(filter_kind::fuse, 3, 32), keys);
  print_row<ribbon_filter>("ribbon, 1", shape_of(filter_kind::ribbon, 1, 1), keys);
  print_row<ribbon_filter>("ribbon, 8", shape_of(filter_kind::ribbon, 1, 8), keys);
  print_row<ribbon_filter>("ribbon, 16", shape_of(filter_kind::ribbon, 1, 16), keys);
  print_row<bloomier_filter>("bloomier, 8 + 8", shape_of(filter_kind::bloomier, 3, 16, 8), keys);
}

}  // namespace

int main(int count, char** arguments) {
  std::printf(
      "| kind | keys | build ns | peak bytes | bits | / cell bits |"
      " present, single / batch ns | absent |\n");
  std::printf("|---|---|---|---|---|---|---|---|\n");
  for (int i = 1; i < count; ++i) print_rows(std::strtoull(arguments[i], nullptr, 10));
  if (count > 1) return 0;
  print_rows(1'000'000);
  print_rows(100'000'000);
}
