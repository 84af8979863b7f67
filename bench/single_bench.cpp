// One key at a time, in a program that is built for any x86-64, for AVX2 or for AVX-512: three
// programs are made of this text (bench/CMakeLists.txt). The library's calls for one key are
// inlined into programs, so what a call costs depends on how these were built; the library is the
// same. Kinds take turns: nanoseconds that the thread had the processor, medians of 7. Beside them
// 256-bit blocks, built alike.
//
//     bloomery_single_bench [--json] [KEYS...]     1,000,000 and 20,000,000 keys if not said
#include <time.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/bloomery.hpp"
#include "split_block.hpp"

namespace {

using namespace bloomery;
using key_list = std::vector<std::uint64_t>;

constexpr int repetitions = 7;
constexpr std::uint64_t most_asked = 4'000'000;
volatile std::uint64_t sink = 0;  // what the compiler must not drop

#if defined(__AVX512BW__)
constexpr const char* build_name = "AVX-512";
#elif defined(__AVX2__)
constexpr const char* build_name = "AVX2";
#else
constexpr const char* build_name = "any machine";
#endif

double processor_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct times {
  std::vector<double> lookup;
  std::vector<double> add;
  std::vector<double> remove;
};

template <class Work>
void measure(std::vector<double>& all, std::size_t keys, Work work) {
  const double start = processor_ns();
  work();
  all.push_back((processor_ns() - start) / static_cast<double>(keys));
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct questions {
  key_list in;     // all keys of the filters
  key_list asked;  // in them or not, half and half, in random order

  explicit questions(std::uint64_t keys) : in(keys), asked(std::min(keys, most_asked)) {
    for (std::uint64_t i = 0; i < keys; ++i) in[i] = number(i);
    for (std::uint64_t i = 0; i < asked.size(); ++i) {
      const std::uint64_t random = splitmix64(i);
      asked[i] = number(detail::multiply_high(random, keys) + random % 2 * keys);
    }
  }
  static std::uint64_t number(std::uint64_t i) { return i * 0x9e3779b97f4a7c15U; }
};

template <class Filter>
void measure_kind(const questions& q, times& t) {
  const keyed<Filter> empty{
      Filter(sizing::make_plan({.kind = Filter::kind, .keys = q.in.size(), .fpr = 0.01}))};
  keyed<Filter> f(empty);  // a copy, whose memory was touched
  measure(t.add, q.in.size(), [&] {
    for (const std::uint64_t key : q.in) f.add(key);
  });
  measure(t.lookup, q.asked.size(), [&] {
    std::uint64_t found = 0;
    for (const std::uint64_t key : q.asked) found += f.contains(key) ? 1U : 0U;
    sink = found;
  });
  if constexpr (removable<Filter>) {
    measure(t.remove, q.in.size(), [&] {
      for (const std::uint64_t key : q.in) f.remove(key);
    });
  }
}

#if defined(__x86_64__)
#if defined(__AVX2__)
using split_block = bench::split_block_avx2;
#else
using split_block = bench::split_block_sse2;
#endif

// It has no call for one key to add; `count` asks one after the other.
void measure_split_block(const questions& q, times& t) {
  const split_block f(q.in);
  measure(t.lookup, q.asked.size(), [&] { sink = f.count(q.asked); });
}
#endif

struct row {
  std::string_view name;
  void (*measure)(const questions& q, times& t);
};

template <class Filter>
row row_of() {
  return {kind_name(Filter::kind), measure_kind<Filter>};
}

void print(std::uint64_t keys, bool json, const char*& separator) {
  const std::vector<row> rows = {
    row_of<blocked_filter>(),
    row_of<split_block_filter>(),
    row_of<counting_filter>(),
    row_of<cuckoo_filter>(),
    row_of<scalable_filter>(),
    row_of<layered_filter>(),
    row_of<windowed_filter>(),
    row_of<classic_filter>(),
#if defined(__x86_64__)
    {"256-bit blocks", measure_split_block},
#endif
  };
  const questions q(keys);
  std::vector<times> all(rows.size());
  for (int r = 0; r < repetitions; ++r) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].measure(q, all[i]);
  }
  if (!json) {
    std::printf(
        "\n%llu keys, built for %s, ns\n\n| kind | lookup | times blocked | add | times "
        "blocked | remove |\n|---|---|---|---|---|---|\n",
        static_cast<unsigned long long>(keys), build_name);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double lookup = median(all[i].lookup);
    const double add = median(all[i].add);
    const double remove = median(all[i].remove);
    const std::string name(rows[i].name);
    if (json) {
      std::printf(
          "%s\n  {\"build\": \"%s\", \"kind\": \"%s\", \"keys\": %llu, \"lookup_ns\": %.3f, "
          "\"add_ns\": %.3f, \"remove_ns\": %.3f}",
          separator, build_name, name.c_str(), static_cast<unsigned long long>(keys), lookup, add,
          remove);
      separator = ",";
    } else {
      std::printf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f |\n", name.c_str(), lookup,
                  lookup / median(all[0].lookup), add, add / median(all[0].add), remove);
    }
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) {
#if defined(__AVX512BW__)
  const bool can = __builtin_cpu_supports("avx512bw") != 0;
#elif defined(__AVX2__)
  const bool can = __builtin_cpu_supports("avx2") != 0;
#else
  const bool can = true;
#endif
  const bool json = count > 1 && std::string_view(arguments[1]) == "--json";
  if (!can) {
    std::fprintf(stderr, "single_bench: this machine has no %s\n", build_name);
    if (json) std::puts("[]");
    return 0;
  }
  key_list sizes;
  for (int i = json ? 2 : 1; i < count; ++i) {
    sizes.push_back(std::strtoull(arguments[i], nullptr, 10));
  }
  if (sizes.empty()) sizes = {1'000'000, 20'000'000};
  const char* separator = "[";
  for (const std::uint64_t keys : sizes) print(keys, json, separator);
  if (json) std::printf("\n]\n");
}
