// The sketches: time of a call in and out of cache, medians of 7, and the tables of docs/math.md:
// count-min in lines and in rows against the floor, and top-k against space-saving (60 streams).
// Needs nothing but the library.
//
//     sketch_bench speed           ns a key
//     sketch_bench floors          integers added to a count-min in bulk, in floors of one line
//     sketch_bench floors --json   the same for scripts/bench
//     sketch_bench quality         recall of the 100 most frequent keys and error of their counts
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "../tests/sketch/space_saving.hpp"
#include "../tests/sketch/streams.hpp"
#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/measure/floor.hpp"
#include "bloomery/sketch/count_min.hpp"
#include "bloomery/sketch/spectral.hpp"
#include "bloomery/sketch/top_k.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;
using clock_type = std::chrono::steady_clock;

template <class Work>
double median_ns(std::size_t calls, Work work) {
  std::array<double, 7> times{};
  for (double& t : times) {
    const auto start = clock_type::now();
    work();
    t = std::chrono::duration<double, std::nano>(clock_type::now() - start).count();
  }
  std::nth_element(times.begin(), times.begin() + 3, times.end());
  return times[3] / static_cast<double>(calls);
}

// Measures single add, batch add, single count and batch count.
template <class Sketch>
void print_speed(const char* name, Sketch sketch, const std::vector<std::uint64_t>& hashes) {
  std::vector<std::uint64_t> counts(hashes.size());
  const double add = median_ns(hashes.size(), [&] {
    for (const std::uint64_t hash : hashes) sketch.add(hash);
  });
  const double add_batch = median_ns(hashes.size(), [&] { sketch.add_batch(hashes); });
  const double count = median_ns(hashes.size(), [&] {
    for (std::size_t i = 0; i < hashes.size(); ++i) counts[i] = sketch.count(hashes[i]);
  });
  const double count_batch = median_ns(hashes.size(), [&] { sketch.count_batch(hashes, counts); });
  std::printf("| %s | %.1f | %.1f / %.1f | %.1f / %.1f |\n", name,
              static_cast<double>(sketch.shape().bits) / 8e6, add, add_batch, count, count_batch);
}

void speed() {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(1000000);
  for (std::uint64_t i = 0; i < 1000000; ++i) hashes.push_back(stream_hash(i));
  std::printf("ns a key, single / batch\n\n| sketch | MB | add | count |\n|---|---|---|---|\n");
  for (const double epsilon : {1e-4, 1e-7}) {
    for (const bool conservative : {false, true}) {
      for (const bool one_line : {false, true}) {
        count_min s(count_min_guarantee{
            .epsilon = epsilon, .delta = 0.02, .conservative = conservative, .one_line = one_line});
        const std::string name = std::string("count-min, 4 rows") + (one_line ? " in a line" : "") +
                                 (conservative ? ", conservative" : "");
        print_speed(name.c_str(), s, hashes);
      }
    }
  }
  constexpr std::array<const char*, 3> rules = {
      "spectral, minimum selection", "spectral, minimal increase", "spectral, recurring minimum"};
  for (const std::uint64_t keys : {std::uint64_t{20000}, std::uint64_t{20000000}}) {
    for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
      const spectral_filter s(options{.keys = keys, .fpr = 0.01}, spectral_rule{rule});
      print_speed(rules[rule], s, hashes);
    }
  }
  for (const double exponent : {0.8, 1.2}) {
    const auto stream = zipf_stream(100000, 1000000, exponent, 12);
    std::vector<std::string> names;
    names.reserve(stream.size());
    for (const std::uint32_t key : stream) names.push_back(std::to_string(key));
    const std::vector<std::string_view> keys(names.begin(), names.end());
    const auto key_hashes = hashes_of(stream);
    top_k t(top_k_options{});
    const double ns = median_ns(keys.size(), [&] { t.add_batch(keys, key_hashes); });
    std::printf("| top-100, Zipf %.1f | %.3f | %.1f batch | |\n", exponent,
                static_cast<double>(t.shape().bits) / 8e6, ns);
  }
}

// ---- floors -----------------------------------------------------------------------------------

