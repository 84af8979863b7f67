// The table of docs/lookup.md on the differential store: what a lookup costs with the filter in
// front of the log of changes and without it, on 7 million records. Usage:
// bloomery_differential_bench [RECORDS [CHANGES]]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "bloomery/store/differential.hpp"

namespace {

using bloomery::differential_counts;
using bloomery::differential_store;

constexpr std::size_t repetitions = 5;
constexpr std::uint64_t asked = 200'000;

std::string key_of(std::uint64_t i) {
  std::string digits = std::to_string(i);
  return "account " + std::string(12 - digits.size(), '0') + digits;
}

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Looks up keys that did not change, which is what the filter is for.
void measure(const std::filesystem::path& folder, double fpr, std::uint64_t records,
             std::uint64_t changes) {
  differential_store store(folder, fpr);
  std::vector<double> times;
  for (std::size_t r = 0; r < repetitions; ++r) {
    std::mt19937_64 random(r + 1);
    times.push_back(seconds_of([&] {
      for (std::uint64_t i = 0; i < asked; ++i) {
        const std::uint64_t key = changes + random() % (records - changes);
        if (!store.find(key_of(key))) std::abort();
      }
    }));
  }
  std::sort(times.begin(), times.end());
  const differential_counts& c = store.counts();
  std::printf("| %s | %.2f | %.4f %% | %.4f %% | %.0f kB |\n", fpr < 1 ? "with it" : "without it",
              times[repetitions / 2] / asked * 1e6,
              100 * static_cast<double>(c.wasted_searches) / static_cast<double>(c.asked),
              100 * store.fpr(), static_cast<double>(store.filter_bytes()) / 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 7'000'000;
  const std::uint64_t changes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 500'000;
  const auto folder = std::filesystem::temp_directory_path() / "bloomery_differential_bench";
  std::filesystem::remove_all(folder);
  {
    differential_store store(folder);
    std::string key;
    std::string value;
    std::uint64_t next = 0;
    const double loading = seconds_of([&] {
      store.load([&](std::string_view& k, std::string_view& v) {
        if (next == records) return false;
        key = key_of(next);
        value = "balance " + std::to_string(next * 7 % 100'000);
        ++next;
        k = key;
        v = value;
        return true;
      });
    });
    const double changing = seconds_of([&] {
      for (std::uint64_t i = 0; i < changes; ++i) store.put(key_of(i), "changed");
      store.sync();
    });
    std::printf("%llu records loaded in %.1f s, %llu changed in %.1f s\n\n",
                static_cast<unsigned long long>(records), loading,
                static_cast<unsigned long long>(changes), changing);
  }
  std::printf("| filter | us a lookup | wasted searches | fpr | filter |\n|---|---|---|---|---|\n");
  measure(folder, 1.0, records, changes);
  for (const double fpr : {0.1, 0.01, 0.001}) measure(folder, fpr, records, changes);
  const double merging = seconds_of([&] { differential_store(folder).merge(); });
  std::printf("\nmerged in %.1f s\n", merging);
  std::filesystem::remove_all(folder);
}
