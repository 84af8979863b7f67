// The loops behind bits/byte_mask.hpp, by instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dispatch.hpp"

namespace bloomery::kernel {

// The words of `blocks` times 64 bytes of text.
using byte_mask_kernel = void (*)(const char* text, char byte, std::size_t blocks,
                                  std::uint64_t* bitmap) noexcept;

[[nodiscard]] byte_mask_kernel byte_mask_of(level l) noexcept;

}  // namespace bloomery::kernel
