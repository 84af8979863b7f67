// Adding many keys to classic and partitioned filters (scatter.hpp).
//
// All lines of a key are needed. A step is one probe of eight keys: it is worked out and its lines are called for,
// and fourteen steps later its bits are set, one key after the other, so that keys with a word in common do not
// disturb each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/core/arithmetic.hpp"
#include "bloomery/hash/probe.hpp"
#include "scatter.hpp"

namespace bloomery::kernel {

template <class Eight>
class scatter_adding {
 public:
  // In the cache steps are worked out ahead as well, so that loads need not wait for the stores before them
  // (5.5 ns a key, 6.1 with two steps).
  template <bool Near>
  static void groups_of_eight(const scatter_array<std::uint64_t>& array,
                              const std::uint64_t* hashes, std::size_t groups) noexcept {
    step ring[ring_steps];
    const Eight range = Eight::all(array.range);
    const Eight multiplier = Eight::all(next_probe_multiplier);
    std::size_t made = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      Eight hash = Eight::load(hashes + g * 8);
      for (std::uint32_t j = 0; j < array.probes; ++j, ++made) {
        const Eight position = Eight::all(j * array.step) + (Near ? multiply_high_short(hash, range)
                                                                  : multiply_high(hash, range));
        hash = hash * multiplier;
        step& s = ring[made % ring_steps];
        (position >> 6).store(s.word);
        (Eight::all(1) << (position & Eight::all(63))).store(s.bit);
        if constexpr (!Near) {
          for (std::size_t i = 0; i < 8; ++i) __builtin_prefetch(array.words + s.word[i], 0, 2);
          asm volatile("");
        }
        if (made >= far_steps) set(array.words, ring[(made - far_steps) % ring_steps]);
      }
    }
    for (std::size_t s = made < far_steps ? 0 : made - far_steps; s < made; ++s) {
      set(array.words, ring[s % ring_steps]);
    }
  }

  static void one(const scatter_array<std::uint64_t>& array, std::uint64_t hash) noexcept {
    for (std::uint32_t j = 0; j < array.probes; ++j) {
      const std::uint64_t position = j * array.step + detail::multiply_high(hash, array.range);
      array.words[position >> 6U] |= detail::little_endian(std::uint64_t{1} << (position & 63U));
      hash *= next_probe_multiplier;
    }
  }

 private:
  // The words and bits of eight keys for one probe.
  struct step {
    alignas(64) std::uint64_t word[8];
    alignas(64) std::uint64_t bit[8];
  };

  static constexpr std::size_t far_steps = 14;
  static constexpr std::size_t ring_steps = 16;

  [[gnu::always_inline]] static void set(std::uint64_t* words, const step& s) noexcept {
    for (std::size_t i = 0; i < 8; ++i) words[s.word[i]] |= detail::little_endian(s.bit[i]);
  }
};

}  // namespace bloomery::kernel
