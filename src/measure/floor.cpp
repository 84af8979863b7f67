#include "bloomery/measure/floor.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernel/dispatch.hpp"
#include "kernel/floor/floor.hpp"

namespace bloomery {

namespace {

// The pipeline whose best run of seven is the shortest. They take turns, so that other load affects
// all; those whose best run is a quarter slower than the fastest drop out.
template <class Run>
const floor_pipeline& fastest(Run run) {
  using clock = std::chrono::steady_clock;
  constexpr int turns = 7;
  const auto all = floor_pipelines();
  std::vector<clock::duration> taken(all.size(), clock::duration::max());
  clock::duration least = clock::duration::max();
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (turn > 0 && taken[i] - taken[i] / 5 > least) continue;
      const auto start = clock::now();
      run(all[i]);
      taken[i] = std::min<clock::duration>(taken[i], clock::now() - start);
    }
    least = *std::min_element(taken.begin(), taken.end());
  }
  return all[static_cast<std::size_t>(std::min_element(taken.begin(), taken.end()) -
                                      taken.begin())];
}

}  // namespace

std::span<const floor_pipeline> floor_pipelines() {
  static const std::vector<floor_pipeline> all = [] {
    std::vector<floor_pipeline> pipelines;
    for (const kernel::floor_loops& l : kernel::floors_of_machine()) {
      pipelines.emplace_back(l.name, l.read, l.write);
    }
    return pipelines;
  }();
  return all;
}

const floor_pipeline& fastest_read(std::span<const std::uint64_t> lines,
                                   const mixed_integers& keys) {
  volatile std::uint64_t sink = 0;  // the count is used, so the loops stay
  return fastest([&](const floor_pipeline& p) { sink = p.read(lines, keys); });
}

const floor_pipeline& fastest_write(std::span<std::uint64_t> lines, const mixed_integers& keys) {
  return fastest([&](const floor_pipeline& p) { p.write(lines, keys); });
}

std::string_view kernel_in_use() noexcept { return kernel::level_name(kernel::chosen_level()); }

}  // namespace bloomery
