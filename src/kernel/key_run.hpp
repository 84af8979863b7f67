// The keys of a call, as the kernels take them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/hash/hash.hpp"

namespace bloomery::kernel {

// Hashes, or integers for mix64 with this seed: fused, the hashes need not pass through memory.
struct key_run {
  const std::uint64_t* keys = nullptr;
  std::size_t count = 0;
  bool mixed = false;
  std::uint64_t spread_seed = 0;
};

[[nodiscard]] inline key_run run_of(std::span<const std::uint64_t> hashes) noexcept {
  return {.keys = hashes.data(), .count = hashes.size()};
}
[[nodiscard]] inline key_run run_of(const mixed_integers& keys) noexcept {
  return {.keys = keys.keys.data(),
          .count = keys.keys.size(),
          .mixed = true,
          .spread_seed = keys.spread_seed};
}

// Not a std::span: its members would be compiled per instruction set, and the linker keeps any one.
struct hash_run {
  const std::uint64_t* hashes = nullptr;
  std::size_t count = 0;
};

[[nodiscard]] inline hash_run hashes_of(std::span<const std::uint64_t> hashes) noexcept {
  return {.hashes = hashes.data(), .count = hashes.size()};
}

}  // namespace bloomery::kernel
