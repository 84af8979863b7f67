// A rolling pipeline over groups of eight keys, for kernels that answer with a bitmap: a group is
// staged (its places found, its lines asked for) some groups before it is visited.
//
// Included by files that are compiled for several machines: everything here is a template over a
// type of the including file.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::kernel {

inline constexpr std::size_t group_keys = 8;

// stage(keys, g) is called `Ahead` groups before visit(g), which returns a byte: bit i is the
// answer for key i of group g.
template <std::size_t Ahead, class Stage, class Visit>
[[gnu::always_inline]] inline void roll_groups(std::span<const std::uint64_t> hashes,
                                               std::uint64_t* bitmap, const Stage& stage,
                                               const Visit& visit) noexcept {
  if (hashes.empty()) return;
  const std::uint64_t* const keys = hashes.data();
  const std::size_t groups = hashes.size() / group_keys;
  const std::size_t rest = hashes.size() % group_keys;
  bitmap[(hashes.size() - 1) / 64] = 0;
  // The bitmap is written a byte for each group. Its words are numbers, so the first byte of a word
  // is the last in memory on a big-endian machine.
  constexpr std::size_t flip = std::endian::native == std::endian::little ? 0 : 7;
  auto* const bytes = reinterpret_cast<unsigned char*>(bitmap);
  for (std::size_t g = 0; g < groups && g < Ahead; ++g) stage(keys + g * group_keys, g);
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t next = g + Ahead < groups ? g + Ahead : g;
    if (next != g) stage(keys + next * group_keys, next);
    bytes[g ^ flip] = static_cast<unsigned char>(visit(g, next));
  }
  if (rest == 0) return;
  std::uint64_t last[group_keys] = {};  // 0 is a hash as good as any
  for (std::size_t i = 0; i < rest; ++i) last[i] = keys[groups * group_keys + i];
  stage(last, groups);
  bytes[groups ^ flip] = static_cast<unsigned char>(visit(groups, groups) & ((1U << rest) - 1));
}

}  // namespace bloomery::kernel
