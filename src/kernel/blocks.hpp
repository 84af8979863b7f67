// Keys that are asked for in several filters of blocks: the layers of a scalable filter, the generations of a windowed
// one. One filter after the other, for as many keys as possible, so that each is in the cache while it is asked: 12
// filters of 64 KiB to 64 MiB take 26 ns a key for a million keys at a time, 41 for 16,384 and 54 for 1,024 (Zen 4).
// Making the masks once and asking all filters for each few keys takes longer still.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "blocked.hpp"

namespace bloomery::kernel {

// A bitmap of the keys that one of the filters contains. None: of nothing.
inline void contains_any(std::span<const const_blocks> filters, const key_run& run,
                         std::span<std::uint64_t> bitmap) noexcept {
  constexpr std::size_t most = std::size_t{1} << 17U;  // answers of 16 KiB on the stack
  // Filters whose blocks lie between each other's have neighbouring lines, which should be asked soon after each
  // other (5 filters, 54 MB each: 16 ns a key, in the long pieces 23).
  const bool apart = std::ranges::all_of(filters, [](const auto& f) { return f.stride == 8; });
  const std::size_t piece = apart ? most : 1024;
  const blocked_kernels& kernels = blocked_kernels_chosen();
  std::array<std::uint64_t, most / 64> some;
  for (std::size_t first = 0; first < run.count; first += piece) {
    key_run now = run;
    now.keys += first;
    now.count = std::min(piece, run.count - first);
    const auto found = bitmap.subspan(first / 64, (now.count + 63) / 64);
    std::ranges::fill(found, 0);
    for (const const_blocks& blocks : filters) {
      kernels.contains(blocks, now, some.data());
      for (std::size_t i = 0; i < found.size(); ++i) found[i] |= some[i];
    }
  }
}

}  // namespace bloomery::kernel
