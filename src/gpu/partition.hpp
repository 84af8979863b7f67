// How a call of add deals out its keys: levels, bins and their places in the caller's scratch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gpu/launch.hpp"

namespace bloomery::gpu {

struct partition {
  static constexpr std::size_t most_levels = 3;

  std::array<deal_level, most_levels> levels{};
  std::size_t count = 0;  // of levels; 0: key by key is as good
  std::uint32_t pieces = 1;
  std::size_t bytes = 0;  // of scratch

  // For so many keys in a filter of so many blocks. The pointers of the levels are not set yet.
  static partition of(std::uint64_t blocks, std::uint64_t keys) noexcept;
  // Sets them. The counters of all levels come first: counter_bytes, to be zeroed.
  void place(std::byte* scratch) noexcept;
  [[nodiscard]] std::size_t counter_bytes() const noexcept;

 private:
  [[nodiscard]] std::uint64_t hashes_of(std::size_t level) const noexcept;
  [[nodiscard]] std::uint64_t buffer(std::size_t number) const noexcept;
};

}  // namespace bloomery::gpu
