// Counting and cuckoo filters: nanoseconds a key of adding, asking and removing, one key at a time
// and in batches, in the cache (as far as 1,000,000 keys fit) and out of it. Medians of 5. Beside
// them the floor of lookups (measure/floor.hpp) and a plain cuckoo filter, whose batches are its
// calls for one key. Configure with -DBLOOMERY_BENCH=ON.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/filter/counting.hpp"
#include "bloomery/filter/cuckoo.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/measure/floor.hpp"
#include "plain_cuckoo.hpp"

namespace {

using namespace bloomery;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t repetitions = 5;
volatile std::uint64_t sink = 0;  // what the compiler must not drop

struct times {
  std::vector<double> seconds;

  template <class Work>
  void measure(Work work) {
    const auto start = clock_type::now();
    work();
    seconds.push_back(std::chrono::duration<double>(clock_type::now() - start).count());
  }
  [[nodiscard]] double nanoseconds(std::size_t keys) {
    std::nth_element(seconds.begin(), seconds.begin() + repetitions / 2, seconds.end());
    return seconds[repetitions / 2] / static_cast<double>(keys) * 1e9;
  }
};

std::vector<std::uint64_t> hashes_of(std::size_t keys, std::uint64_t stream) {
  std::vector<std::uint64_t> hashes(keys);
  for (std::size_t i = 0; i < keys; ++i) hashes[i] = splitmix64((stream << 40U) + i);
  return hashes;
}

// make() gives an empty filter.
template <class Make>
void print_row(const char* name, double bits_per_key, Make make, std::span<const std::uint64_t> in,
               std::span<const std::uint64_t> out) {
  std::array<times, 8> t;  // single: add, contains, absent, remove; then the same in batches
  for (std::size_t r = 0; r < repetitions; ++r) {
    auto f = make();
    f.add_batch(in);  // touches the pages
    f.remove_batch(in);
    t[0].measure([&] {
      for (const std::uint64_t hash : in) f.add(hash);
    });
    const auto ask = [&](std::span<const std::uint64_t> hashes) {
      std::uint64_t found = 0;
      for (const std::uint64_t hash : hashes) found += std::uint64_t{f.contains(hash)};
      sink = found;
    };
    t[1].measure([&] { ask(in); });
    t[2].measure([&] { ask(out); });
    t[3].measure([&] {
      for (const std::uint64_t hash : in) f.remove(hash);
    });
    t[4].measure([&] { f.add_batch(in); });
    t[5].measure([&] { sink = f.contains_count(in); });
    t[6].measure([&] { sink = f.contains_count(out); });
    t[7].measure([&] { sink = f.remove_batch(in); });
  }
  std::printf("| %s | %.1f |", name, bits_per_key);
  for (std::size_t i = 0; i < t.size(); ++i) std::printf(" %.1f |", t[i].nanoseconds(in.size()));
  std::printf("\n");
  std::fflush(stdout);
}

template <class Filter>
void print_planned(const char* name, const plan& p, std::span<const std::uint64_t> in,
                   std::span<const std::uint64_t> out) {
  print_row(
      name, p.bits_per_key(), [&] { return Filter(p); }, in, out);
}

double floor_of(std::uint64_t bits, std::span<const std::uint64_t> keys) {
  bit_array array(bits);
  std::fill(array.words().begin(), array.words().end(), 1);  // untouched pages are all one page
  const mixed_integers mixed{.keys = keys, .spread_seed = 0};
  const floor_pipeline& best = fastest_read(array.words(), mixed);
  times t;
  for (std::size_t r = 0; r < repetitions; ++r) {
    t.measure([&] { sink = best.read(array.words(), mixed); });
  }
  return t.nanoseconds(keys.size());
}

void print_table(std::size_t keys) {
  const auto in = hashes_of(keys, 1);
  const auto out = hashes_of(keys, 2);
  const auto counting = [&](double fpr, std::uint32_t block_bits) {
    return sizing::make_plan(
        {.kind = filter_kind::counting, .keys = keys, .fpr = fpr, .block_bits = block_bits});
  };
  const auto cuckoo = [&](double fpr) {
    return sizing::make_plan({.kind = filter_kind::cuckoo, .keys = keys, .fpr = fpr});
  };
  std::printf("\n%zu keys; a random line of the first row's size, read: %.1f ns\n\n", keys,
              floor_of(counting(0.01, 512).shape.bits, in));
  std::printf(
      "| filter | bits a key | add | contains | absent | remove | add, batch | contains | "
      "absent | remove |\n|---|---|---|---|---|---|---|---|---|---|\n");
  print_planned<counting_filter>("counting in lines, 1 %", counting(0.01, 512), in, out);
  print_planned<counting_filter>("counting in lines, 0.1 %", counting(0.001, 512), in, out);
  print_planned<counting_filter>("counting unblocked, 1 %", counting(0.01, 0), in, out);
  print_planned<cuckoo_filter>("cuckoo, 1 %", cuckoo(0.01), in, out);
  print_planned<cuckoo_filter>("cuckoo, 0.1 %", cuckoo(0.001), in, out);
  // The same fingerprints as the plain one.
  const plan twelve =
      sizing::make_plan({.kind = filter_kind::cuckoo, .keys = keys, .fpr = 0.01, .cell_bits = 12});
  print_planned<cuckoo_filter>("cuckoo, 12 bits", twelve, in, out);
  print_row(
      "plain cuckoo, 12 bits", bench::plain_cuckoo(keys).bits_per_key(keys),
      [&] { return bench::plain_cuckoo(keys); }, in, out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    for (int i = 1; i < argc; ++i) {
      print_table(static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10)));
    }
    return 0;
  }
  for (const std::size_t keys : {std::size_t{1'000'000}, std::size_t{20'000'000}}) {
    print_table(keys);
  }
}
