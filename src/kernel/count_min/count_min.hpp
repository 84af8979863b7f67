// Many keys at a time for the count-min sketch: a key has a counter in each row, as long as the
// range of the array. All agree with count_min. scatter.hpp answers whether a key was counted.
#pragma once

#include <cstdint>

#include "kernel/count_min/line.hpp"
#include "kernel/scatter/scatter.hpp"

namespace bloomery::kernel {

struct count_min_kernels {
  // counts[i] = the least counter of hash i.
  void (*count)(const scatter_array<const std::uint64_t>& array, const hash_run& run,
                std::uint64_t* counts) noexcept;
  // Adds counts[i] for hash i, or one for each without counts. A counter keeps its maximum.
  void (*add)(const scatter_array<std::uint64_t>& array, const hash_run& run,
              const std::uint64_t* counts) noexcept;
  // Conservative update: counters rise to the least of the key plus its count, if lower.
  void (*raise)(const scatter_array<std::uint64_t>& array, const hash_run& run,
                const std::uint64_t* counts) noexcept;

  // The same where the counters of a key are in one line.
  void (*count_in_lines)(const counter_lines<const std::uint64_t>& array, const hash_run& run,
                         std::uint64_t* counts) noexcept;
  void (*add_in_lines)(const counter_lines<std::uint64_t>& array, const hash_run& run,
                       const std::uint64_t* counts) noexcept;
  void (*raise_in_lines)(const counter_lines<std::uint64_t>& array, const hash_run& run,
                         const std::uint64_t* counts) noexcept;
};

}  // namespace bloomery::kernel
