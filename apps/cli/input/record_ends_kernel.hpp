// The loops of record_ends.hpp for each instruction set. They take whole blocks of 64 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cli/input/record_ends.hpp"
#include "kernel/dispatch.hpp"

namespace bloomery::kernel {

inline constexpr std::size_t record_block = 64;

struct record_kernels {
  // Returns how many positions of `end` it wrote to `out`; up to 64 meaningless ones may follow.
  std::size_t (*find)(const char* text, std::size_t blocks, char end, std::uint32_t* out) noexcept;
  record_count (*count)(const char* text, std::size_t blocks, char end) noexcept;
};

[[nodiscard]] const record_kernels& record_kernels_of(level l) noexcept;

}  // namespace bloomery::kernel
