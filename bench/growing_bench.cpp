// The scalable filter, by splitting and by layers, and the windowed one against the blocked filter
// that knew its keys: bits a key, and nanoseconds a key of a batch lookup of absent keys, medians
// of 7. Prints the table of docs/math.md.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "bloomery/bloomery.hpp"

namespace {

using namespace bloomery;
using clock_type = std::chrono::steady_clock;

std::vector<std::uint64_t> hashes(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = splitmix64(first + i);
  return all;
}

template <class Filter>
double absent_ns(const Filter& f) {
  const auto absent = hashes(std::uint64_t{1} << 40U, 2'000'000);
  std::vector<std::uint64_t> found((absent.size() + 63) / 64);
  std::array<double, 7> times{};
  for (double& t : times) {
    const auto start = clock_type::now();
    f.contains_bits(absent, found);
    t = std::chrono::duration<double, std::nano>(clock_type::now() - start).count() / 2e6;
  }
  if (count_bits(found) == absent.size()) std::puts("everything was found");
  std::nth_element(times.begin(), times.begin() + 3, times.end());
  return times[3];
}

void row(const char* name, double bits, std::size_t layers, double ns, double base_ns) {
  std::printf("| %s | %zu | %.2f | %.2f | %.2f |\n", name, layers, bits, ns, ns / base_ns);
}

}  // namespace

int main() {
  // Lines for 34,300 keys split at 34,320 and after every doubling of that: 1,098,000 and 8,785,000
  // fill them.
  for (const std::size_t keys :
       {200'000U, 1'000'000U, 1'098'000U, 3'000'000U, 8'785'000U, 10'000'000U, 50'000'000U}) {
    const auto n = static_cast<double>(keys);
    const auto present = hashes(0, keys);
    std::printf(
        "\n%zu keys at 1 %%\n\n| | layers | bits a key | ns a key | times blocked "
        "|\n|---|---|---|---|---|\n",
        keys);
    blocked_filter blocked(options{.keys = keys});
    blocked.add_batch(present);
    const double base = absent_ns(blocked);
    row("blocked", static_cast<double>(blocked.shape().bits) / n, 1, base, base);
    // A first layer of 64 KiB.
    for (const growth_rule rule : {growth_rule::split, growth_rule::tapered}) {
      scalable_filter f(sizing::make_plan(
          {.kind = filter_kind::scalable, .keys = 34'300, .fpr = 0.01, .growth = rule}));
      f.add_batch(present);
      row(f.is_split() ? "scalable, split" : "scalable, layers",
          static_cast<double>(f.shape().bits) / n, f.layers(), absent_ns(f), base);
    }
    windowed_filter w(options{.keys = keys});
    w.add_batch(present);
    row("windowed, 4 generations", static_cast<double>(w.shape().bits) / n, 5, absent_ns(w), base);
  }
}
