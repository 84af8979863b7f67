// Many keys at a time for the count-min sketch: a key has a counter in each row, rows are as long
// as the range of the array. All give the counters of count_min::add and the counts of
// count_min_view::count. Whether a key was counted at all is what scatter.hpp answers.
#pragma once

#include <cstdint>

#include "kernel/scatter/scatter.hpp"

namespace bloomery::kernel {

struct count_min_kernels {
  // counts[i] = the least counter of hash i.
  void (*count)(const scatter_array<const std::uint64_t>& array, const hash_run& run,
                std::uint64_t* counts) noexcept;
  // Adds counts[i] for hash i, or one for each when there are no counts. A counter keeps the most
  // it can hold.
  void (*add)(const scatter_array<std::uint64_t>& array, const hash_run& run,
              const std::uint64_t* counts) noexcept;
  // The same for conservative update: counters rise to the least of the key and its count, if they
  // are lower.
  void (*raise)(const scatter_array<std::uint64_t>& array, const hash_run& run,
                const std::uint64_t* counts) noexcept;
};

}  // namespace bloomery::kernel
