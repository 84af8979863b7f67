// The loops of fuse.hpp. Staging finds the cells of a group of keys, in vectors where there are
// any; visiting reads them one by one: loads beat gathers on a Zen 4, and are no slower elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fuse.hpp"
#include "kernel/pipeline.hpp"
#include "place.hpp"

namespace bloomery::kernel {

// Out of the cache, a key's lines come to the second level 14 groups ahead (8 to 20 are as good),
// between the visits (a burst of 24 costs 4 %), and not to the first level (which costs 8 %).
inline constexpr std::size_t fuse_ring_groups = 32;
inline constexpr std::size_t fuse_far_groups = 14;
inline constexpr std::size_t fuse_close_groups = 2;  // in the cache, 1 to 6 are as good

template <std::uint32_t Probes>
struct fuse_ring {
  alignas(64) std::uint64_t place[Probes][fuse_ring_groups * group];
  alignas(64) std::uint64_t print[fuse_ring_groups * group];
  // Of bloomier filters: the cells, and the bit where the values of the shard begin.
  alignas(64) std::uint64_t cell[Probes][fuse_ring_groups * group];
  alignas(64) std::uint64_t values[fuse_ring_groups * group];
  std::uint8_t nowhere[fuse_ring_groups];  // bit i: key i is of a shard without keys
};

// Cells are whole_cells or tag_cells; Values: where the values would be is worked out, too.
template <class Number, std::uint32_t Probes, class Cells, bool Values>
class fuse_pipeline {
 public:
  fuse_pipeline(const fuse_array& array, const key_run& run) noexcept
      : directory_(array.directory),
        words_(array.directory.words),
        cells_(array.cell_bits),
        run_(run) {}

  // visit(index, at, wrong) for every key: its place in the ring, and its fingerprint XOR its
  // cells. The last group is filled up with zeroes, so the index may be past the last key.
  template <bool Cached, class Visit>
  [[gnu::always_inline]] void roll(std::uint64_t* bitmap, fuse_ring<Probes>& ring,
                                   const Visit& visit) const noexcept {
    const auto stage_group = [&](const std::uint64_t* keys, std::size_t g, std::size_t)
        __attribute__((always_inline)) {
      stage(keys, ring, g % fuse_ring_groups);
    };
    const auto visit_group = [&](std::size_t g, std::size_t next) __attribute__((always_inline)) {
      const std::size_t slot = g % fuse_ring_groups;
      unsigned found = 0;
      for (std::size_t i = group; i-- > 0;) {
        if constexpr (!Cached) fetch(ring, next % fuse_ring_groups * group + i);
        const std::size_t at = slot * group + i;
        auto wrong = static_cast<typename Cells::cell_type>(ring.print[at]);
        for (std::uint32_t j = 0; j < Probes; ++j) wrong ^= cells_.read(words_, ring.place[j][at]);
        found = found + found + unsigned{visit(g * group + i, at, wrong)};
      }
      return found & ~unsigned{ring.nowhere[slot]};
    };
    constexpr std::size_t ahead = Cached ? fuse_close_groups : fuse_far_groups;
    roll_answers(run_.keys, run_.count, bitmap, ahead, stage_group, visit_group);
  }

 private:
  [[gnu::always_inline]] void stage(const std::uint64_t* keys, fuse_ring<Probes>& ring,
                                    std::size_t slot) const noexcept {
    unsigned there = 0;
    for (std::size_t i = 0; i < group; i += Number::width) {
      const std::size_t at = slot * group + i;
      Number hash = Number::load(keys + i);
      if (run_.mixed) hash = mix64(hash, Number::all(run_.spread_seed));
      const fuse_shards<Number> shard = directory_.of(hash);
      const Number mixed = mix64(hash, shard.seed);
      if constexpr (Values) first_value_bit(shard).store(&ring.values[at]);
      visit_fuse_cells<Probes>(
          mixed, shard, [&](std::uint32_t j, const Number& cell) __attribute__((always_inline)) {
            cells_.place(shard.first_word, cell).store(&ring.place[j][at]);
            if constexpr (Values) cell.store(&ring.cell[j][at]);
          });
      fuse_prints(mixed, cells_.width).store(&ring.print[at]);
      there |= meet(shard.segment, shard.segment) << i;
    }
    ring.nowhere[slot] = static_cast<std::uint8_t>(~there);
  }

  // Of the values of a bloomier shard, which stand behind its tags.
  [[gnu::always_inline]] [[nodiscard]] Number first_value_bit(
      const fuse_shards<Number>& shard) const noexcept {
    const Number cells = (shard.starts + Number::all(Probes - 1)) * shard.segment;
    const Number lines = (cells * Number::all(cells_.width) + Number::all(511)) >> 9U;
    return (shard.first_word << 6U) + (lines << 9U);
  }

  [[gnu::always_inline]] void fetch(const fuse_ring<Probes>& ring, std::size_t at) const noexcept {
    for (std::uint32_t j = 0; j < Probes; ++j) {
      const std::uint64_t byte = cells_.byte_of(ring.place[j][at]);
      __builtin_prefetch(reinterpret_cast<const unsigned char*>(words_) + byte, 0, 2);
    }
    asm volatile("");  // GCC 12 would drop it, see pipeline.hpp
  }

