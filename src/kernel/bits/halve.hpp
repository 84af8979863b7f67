// Folding a string of bits in half: each bit of the result is the OR of two neighbours.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/dispatch.hpp"

namespace bloomery::kernel {

// to[i] from the words from[2i] and from[2i + 1], in machine order. `to` may be `from`.
using halve_kernel = void (*)(const std::uint64_t* from, std::uint64_t* to,
                              std::size_t count) noexcept;

[[nodiscard]] halve_kernel halve_kernel_of(level l) noexcept;

void halve(const std::uint64_t* from, std::uint64_t* to, std::size_t count) noexcept;

}  // namespace bloomery::kernel
