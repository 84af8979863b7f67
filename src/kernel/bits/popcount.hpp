// Counting set bits. A build for every x86-64 machine may not assume the instruction for it, and
// without it counting is ten times slower than reading.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/dispatch.hpp"

namespace bloomery::kernel {

struct popcount_kernels {
  std::uint64_t (*count)(const std::uint64_t* words, std::size_t size) noexcept;
  // Of the union of two arrays.
  std::uint64_t (*count_union)(const std::uint64_t* a, const std::uint64_t* b,
                               std::size_t size) noexcept;
};

[[nodiscard]] const popcount_kernels& popcount_kernels_of(level l) noexcept;
[[nodiscard]] const popcount_kernels& popcount_kernels_chosen() noexcept;

}  // namespace bloomery::kernel
