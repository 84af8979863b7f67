// One key and its block of sixteen 32-bit lanes, all at once: the form of block_lanes.hpp in the
// compiler's own vectors, of as many bytes as the machine has. GCC and Clang turn these into any
// instructions, so this one text serves SSE2, AVX2, AVX-512 and NEON.
//
// Always inlined: a copy compiled for AVX2 must not be linked into a program for another machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/detail/hash/lane_tables.hpp"
#include "bloomery/detail/hash/lane_vectors.hpp"
#include "bloomery/detail/hash/listed_lanes.hpp"

namespace bloomery::detail {

// What listed_lanes does. A lane that the key does not use has a `one` of 0 and a counter without
// bits. Bytes is 64 for AVX-512, 32 for AVX2, 16 for SSE2 and NEON.
template <std::size_t Bytes>
class vector_lanes : lane_vectors<Bytes> {
 public:
  [[gnu::always_inline]] explicit vector_lanes(const lane_tables& tables) noexcept
      : tables_(tables) {}

  [[gnu::always_inline]] [[nodiscard]] bool covered(std::uint64_t hash,
                                                    const std::uint64_t* block) const noexcept {
    part missing{};
    for (std::size_t i = 0; i < parts; ++i) {
      if constexpr (Bytes == 32) {
        // Shifting the block down to the ones, which are in memory, takes an instruction less than
        // shifting the ones up to the block, and 0.2 ns. With AVX-512 it is slower, by 0.1.
        const part ones = part_of(tables_.ones[rotation_of(hash)].lanes, i);
        missing |= ones & ~(load(block, i) >> bits_of(hash, i));
      } else {
        missing |= one_of(hash, i) & ~load(block, i);
      }
    }
    return is_zero(missing);
  }
  [[gnu::always_inline]] bool set(std::uint64_t hash, std::uint64_t* block) const noexcept {
    // Stored at the end: a store may change the tables, and what is in registers is loaded again.
    part missing{};
    part result[parts];
    for (std::size_t i = 0; i < parts; ++i) {
      const part one = one_of(hash, i);
      const part there = load(block, i);
      missing |= one & ~there;
      result[i] = there | one;
    }
    for (std::size_t i = 0; i < parts; ++i) store(block, i, result[i]);
    return !is_zero(missing);
  }

  [[gnu::always_inline]] [[nodiscard]] bool covered_in(std::uint64_t hash,
                                                       const std::uint64_t* block,
                                                       const lane_planes& planes) const noexcept {
    if constexpr (!shifts) return listed_lanes(tables_).covered_in(hash, block, planes);
    if constexpr (Bytes == 64) return vector_lanes<32>(tables_).covered_in(hash, block, planes);
    part all = shifted(hash, block, planes, 0);
    for (std::size_t i = 1; i < parts; ++i) all &= shifted(hash, block, planes, i);
    return (all_lanes(all) & planes.first) != 0;
  }
  [[gnu::always_inline]] bool set_in(std::uint64_t hash, std::uint64_t* block,
                                     const lane_planes& planes) const noexcept {
    if constexpr (!shifts) return listed_lanes(tables_).set_in(hash, block, planes);
    part missing{};
    part result[parts];
    for (std::size_t i = 0; i < parts; ++i) {
      const part used = -part_of(tables_.ones[rotation_of(hash)].lanes, i);
      const part one = (used & splat(planes.first)) << place_of(hash, i, planes);
      const part there = load(block, i);
      missing |= one & ~there;
      result[i] = there | one;
    }
    for (std::size_t i = 0; i < parts; ++i) store(block, i, result[i]);
    return !is_zero(missing);
  }

