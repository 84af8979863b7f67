// The scalable filter, the layered and the windowed one against the blocked filter that knew its
// keys: bits a key, and nanoseconds a key of a batch lookup of absent keys, medians of 7; and the
// memory and rate of the scalable filter by the rate that was asked for. Prints the tables of
// docs/math.md.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <span>
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

// Full, that is just before its lines double, and just after it.
void scalable_at(double fpr) {
  constexpr std::uint64_t fewest = 2'000'000;
  scalable_filter f(options{.keys = 4000, .fpr = fpr});
  const auto measure = [&] {
    const auto n = static_cast<double>(f.keys_stored());
    const blocked_filter known(options{.keys = f.keys_stored(), .fpr = fpr});
    const auto bits = static_cast<double>(f.shape().bits);
    std::printf(" %.1f | %.2f |", bits / n, bits / static_cast<double>(known.shape().bits));
  };
  const auto present = hashes(0, 8'000'000);
  std::size_t added = 0;
  const auto fill = [&] {
    while (f.room() != 0) {
      const std::size_t more = std::min<std::size_t>(f.room(), present.size() - added);
      f.add_batch(std::span(present).subspan(added, more));
      added += more;
    }
  };
  for (fill(); added < fewest; fill()) f.add(present[added++]);
  std::printf("| %g %% | %u | %u | %zu |", fpr * 100, f.shape().cell_bits, f.shape().variant,
              added);
  measure();
  const double full_ns = absent_ns(f);
  const auto absent = hashes(std::uint64_t{1} << 40U, 10'000'000);
  const auto passed = static_cast<double>(f.contains_count(absent));
  const std::uint64_t doublings = f.doublings();
  while (f.doublings() == doublings && f.growth_bytes() != 0) f.add(present[added++]);
  measure();
  const blocked_filter known(options{.keys = f.keys_stored(), .fpr = fpr});
  std::printf(" %.3g %% | %.1f |\n", passed / 1e5, full_ns / absent_ns(known));
}

}  // namespace

int main() {
  std::puts(
      "| rate asked for | cell | doublings | keys | bits a key, full | times blocked | doubled | "
      "times blocked | rate measured, full | times blocked's ns |\n"
      "|---|---|---|---|---|---|---|---|---|---|");
  for (const double fpr : {0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-5}) scalable_at(fpr);
  // Lines for 34,300 keys double at 34,320 and after every doubling of that: 1,098,000 and
  // 8,785,000 fill them.
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
    scalable_filter f(options{.keys = 34'300});  // 64 KiB
    f.add_batch(present);
    row("scalable", static_cast<double>(f.shape().bits) / n, 1, absent_ns(f), base);
    layered_filter l(sizing::make_plan(
        {.kind = filter_kind::layered, .keys = 640, .fpr = 0.01, .growth = growth_rule::steep}));
    l.add_batch(present);
    row("layered, steep", static_cast<double>(l.shape().bits) / n, l.layers(), absent_ns(l), base);
    layered_filter p(options{.keys = keys / 4});  // what dedup --keys has, if more come than said
    p.add_batch(present);
    row("layered, planned for a quarter", static_cast<double>(p.shape().bits) / n, p.layers(),
        absent_ns(p), base);
    windowed_filter w(options{.keys = keys});
    w.add_batch(present);
    row("windowed, 4 generations", static_cast<double>(w.shape().bits) / n, 5, absent_ns(w), base);
  }
}
