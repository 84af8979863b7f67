// One key and its block of sixteen 32-bit lanes: its bit or its counter in each lane that it uses.
//
// Compiled into the program that includes it, for the machine that the program is built for. On x86
// and little-endian ARM a block is a few vectors, of the compiler's own kind; elsewhere the used
// lanes are visited one after the other. On x86 there is also assembly for what the machine has
// beyond that (x86_lanes.hpp). Zen 4, 1.25 MB, 7 probes, hashing included: 2.4 ns a key in programs
// built for AVX-512, 2.7 for AVX2, 2.7 for any x86-64, 9 with SSE2 alone or lane by lane. All give
// the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/detail/hash/lane_tables.hpp"
#include "bloomery/detail/hash/listed_lanes.hpp"
#include "bloomery/detail/hash/x86_lanes.hpp"

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#if defined(__AVX512F__)
#define BLOOMERY_LANE_VECTOR 64
#elif defined(__AVX2__)
#define BLOOMERY_LANE_VECTOR 32
#elif defined(__SSE2__) || (defined(__aarch64__) && defined(__AARCH64EL__))
#define BLOOMERY_LANE_VECTOR 16
#endif
#endif
#endif

namespace bloomery::detail {

#if defined(BLOOMERY_LANE_VECTOR)

// What listed_lanes does, for all lanes at once; those that the key does not use have a one of 0
// and a counter without bits.
class vector_lanes {
 public:
  explicit vector_lanes(const lane_tables& tables) noexcept : tables_(tables) {}

  [[gnu::always_inline]] [[nodiscard]] bool covered(std::uint64_t hash,
                                                    const std::uint64_t* block) const noexcept {
    return missing(hash, block) == 0;
  }
  // Not 0 when the block lacks a bit of the key.
  [[gnu::always_inline]] [[nodiscard]] std::uint64_t missing(
      std::uint64_t hash, const std::uint64_t* block) const noexcept {
    part bits{};
    for (std::size_t i = 0; i < parts; ++i) {
      if constexpr (part_lanes == 8) {
        // The bits come to the ones, which are in memory: a step less than the other way round, and
        // 0.2 ns. With AVX-512 it is the slower way, by 0.1.
        const part ones = part_of(tables_.ones[rotation_of(hash)].lanes, i);
        bits |= ones & ~(load(block, i) >> bits_of(hash, i));
      } else {
        bits |= key_part(*this, hash, i, 1).one & ~load(block, i);
      }
    }
#if BLOOMERY_LANE_VECTOR == 32
    using floats [[gnu::vector_size(32)]] = float;
    const int signs = __builtin_ia32_movmskps256(reinterpret_cast<floats>(bits << 31U));
    return static_cast<std::uint64_t>(signs);
#else
    return is_zero(bits) ? 0 : 1;
#endif
  }
  [[gnu::always_inline]] void set(std::uint64_t hash, std::uint64_t* block) const noexcept {
    for (std::size_t i = 0; i < parts; ++i) {
      store(block, i, load(block, i) | key_part(*this, hash, i, 1).one);
    }
  }

  [[gnu::always_inline]] [[nodiscard]] bool counted(std::uint64_t hash, const std::uint64_t* block,
                                                    std::uint32_t width) const noexcept {
    part missing{};
    for (std::size_t i = 0; i < parts; ++i) {
      const key_part key(*this, hash, i, width);
      missing |= (load(block, i) & key.cell) == 0 ? key.one : part{};
    }
    return is_zero(missing);
  }
  [[gnu::always_inline]] [[nodiscard]] std::uint32_t least(std::uint64_t hash,
                                                           const std::uint64_t* block,
                                                           std::uint32_t width) const noexcept {
    if constexpr (!shifts) return listed_lanes(tables_).least(hash, block, width);
    part all = ~part{};
    for (std::size_t i = 0; i < parts; ++i) {
      const key_part key(*this, hash, i, width);
      const part count = (load(block, i) & key.cell) >> key.shift;
      all = ((key.one != 0) & (count < all)) ? count : all;
    }
    std::uint32_t smallest = all[0];
    for (std::size_t l = 1; l < part_lanes; ++l) smallest = all[l] < smallest ? all[l] : smallest;
    return smallest;
  }
  [[gnu::always_inline]] void increment(std::uint64_t hash, std::uint64_t* block,
                                        std::uint32_t width) const noexcept {
    for (std::size_t i = 0; i < parts; ++i) {
      const key_part key(*this, hash, i, width);
      const part there = load(block, i);
      store(block, i, there + ((there & key.cell) != key.cell ? key.one : part{}));
    }
  }
  [[gnu::always_inline]] bool decrement(std::uint64_t hash, std::uint64_t* block,
                                        std::uint32_t width) const noexcept {
    part less[parts];
    part missing{};
    for (std::size_t i = 0; i < parts; ++i) {
      const key_part key(*this, hash, i, width);
      const part there = load(block, i);
      missing |= (there & key.cell) == 0 ? key.one : part{};
      less[i] = there - ((there & key.cell) != key.cell ? key.one : part{});
    }
    if (!is_zero(missing)) return false;
    for (std::size_t i = 0; i < parts; ++i) store(block, i, less[i]);
    return true;
  }

