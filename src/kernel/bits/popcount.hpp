// Counting set bits: without the instruction, which x86-64 may lack, ten times slower than reading.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/dispatch.hpp"

namespace bloomery::kernel {

struct popcount_kernels {
  std::uint64_t (*count)(const std::uint64_t* words, std::size_t size) noexcept;
  std::uint64_t (*count_union)(const std::uint64_t* a, const std::uint64_t* b,
                               std::size_t size) noexcept;
};

[[nodiscard]] const popcount_kernels& popcount_kernels_of(level l) noexcept;
[[nodiscard]] const popcount_kernels& popcount_kernels_chosen() noexcept;

}  // namespace bloomery::kernel