  [[gnu::always_inline]] [[nodiscard]] bool counted(std::uint64_t hash, const std::uint64_t* block,
                                                    const counter_cells& cells) const noexcept {
    part missing{};
    for (std::size_t i = 0; i < parts; ++i) {
      if constexpr (shifts) {
        const part cell = splat(cells.most) << shift_of(hash, i, cells);
        const part ones = part_of(tables_.ones[rotation_of(hash)].lanes, i);
        missing |= (load(block, i) & cell) == 0 ? ones : part{};
      } else {
        const key_part key(*this, hash, i, cells);
        missing |= (load(block, i) & key.cell) == 0 ? key.one : part{};
      }
    }
    return is_zero(missing);
  }
  [[gnu::always_inline]] [[nodiscard]] std::uint32_t least(
      std::uint64_t hash, const std::uint64_t* block, const counter_cells& cells) const noexcept {
    if constexpr (!shifts) return listed_lanes(tables_).least(hash, block, cells);
    part all{};
    for (std::size_t i = 0; i < parts; ++i) {
      const key_part key(*this, hash, i, cells);
      const part count = (load(block, i) & key.cell) >> key.shift;
      const part unused = reinterpret_cast<part>(key.one == 0);
      const part value = count | unused;
      all = i == 0 ? value : value < all ? value : all;
    }
    return least_of(all);
  }
  [[gnu::always_inline]] bool increment(std::uint64_t hash, std::uint64_t* block,
                                        const counter_cells& cells) const noexcept {
    part missing{};
    part result[parts];
    for (std::size_t i = 0; i < parts; ++i) {
      const key_part key(*this, hash, i, cells);
      const part there = load(block, i);
      missing |= (there & key.cell) == 0 ? key.one : part{};
      result[i] = there + step_of(key, there);
    }
    for (std::size_t i = 0; i < parts; ++i) store(block, i, result[i]);
    return !is_zero(missing);
  }
  [[gnu::always_inline]] bool decrement(std::uint64_t hash, std::uint64_t* block,
                                        const counter_cells& cells) const noexcept {
    // Written in any case: a branch would be mispredicted where absent keys are among the others.
    part there[parts];
    part step[parts];
    part missing{};
    for (std::size_t i = 0; i < parts; ++i) {
      const key_part key(*this, hash, i, cells);
      there[i] = load(block, i);
      missing |= (there[i] & key.cell) == 0 ? key.one : part{};
      step[i] = step_of(key, there[i]);
    }
    const bool present = is_zero(missing);
    const std::uint32_t all = present ? ~std::uint32_t{0} : 0;
    for (std::size_t i = 0; i < parts; ++i) store(block, i, there[i] - (step[i] & all));
    return present;
  }

 private:
  using vectors = lane_vectors<Bytes>;
  using typename vectors::part;
  using vectors::is_zero;
  using vectors::load;
  using vectors::part_of;
  using vectors::shifts;
  using vectors::splat;
  using vectors::store;
  static constexpr std::size_t parts = block_geometry::lanes / vectors::part_lanes;

  // The counters of a key in part i of its block: their lowest bits, and all of their bits. A mask
  // shifted by itself is an instruction less than (one << width) - one, and a window of 256
  // instructions has keys in it that wait for memory: with AVX2 a lookup takes 17 and not 22.
  struct key_part {
    [[gnu::always_inline]] key_part(const vector_lanes& lanes, std::uint64_t hash, std::size_t i,
                                    const counter_cells& cells) noexcept {
      const std::size_t rotation = rotation_of(hash);
      if constexpr (shifts) {
        shift = shift_of(hash, i, cells);
        one = part_of(lanes.tables_.ones[rotation].lanes, i) << shift;
        cell = splat(cells.most) << shift;  // of unused lanes, too, where `one` is 0
      } else {
        one = float_one(lanes.tables_.floats[rotation], hash, i, cells.places);
        cell = (one << cells.width) - one;
      }
    }
    part shift;
    part one;
    part cell;
  };

  // The ones of the counters that are not full: what is left of such a counter is no less than its
  // lowest bit. Where nobody asks whether the key was new, a minimum is an instruction less than a
  // comparison and a mask: adds in the second-level cache take 2.2 and not 2.4 ns with AVX2.
  [[gnu::always_inline]] static part step_of(const key_part& key, const part& there) noexcept {
    if constexpr (!shifts) return (there & key.cell) != key.cell ? key.one : part{};
    const part left = key.cell & ~there;
    return left < key.one ? left : key.one;
  }

