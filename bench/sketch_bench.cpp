// The sketches: time of a call in and out of cache, medians of 7, and the table of docs/math.md
// that compares top-k with space-saving (60 streams). Needs nothing but the library.
//
//     sketch_bench speed     ns a key
//     sketch_bench quality   recall of the 100 most frequent keys and error of their counts
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
  if (what != "quality") speed();
  if (what != "speed") compare();
}
