// The floor for every machine, and the choice between the pipelines. The compiler uses what the machine has at
// the least: SSE2 on x86-64, NEON on 64-bit Arm.
#include "floor.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <vector>

#include "dispatch.hpp"
#include "floor_loop.hpp"

namespace bloomery {

namespace kernel {

namespace {

class portable : public floor_stage {
 public:
  using floor_stage::floor_stage;

  [[gnu::always_inline]] [[nodiscard]] std::uint64_t any(const std::uint64_t* line) const noexcept {
    const std::uint64_t all =
        (line[0] | line[1] | line[2] | line[3]) | (line[4] | line[5] | line[6] | line[7]);
    return all != 0 ? 1 : 0;
  }
  [[gnu::always_inline]] void invert(std::uint64_t* line) const noexcept {
    for (std::size_t w = 0; w < 8; ++w) line[w] = ~line[w];
  }
};

constexpr floor_pipeline pipelines[] = {floor_row<portable, 1, false, 0>("portable 1"),
                                        floor_row<portable, 4, false, 0>("portable 4"),
                                        floor_row<portable, 4, false, 1>("portable 0/1"),
                                        floor_row<portable, 3, true, 1>("portable 3/1"),
                                        floor_row<portable, 8, true, 1>("portable 8/1"),
                                        floor_row<portable, 14, true, 1>("portable 14/1"),
                                        floor_row<portable, 20, true, 2>("portable 20/2")};

std::vector<floor_pipeline> all_available() {
  std::vector<floor_pipeline> all(std::begin(pipelines), std::end(pipelines));
#if defined(__x86_64__)
  const auto append = [&](level l, const floor_table& more) {
    if (available(l)) all.insert(all.end(), more.rows, more.rows + more.count);
  };
  append(level::avx2, floor_avx2);
  append(level::avx512, floor_avx512);
#endif
  return all;
}

// The one whose best run of seven is the shortest. The runs take turns, so that what else the machine does hits all
// alike; those whose best is a quarter behind drop out.
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

}  // namespace kernel

std::span<const floor_pipeline> floor_pipelines() {
  static const std::vector<floor_pipeline> all = kernel::all_available();
  return all;
}

const floor_pipeline& fastest_read(std::span<const std::uint64_t> lines,
                                   const mixed_integers& keys) {
  volatile std::uint64_t sink = 0;  // the count is used, so the loops stay
  return kernel::fastest([&](const floor_pipeline& p) { sink = p.read(lines, keys); });
}

const floor_pipeline& fastest_write(std::span<std::uint64_t> lines, const mixed_integers& keys) {
  return kernel::fastest([&](const floor_pipeline& p) { p.write(lines, keys); });
}

std::string_view kernel_in_use() noexcept { return kernel::level_name(kernel::chosen_level()); }

}  // namespace bloomery
