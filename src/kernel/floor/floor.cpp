// The floors for every machine: with SSE2 on x86-64, NEON on 64-bit Arm.
#include "floor.hpp"

#include <iterator>
#include <vector>

#include "kernel/dispatch.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

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

constexpr floor_loops pipelines[] = {floor_row<portable, 1, false, 0>("portable 1"),
                                     floor_row<portable, 4, false, 0>("portable 4"),
                                     floor_row<portable, 4, false, 1>("portable 0/1"),
                                     floor_row<portable, 3, true, 1>("portable 3/1"),
                                     floor_row<portable, 8, true, 1>("portable 8/1"),
                                     floor_row<portable, 14, true, 1>("portable 14/1"),
                                     floor_row<portable, 20, true, 2>("portable 20/2")};

}  // namespace

std::vector<floor_loops> floors_of_machine() {
  std::vector<floor_loops> all(std::begin(pipelines), std::end(pipelines));
#if defined(__x86_64__)
  const auto append = [&](level l, const floor_table& more) {
    if (available(l)) all.insert(all.end(), more.rows, more.rows + more.count);
  };
  append(level::avx2, floor_avx2);
  append(level::avx512, floor_avx512);
#endif
  return all;
}

}  // namespace bloomery::kernel