 private:
  using part [[gnu::vector_size(BLOOMERY_LANE_VECTOR)]] = std::uint32_t;
  static constexpr std::size_t part_lanes = sizeof(part) / 4;
  static constexpr std::size_t parts = block_geometry::lanes / part_lanes;

  // Whether the machine can shift each lane by its own number.
#if defined(__SSE2__) && !defined(__AVX2__)
  static constexpr bool shifts = false;
#else
  static constexpr bool shifts = true;
#endif

  // The counters of a key in part i of its block: their lowest bits, and all of their bits.
  struct key_part {
    [[gnu::always_inline]] key_part(const vector_lanes& lanes, std::uint64_t hash, std::size_t i,
                                    std::uint32_t width) noexcept {
      const std::size_t rotation = rotation_of(hash);
      if constexpr (shifts) {
        shift = bits_of(hash, i) & ~(width - 1);
        one = part_of(lanes.tables_.ones[rotation].lanes, i) << shift;
      } else {
        // Negative, because 2^31 is too large for a signed number, and -2^31 is not.
        using floats [[gnu::vector_size(BLOOMERY_LANE_VECTOR)]] = float;
        using numbers [[gnu::vector_size(BLOOMERY_LANE_VECTOR)]] = std::int32_t;
        const part exponent = (product_of(hash, i) >> 4U) & (~(width - 1) << 23U & 0x0f800000U);
        const part number = part_of(lanes.tables_.floats[rotation].lanes, i) + exponent;
        one = -reinterpret_cast<part>(
            __builtin_convertvector(reinterpret_cast<floats>(number), numbers));
      }
      cell = (one << width) - one;
    }
    part shift;
    part one;
    part cell;
  };

  [[gnu::always_inline]] static part product_of(std::uint64_t hash, std::size_t i) noexcept {
    return part_of(block_geometry::lane_multiplier, i) * static_cast<std::uint32_t>(hash);
  }
  [[gnu::always_inline]] static part bits_of(std::uint64_t hash, std::size_t i) noexcept {
    return product_of(hash, i) >> 27U;
  }

  template <class Lanes>
  [[gnu::always_inline]] static part part_of(const Lanes& lanes, std::size_t i) noexcept {
    part some;
    std::memcpy(&some, lanes.data() + i * part_lanes, sizeof(part));
    return some;
  }
  [[gnu::always_inline]] static part load(const std::uint64_t* block, std::size_t i) noexcept {
    part lanes;
    std::memcpy(&lanes, block + i * sizeof(part) / 8, sizeof(part));
    return lanes;
  }
  [[gnu::always_inline]] static void store(std::uint64_t* block, std::size_t i,
                                           const part& lanes) noexcept {
    std::memcpy(block + i * sizeof(part) / 8, &lanes, sizeof(part));
  }