  [[gnu::always_inline]] static part product_of(std::uint64_t hash, std::size_t i) noexcept {
    return part_of(block_geometry::lane_multiplier, i) * static_cast<std::uint32_t>(hash);
  }
  [[gnu::always_inline]] static part bits_of(std::uint64_t hash, std::size_t i) noexcept {
    return product_of(hash, i) >> 27U;
  }

  // The key's place in the planes of each lane.
  [[gnu::always_inline]] static part place_of(std::uint64_t hash, std::size_t i,
                                              const lane_planes& planes) noexcept {
    const part product = product_of(hash, i);
    if constexpr (Bytes == 32) {  // the upper halves alone, in one instruction
      using halves = typename vectors::template vector<short>;
      return reinterpret_cast<part>(__builtin_ia32_pmulhuw256(
                 reinterpret_cast<halves>(product),
                 reinterpret_cast<halves>(splat(planes.positions << 16U)))) >>
             16U;
    } else {
      return (product >> 16U) * planes.positions >> 16U;
    }
  }
  // The lanes with the key's bits where the planes begin; those that it does not use are all ones.
  [[gnu::always_inline]] [[nodiscard]] part shifted(std::uint64_t hash, const std::uint64_t* block,
                                                    const lane_planes& planes,
                                                    std::size_t i) const noexcept {
    const part unused = part_of(tables_.unused[rotation_of(hash)].lanes, i);
    return load(block, i) >> place_of(hash, i, planes) | unused;
  }

  // Where the key's counter begins in each lane.
  [[gnu::always_inline]] static part shift_of(std::uint64_t hash, std::size_t i,
                                              const counter_cells& cells) noexcept {
    return bits_of(hash, i) & cells.places;
  }
  // The key's bit in each lane that it uses.
  [[gnu::always_inline]] [[nodiscard]] part one_of(std::uint64_t hash,
                                                   std::size_t i) const noexcept {
    const std::size_t rotation = rotation_of(hash);
    if constexpr (shifts) return part_of(tables_.ones[rotation].lanes, i) << bits_of(hash, i);
    return float_one(tables_.floats[rotation], hash, i, ~std::uint32_t{0});
  }
  // The same for machines that cannot shift lanes apart. The exponent of a float is the number of
  // the bit.
  [[gnu::always_inline]] static part float_one(const lane_numbers& floats, std::uint64_t hash,
                                               std::size_t i, std::uint32_t places) noexcept {
    const part exponent = (product_of(hash, i) >> 4U) & (places << 23U & 0x0f800000U);
    return vectors::bits_of_floats(part_of(floats.lanes, i) + exponent);
  }

  [[gnu::always_inline]] static std::uint32_t least_of(const part& all) noexcept {
    using four_lanes = typename vector_of<std::uint32_t, 16>::type;
    four_lanes four[Bytes / 16];
    std::memcpy(four, &all, Bytes);
    for (std::size_t i = 1; i < Bytes / 16; ++i) four[0] = four[i] < four[0] ? four[i] : four[0];
    const four_lanes turned = __builtin_shufflevector(four[0], four[0], 2, 3, 0, 1);
    const four_lanes two = turned < four[0] ? turned : four[0];
    const four_lanes odd = __builtin_shufflevector(two, two, 1, 0, 3, 2);
    const four_lanes least = odd < two ? odd : two;
    return least[0];
  }

  // The AND of the lanes.
  [[gnu::always_inline]] static std::uint32_t all_lanes(const part& all) noexcept {
    using two_words = typename vector_of<std::uint64_t, 16>::type;
    two_words two[Bytes / 16];
    std::memcpy(two, &all, Bytes);
    for (std::size_t i = 1; i < Bytes / 16; ++i) two[0] &= two[i];
    two[0] &= __builtin_shufflevector(two[0], two[0], 1, 0);
    return static_cast<std::uint32_t>(two[0][0] & two[0][0] >> 32U);
  }

  const lane_tables& tables_;
};

}  // namespace bloomery::detail