double processor_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Four rows of counters in `lines` cache lines, in lines or not, as a table or as JSON. A floor is
// one random line of as large an array, read, changed and written; floor and sketches take turns.
void print_floors(std::uint64_t lines, bool json, const char*& separator) {
  constexpr std::size_t repetitions = 7;
  constexpr std::uint32_t conservative = 1;
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 2'000'000; ++i) keys.push_back(i * 0x9e3779b97f4a7c15U);
  bit_array array(lines * bits_per_block);
  std::fill(array.words().begin(), array.words().end(), 1);  // untouched pages are all one page
  const mixed_integers mixed = xxh3_hasher().integers(keys);
  const floor_pipeline& best = fastest_write(array.words(), mixed);
  std::vector<keyed<count_min>> sketches;
  for (const std::uint32_t cell_bits : {32U, 16U}) {
    for (const std::uint32_t update : {0U, conservative}) {
      for (const std::uint32_t layout : {sizing::count_min_one_line, 0U}) {
        const shape s{.kind = filter_kind::count_min,
                      .probes = 4,
                      .cell_bits = cell_bits,
                      .variant = update | layout,
                      .bits = sizing::count_min_preamble_bits + lines * bits_per_block};
        sketches.emplace_back(count_min(plan{.shape = s}));
        sketches.back().add_batch(keys);  // touches the pages
      }
    }
  }
  std::vector<std::vector<double>> times(sketches.size() + 1);  // the last: the floor's
  const auto timed = [&](std::vector<double>& into, auto work) {
    const double start = processor_ns();
    work();
    into.push_back((processor_ns() - start) / static_cast<double>(keys.size()));
  };
  for (std::size_t r = 0; r < repetitions; ++r) {
    for (std::size_t i = 0; i < sketches.size(); ++i) {
      timed(times[i], [&] { sketches[i].add_batch(keys); });
    }
    timed(times.back(), [&] { best.write(array.words(), mixed); });
  }
  for (auto& t : times) std::nth_element(t.begin(), t.begin() + repetitions / 2, t.end());
  const auto ns = [&](std::size_t i) { return times[i][repetitions / 2]; };
  const double floor = ns(sketches.size());
  const double megabytes = static_cast<double>(lines) * 64 / 1e6;
  if (!json) std::printf("| %.1f MB, floor %.2f ns | | | |\n", megabytes, floor);
  for (std::size_t i = 0; i < sketches.size(); i += 2) {
    const shape& s = sketches[i].filter().shape();
    const char* const update = (s.variant & conservative) != 0 ? "conservative" : "plain";
    if (json) {
      std::printf(
          "%s\n  {\"megabytes\": %.1f, \"cell_bits\": %u, \"update\": \"%s\", \"floor_ns\": %.3f, "
          "\"lines_ns\": %.3f, \"rows_ns\": %.3f}",
          separator, megabytes, s.cell_bits, update, floor, ns(i), ns(i + 1));
      separator = ",";
    } else {
      std::printf("| %u bits | %s | %.2f | %.2f |\n", s.cell_bits, update, ns(i) / floor,
                  ns(i + 1) / floor);
    }
  }
  std::fflush(stdout);
}

void floors(bool json) {
  const char* separator = "[";
  if (!json)
    std::printf("| counters | update | lines, floors | rows, floors |\n|---|---|---|---|\n");
  for (const std::uint64_t lines : {30'000U, 3'000'000U}) print_floors(lines, json, separator);
  if (json) std::printf("\n]\n");
}

// ---- quality ----------------------------------------------------------------------------------

constexpr std::size_t all_keys = 100000;
constexpr std::size_t wanted = 100;
constexpr std::size_t listed_bytes = 32;  // as in tests/sketch/top_k_stat_test.cpp

using counted = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

struct quality {
  double recall = 0;
  double error = 0;
};

quality judge(const counted& found, const std::vector<std::uint64_t>& truth) {
  std::vector<std::uint64_t> sorted(truth);
  std::nth_element(sorted.begin(), sorted.begin() + (wanted - 1), sorted.end(), std::greater<>());
  quality q;
  for (const auto& [key, count] : found) {
    const auto real = static_cast<double>(truth[key]);
    q.recall += truth[key] >= sorted[wanted - 1] ? 1.0 / wanted : 0.0;
    q.error += std::abs(static_cast<double>(count) - real) / real / wanted;
  }
  return q;
}

counted by_top_k(const std::vector<std::uint32_t>& stream, std::size_t bytes) {
  top_k t(top_k_options{.k = wanted, .width = (bytes - wanted * listed_bytes) / 16});
  for (const std::uint32_t key : stream) t.add(std::to_string(key), stream_hash(key));
  counted found;
  found.reserve(wanted);
  for (const auto& e : t.entries()) found.emplace_back(std::stoull(std::string(e.key)), e.count);
  return found;
}

counted by_space_saving(const std::vector<std::uint32_t>& stream, std::size_t bytes) {
  space_saving s(bytes / listed_bytes);
  for (const std::uint32_t key : stream) s.add(key);
  return s.top(wanted);
}

std::string text_of(double value, bool error) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), !error ? "%.2f" : value < 10 ? "%.2g" : "%.0f", value);
  return text.data();
}

// The median, and the worst: the least recall, the largest error.
std::string summary(std::vector<double> values, bool error) {
  std::sort(values.begin(), values.end());
  return text_of(values[values.size() / 2], error) + ", " +
         text_of(error ? values.back() : values.front(), error);
}

void compare() {
  constexpr std::size_t streams = 60;  // with the seeds 1 to 60
  constexpr std::array<std::size_t, 4> sizes = {8000, 16000, 32000, 64000};
  std::printf(
      "median, worst of %zu streams\n\n"
      "| exponent | bytes | recall, top-k | space-saving | error, top-k | space-saving |\n"
      "|---|---|---|---|---|---|\n",
      streams);
  for (const double exponent : {0.8, 1.0, 1.2}) {
    std::array<std::array<std::vector<double>, 4>, sizes.size()> q;
    for (std::size_t run = 1; run <= streams; ++run) {
      const auto stream = zipf_stream(all_keys, 1000000, exponent, run);
      const auto truth = counts_in(stream, all_keys);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const quality ours = judge(by_top_k(stream, sizes[i]), truth);
        const quality theirs = judge(by_space_saving(stream, sizes[i]), truth);
        q[i][0].push_back(ours.recall);
        q[i][1].push_back(theirs.recall);
        q[i][2].push_back(ours.error);
        q[i][3].push_back(theirs.error);
      }
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::printf("| %.1f | %zu | %s | %s | %s | %s |\n", exponent, sizes[i],
                  summary(q[i][0], false).c_str(), summary(q[i][1], false).c_str(),
                  summary(q[i][2], true).c_str(), summary(q[i][3], true).c_str());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const bool json = argc > 2 && std::string_view(argv[2]) == "--json";
  if (what.empty() || what == "speed") speed();
  if (what.empty() || what == "floors") floors(json);
  if (what.empty() || what == "quality") compare();
}
