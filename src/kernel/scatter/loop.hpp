// The calls of scatter.hpp for one instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "add_loop.hpp"
#include "ask_loop.hpp"
#include "scatter.hpp"

namespace bloomery::kernel {

template <class Eight>
struct scatter_loop {
  template <bool Bits>
  static void contains_cells(const scatter_array<const std::uint64_t>& array, const hash_run& run,
                             std::uint64_t* bitmap) noexcept {
    using asking = scatter_asking<Eight, Bits>;
    for (std::size_t first = 0; first < run.count; first += asking::piece) {
      const std::size_t left = run.count - first;
      asking::run(array, run.hashes + first, left < asking::piece ? left : asking::piece,
                  bitmap + first / 64);
    }
  }
  static void contains(const scatter_array<const std::uint64_t>& array, const hash_run& run,
                       std::uint64_t* bitmap) noexcept {
    if (array.cell_log == 0) {
      contains_cells<true>(array, run, bitmap);
    } else {
      contains_cells<false>(array, run, bitmap);
    }
  }
  static void add(const scatter_array<std::uint64_t>& array, const hash_run& run) noexcept {
    scatter_adding<Eight>::run(array, run);
  }
};

template <class Eight>
inline constexpr scatter_kernels scatter_kernels_with = {.contains = scatter_loop<Eight>::contains,
                                                         .add = scatter_loop<Eight>::add};

}  // namespace bloomery::kernel
