// Folding blocks of 64 or 32 bytes: each block of the result is the OR of neighbours.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/dispatch.hpp"

namespace bloomery::kernel {

// Block i of `to`, of `count` with 8 or 4 words each, from the blocks i * divisor to
// i * divisor + divisor - 1 of `from`.
using fold_kernel = void (*)(const std::uint64_t* from, std::uint64_t* to, std::size_t count,
                             std::size_t divisor, std::size_t block_words) noexcept;

[[nodiscard]] fold_kernel fold_kernel_of(level l) noexcept;

void fold_blocks(const std::uint64_t* from, std::uint64_t* to, std::size_t count,
                 std::size_t divisor, std::size_t block_words) noexcept;

}  // namespace bloomery::kernel
