// Whole hashes of the keys whose lines are full (detail/bits/split_lines.hpp).
#pragma once

#include <bit>
#include <cstdint>

#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery::detail {

// Whole hashes in a table of a power of two slots, or of none; a slot that is 0 is free. At most
// half of them are taken, so a hash is rarely 100 slots away from its own, even among 2^40. Keys
// can be made to have one slot; those that find none within most_steps become fingerprints of their
// line.
struct hash_stash {
  static constexpr std::uint64_t most_steps = 256;

  const std::uint64_t* slots = nullptr;
  std::uint64_t count = 0;

  // 0 means that a slot is free. Two hashes of 2^64 are one.
  [[gnu::always_inline]] static std::uint64_t stored(std::uint64_t hash) noexcept {
    return hash == 0 ? 1 : hash;
  }
  [[gnu::always_inline]] static std::uint64_t slot_of(std::uint64_t stored,
                                                      std::uint64_t count) noexcept {
    return (stored * 0x9e3779b97f4a7c15U) >> (64 - std::countr_zero(count));
  }

  // Brings the hash's slot nearer.
  [[gnu::always_inline]] void fetch(std::uint64_t hash) const noexcept {
    __builtin_prefetch(slots + slot_of(stored(hash), count));
  }
  // Whether its slot is taken, by whatever; of a stash that has slots.
  [[gnu::always_inline]] [[nodiscard]] bool may_contain(std::uint64_t hash) const noexcept {
    return slots[slot_of(stored(hash), count)] != 0;
  }
  [[gnu::always_inline]] [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    if (count == 0) return false;
    const std::uint64_t x = little_endian(stored(hash));
    std::uint64_t at = slot_of(stored(hash), count);
    for (std::uint64_t i = 0; i < most_steps && slots[at] != 0; ++i) {
      if (slots[at] == x) return true;
      at = (at + 1) & (count - 1);
    }
    return false;
  }
};

}  // namespace bloomery::detail