  fuse_directory<Number> directory_;
  const std::uint64_t* words_;
  Cells cells_;
  key_run run_;
};

template <class Number>
struct fuse_loop {
  // Larger arrays are prefetched. With cells of 8 bits: by eight 4.2 against 5.3 ns a key at 9 MB,
  // 9.5 against 7.7 at 18 MB; one by one 6.7 against 6.9 at 0.6 MB, 7.5 against 7.2 at 1.1 MB.
  static constexpr std::uint64_t cached_bytes = Number::width == 1 ? 512U << 10U : 8U << 20U;

  // Calls go.operator()<Probes, Cached>(), or clears the answers when no shard has keys to read.
  template <class Go>
  [[gnu::always_inline]] static void choose(const fuse_array& array, std::size_t keys,
                                            std::uint64_t* bitmap, const Go& go) noexcept {
    const std::uint64_t words = array.directory.array_words;
    if (words == 0) {
      for (std::size_t w = 0; w < (keys + 63) / 64; ++w) bitmap[w] = 0;
    } else if (array.probes == 3) {
      words * 8 <= cached_bytes ? go.template operator()<3, true>()
                                : go.template operator()<3, false>();
    } else {
      words * 8 <= cached_bytes ? go.template operator()<4, true>()
                                : go.template operator()<4, false>();
    }
  }

  template <std::uint32_t Probes, bool Cached, class Cell>
  static void contains_in(const fuse_array& array, const key_run& run,
                          std::uint64_t* bitmap) noexcept {
    const fuse_pipeline<Number, Probes, whole_cells<Number, Cell>, false> pipeline(array, run);
    fuse_ring<Probes> ring;
    pipeline.template roll<Cached>(
        bitmap, ring, [](std::size_t, std::size_t, Cell wrong) __attribute__((always_inline)) {
          return wrong == 0;
        });
  }

  static void contains(const fuse_array& array, const key_run& run,
                       std::uint64_t* bitmap) noexcept {
    choose(array, run.count, bitmap, [&]<std::uint32_t Probes, bool Cached>() {
      if (array.cell_bits == 8) {
        contains_in<Probes, Cached, std::uint8_t>(array, run, bitmap);
      } else if (array.cell_bits == 16) {
        contains_in<Probes, Cached, std::uint16_t>(array, run, bitmap);
      } else {
        contains_in<Probes, Cached, std::uint32_t>(array, run, bitmap);
      }
    });
  }

  static void tagged(const fuse_array& array, const key_run& run, std::uint64_t* bitmap) noexcept {
    const std::uint64_t mask = (std::uint64_t{1} << array.cell_bits) - 1;
    choose(array, run.count, bitmap, [&]<std::uint32_t Probes, bool Cached>() {
      const fuse_pipeline<Number, Probes, tag_cells<Number>, false> pipeline(array, run);
      fuse_ring<Probes> ring;
      pipeline.template roll<Cached>(
          bitmap, ring,
          [mask](std::size_t, std::size_t, std::uint64_t wrong)
              __attribute__((always_inline)) { return (wrong & mask) < Probes; });
    });
  }

  // In pieces: first the places of the values, which then are on their way, then the values.
  static void values(const fuse_array& array, std::span<const std::uint64_t> hashes,
                     std::uint64_t* values, std::uint64_t* bitmap) noexcept {
    constexpr std::size_t piece = 2048;
    const detail::packed_cells cells{array.value_bits};
    for (; !hashes.empty(); values += piece, bitmap += piece / 64) {
      const auto now = hashes.first(hashes.size() < piece ? hashes.size() : piece);
      hashes = hashes.subspan(now.size());
      for (std::size_t i = 0; i < now.size(); ++i) values[i] = 0;  // should there be no arrays
      choose(array, now.size(), bitmap, [&]<std::uint32_t Probes, bool Cached>() {
        find_values<Probes, Cached>(array, now, values, bitmap);
      });
      for (std::size_t i = 0; i < now.size(); ++i) {
        const std::uint64_t there = (bitmap[i / 64] >> (i % 64)) & 1U;
        values[i] = cells.get_at(array.directory.words, values[i]) & (0 - there);
      }
    }
  }

  // values[i] becomes the bit where the value of key i begins, or 0 when the key is absent.
  template <std::uint32_t Probes, bool Cached>
  static void find_values(const fuse_array& array, std::span<const std::uint64_t> hashes,
                          std::uint64_t* values, std::uint64_t* bitmap) noexcept {
    const std::uint64_t mask = (std::uint64_t{1} << array.cell_bits) - 1;
    const fuse_pipeline<Number, Probes, tag_cells<Number>, true> pipeline(
        array, {.keys = hashes.data(), .count = hashes.size()});
    const std::uint64_t* const words = array.directory.words;
    fuse_ring<Probes> ring;
    pipeline.template roll<Cached>(
        bitmap, ring,
        [&](std::size_t index, std::size_t at, std::uint64_t wrong) __attribute__((always_inline)) {
          const std::uint64_t tag = wrong & mask;
          const std::uint64_t own = ring.cell[tag < Probes ? tag : 0][at];
          const std::uint64_t bit = tag < Probes ? ring.values[at] + own * array.value_bits : 0;
          if constexpr (!Cached) __builtin_prefetch(words + (bit >> 6U), 0, 2);
          if (index < hashes.size()) values[index] = bit;
          return tag < Probes;
        });
  }
};

template <class Number>
inline constexpr fuse_kernels fuse_kernels_with = {.contains = fuse_loop<Number>::contains,
                                                   .tagged = fuse_loop<Number>::tagged,
                                                   .values = fuse_loop<Number>::values};

}  // namespace bloomery::kernel