  // With AVX2 by one test instead of three shuffles (2.9 against 3.3 ns for a whole `contains`),
  // with AVX-512 by a comparison of the whole block (2.5 against 2.8).
  [[gnu::always_inline]] static bool is_zero(const part& all) noexcept {
    using words [[gnu::vector_size(BLOOMERY_LANE_VECTOR)]] = long long;
    const auto w = reinterpret_cast<words>(all);
#if BLOOMERY_LANE_VECTOR == 64
    constexpr int unequal = 4;
    return __builtin_ia32_cmpq512_mask(w, words{}, unequal, 0xff) == 0;
#elif BLOOMERY_LANE_VECTOR == 32
    return __builtin_ia32_ptestz256(w, w) != 0;
#else
    return (w[0] | w[1]) == 0;
#endif
  }

  const lane_tables& tables_;
};

using built_lanes = vector_lanes;
#else
using built_lanes = listed_lanes;
#endif

// Those of the build, or of the machine where that has better ones.
class block_lanes : public built_lanes {
 public:
  explicit block_lanes(const lane_tables& tables) noexcept
      : built_lanes(tables), machine_(tables) {}

  // In a block, or in the key's own of so many.
  [[gnu::always_inline]] [[nodiscard]] bool covered(std::uint64_t hash,
                                                    const std::uint64_t* block) const noexcept {
    return covered_at(hash, block, the_first{});
  }
  [[gnu::always_inline]] [[nodiscard]] bool covered_in(std::uint64_t hash,
                                                       const std::uint64_t* words,
                                                       std::uint64_t blocks) const noexcept {
    return covered_at(hash, words, its_own{hash, blocks});
  }
  [[gnu::always_inline]] void set(std::uint64_t hash, std::uint64_t* block) const noexcept {
    set_at(hash, block, the_first{});
  }
  [[gnu::always_inline]] void set_in(std::uint64_t hash, std::uint64_t* words,
                                     std::uint64_t blocks) const noexcept {
    set_at(hash, words, its_own{hash, blocks});
  }

 private:
  // Where the block begins. Found after the branch that tells what the machine has, and added by
  // assembly on the way: the fewest instructions that way.
  struct the_first {
    [[gnu::always_inline]] [[nodiscard]] std::uint64_t word() const noexcept { return 0; }
  };
  struct its_own {
    std::uint64_t hash;
    std::uint64_t blocks;

    [[gnu::always_inline]] [[nodiscard]] std::uint64_t word() const noexcept {
      return multiply_high(hash, blocks) * (block_geometry::lanes / 2);
    }
  };

  template <class Where>
  [[gnu::always_inline]] [[nodiscard]] bool covered_at(std::uint64_t hash,
                                                       const std::uint64_t* words,
                                                       const Where& where) const noexcept {
    std::uint64_t missing = missing_at(hash, words, where);
    // One comparison for all ways, or the best takes two instructions more.
    asm("" : "+r"(missing));
    return missing == 0;
  }
  template <class Where>
  [[gnu::always_inline]] [[nodiscard]] std::uint64_t missing_at(std::uint64_t hash,
                                                                const std::uint64_t* words,
                                                                const Where& where) const noexcept {
#if defined(BLOOMERY_AVX512_LANES)
    if (avx512_lanes::in_every_machine || machine_.level == x86_level::avx512) [[likely]] {
      return avx512_lanes::missing(machine_, hash, words + where.word());
    }
#endif
#if defined(BLOOMERY_AVX2_LANES)
    if (machine_.level >= x86_level::avx2) [[likely]] {
      return avx2_lanes::missing(machine_, hash, words, where.word());
    }
#endif
    return built_lanes::missing(hash, words + where.word());
  }
  template <class Where>
  [[gnu::always_inline]] void set_at(std::uint64_t hash, std::uint64_t* words,
                                     const Where& where) const noexcept {
#if defined(BLOOMERY_AVX512_LANES)
    if (avx512_lanes::in_every_machine || machine_.level == x86_level::avx512) [[likely]] {
      return avx512_lanes::set(machine_, hash, words + where.word());
    }
#endif
#if defined(BLOOMERY_AVX2_LANES)
    if (machine_.level >= x86_level::avx2) [[likely]] {
      return avx2_lanes::set(machine_, hash, words + where.word());
    }
#endif
    built_lanes::set(hash, words + where.word());
  }

  [[maybe_unused]] const lane_tables& machine_;
};

}  // namespace bloomery::detail
