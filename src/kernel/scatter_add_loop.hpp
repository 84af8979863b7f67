// Adding many keys to classic and partitioned filters (scatter.hpp).
//
// All lines of a key are needed. Out of the cache one key at a time is as fast as the memory, with the lines of later
// ones called for to the second-level cache: 23 ns with 120 MB on a Zen 4, where the lines of eight keys at a time took
// 30 (they come in bursts). In the cache the positions are worked out eight at a time where there are vectors.
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
  static void one(const scatter_array<std::uint64_t>& array, std::uint64_t hash) noexcept {
    for_each_position(
        array, hash, [&](std::uint64_t position) __attribute__((always_inline)) {
          array.words[position >> 6U] |=
              detail::little_endian(std::uint64_t{1} << (position & 63U));
        });
  }

  static void far(const scatter_array<std::uint64_t> array, const hash_run& run) noexcept {
    const std::size_t ahead = scatter_ahead(array.probes);
    const auto call = [&](std::size_t i) __attribute__((always_inline)) {
      for_each_position(array, run.hashes[i], [&](std::uint64_t position) {
        __builtin_prefetch(array.words + (position >> 6U), 0, 2);
        asm volatile("");  // see batch.hpp
      });
    };
    for (std::size_t i = 0; i < ahead && i < run.count; ++i) call(i);
    for (std::size_t i = 0; i < run.count; ++i) {
      if (i + ahead < run.count) call(i + ahead);
      one(array, run.hashes[i]);
    }
  }

  // In the cache. A step is one probe of eight keys; its bits are set some steps after it was worked out, so that
  // loads need not wait for the stores before them (5.5 ns a key, 6.1 with two steps), and one after the other, so
  // that keys with a word in common do not disturb each other.
  static void groups_of_eight(const scatter_array<std::uint64_t>& array,
                              const std::uint64_t* hashes, std::size_t groups) noexcept {
    step ring[ring_steps];
    const Eight range = Eight::all(array.range);
    const Eight multiplier = Eight::all(next_probe_multiplier);
    std::size_t made = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      Eight hash = Eight::load(hashes + g * 8);
      for (std::uint32_t j = 0; j < array.probes; ++j, ++made) {
        const Eight position = Eight::all(j * array.step) + multiply_high_short(hash, range);
        hash = hash * multiplier;
        step& s = ring[made % ring_steps];
        (position >> 6).store(s.word);
        (Eight::all(1) << (position & Eight::all(63))).store(s.bit);
        if (made >= lag) set(array.words, ring[(made - lag) % ring_steps]);
      }
    }
    for (std::size_t s = made < lag ? 0 : made - lag; s < made; ++s) {
      set(array.words, ring[s % ring_steps]);
    }
  }

 private:
  // The words and bits of eight keys for one probe.
  struct step {
    alignas(64) std::uint64_t word[8];
    alignas(64) std::uint64_t bit[8];
  };

  static constexpr std::size_t ring_steps = 8;
  static constexpr std::size_t lag = 7;

  template <class Visit>
  [[gnu::always_inline]] static void for_each_position(const scatter_array<std::uint64_t>& array,
                                                       std::uint64_t hash, Visit visit) noexcept {
    std::uint64_t base = 0;
    for (std::uint32_t j = 0; j < array.probes; ++j) {
      visit(base + detail::multiply_high(hash, array.range));
      hash *= next_probe_multiplier;
      base += array.step;
    }
  }

  [[gnu::always_inline]] static void set(std::uint64_t* words, const step& s) noexcept {
    for (std::size_t i = 0; i < 8; ++i) words[s.word[i]] |= detail::little_endian(s.bit[i]);
  }
};

}  // namespace bloomery::kernel
