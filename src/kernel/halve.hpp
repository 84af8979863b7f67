// Folding a string of bits in half: each bit of the result is the OR of two neighbours.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bloomery::kernel {

// to[i] from the two words from[2i] and from[2i + 1], in the machine's byte order. `to` may be `from`.
void halve(const std::uint64_t* from, std::uint64_t* to, std::size_t count) noexcept;

}  // namespace bloomery::kernel
