// Hash + shape -> positions: the bits of the array that belong to a key.
//
// Each scheme is a small class with the same face, which detail/filter/bit_filter.hpp is written
// against:
//
//     hash_type                what it takes: one 64-bit hash, or a foreign digest
//     scheme(shape)            keeps what it needs of the shape
//     all_of(hash, test)       true when test(position) holds for every position of the key
//     lines(hash, touch)       touch(position) once for each cache line that the key may need
//
// and, where there is a faster way than by positions,
//
//     contained_in(words, hash), add_to(words, hash)
//
// The arithmetic is frozen; docs/format.md is its normative text. The range reduction is
// multiply-high and the next position comes from a multiplier that does not depend on the size. So
// every size works, and since floor(floor(h m / 2^64) / 2) = floor(h (m/2) / 2^64), halving the
// size is an OR of neighbours.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "bloomery/core/error.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/detail/hash/block_arithmetic.hpp"
#include "bloomery/detail/hash/block_lanes.hpp"
#include "bloomery/detail/hash/split_lanes.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

// Odd, from the best spectral multipliers of Steele and Vigna 2021. The successive h * c^j are as
// good as independent for the filter: measured 0.999 to 1.010 of the theory for 3 to 20 probes.
inline constexpr std::uint64_t next_probe_multiplier = 0xd1342543de82ef95U;

namespace detail {

// The positions of a key, one after the other: position j is j * step + high64((h c^j) * range).
// With a step of 0 all probes share the array; otherwise each has a slice of its own.
class position_walk {
 public:
  [[gnu::always_inline]] position_walk(std::uint64_t hash, std::uint64_t range,
                                       std::uint64_t step) noexcept
      : hash_(hash), range_(range), step_(step) {}

  [[gnu::always_inline]] std::uint64_t next() noexcept {
    const std::uint64_t position = base_ + multiply_high(hash_, range_);
    hash_ *= next_probe_multiplier;
    base_ += step_;
    return position;
  }

 private:
  std::uint64_t hash_;
  std::uint64_t range_;
  std::uint64_t step_;
  std::uint64_t base_ = 0;
};

}  // namespace detail

// Classic: position j = high64((h c^j) * bits).
// Partitioned: position j = j * slice + high64((h c^j) * slice), where slice = bits / probes.
template <filter_kind Kind>
class scattered_probes {
 public:
  using hash_type = std::uint64_t;
  static constexpr filter_kind kind = Kind;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  explicit scattered_probes(const shape& s) noexcept
      : range_(in_slices ? s.bits / s.probes : s.bits), probes_(s.probes) {}

  template <class Test>
  bool all_of(std::uint64_t hash, Test test) const noexcept {
    detail::position_walk walk(hash, range_, in_slices ? range_ : 0);
    for (std::uint32_t j = 0; j < probes_; ++j) {
      if (!test(walk.next())) return false;
    }
    return true;
  }

  template <class Touch>
  void lines(std::uint64_t hash, Touch touch) const noexcept {
    all_of(hash, [&](std::uint64_t position) {
      touch(position);
      return true;
    });
  }

 private:
  static constexpr bool in_slices = Kind == filter_kind::partitioned;

  std::uint64_t range_;
  std::uint32_t probes_;
};

using classic_probes = scattered_probes<filter_kind::classic>;
using partitioned_probes = scattered_probes<filter_kind::partitioned>;

// The bits of a key in its block.
template <std::uint32_t Bits>
struct mask_of_block {
  std::array<std::uint64_t, Bits / 64> words{};  // little-endian, as the block

  // How many of its bits are set in a block.
  [[nodiscard]] std::uint64_t bits_set(const std::uint64_t* block) const noexcept {
    std::uint64_t set = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      set += static_cast<std::uint64_t>(std::popcount(words[i] & block[i]));
    }
    return set;
  }
};
using block_mask = mask_of_block<bits_per_block>;

// Blocked: all in block high64(h * blocks), of 64 bytes. Inside, x = h mod 2^32 gives the rotation
// of the lane pattern (bits 16 to 19) and, times a multiplier for each lane, the bit there.
class blocked_probes {
 public:
  using hash_type = std::uint64_t;
  static constexpr filter_kind kind = filter_kind::blocked;
  static constexpr probe_scheme scheme = probe_scheme::multiply;
  static constexpr std::uint32_t block_bits = bits_per_block;

  explicit blocked_probes(const shape& s) noexcept
      : blocks_(s.bits / bits_per_block), tables_(s.probes), calls_(&detail::lane_calls_chosen()) {}

  template <class Test>
  bool all_of(std::uint64_t hash, Test test) const noexcept {
    const std::uint64_t base = block_of(hash) * bits_per_block;
    return detail::listed_lanes(tables_).all_of(hash, [&](std::uint64_t lane, std::uint64_t bit) {
      return test(base + lane * block_geometry::lane_bits + bit);
    });
  }

  // Whether all bits of the key are set; sets them, and says whether one was not. The same as with
  // all_of, faster.
  [[gnu::always_inline]] [[nodiscard]] bool contained_in(const std::uint64_t* words,
                                                         std::uint64_t hash) const noexcept {
    return lanes().covered(hash, words + block_of(hash) * (bits_per_block / 64));
  }
  [[gnu::always_inline]] bool add_to(std::uint64_t* words, std::uint64_t hash) const noexcept {
    return lanes().set(hash, words + block_of(hash) * (bits_per_block / 64));
  }
  // For what keeps other things than bits in the lanes.
  [[gnu::always_inline]] [[nodiscard]] detail::block_lanes lanes() const noexcept {
    return {tables_, *calls_};
  }

  // The lanes that a key uses, as bits.
  [[nodiscard]] std::uint32_t lanes_of(std::uint64_t hash) const noexcept {
    const auto rotation = static_cast<int>(detail::pattern_rotation(hash));
    return std::rotr(block_geometry::lane_pattern[tables_.probes], rotation);
  }

  [[nodiscard]] block_mask mask_of(std::uint64_t hash) const noexcept {
    block_mask mask;
    lanes().set(hash, mask.words.data());
    return mask;
  }

  template <class Touch>
  void lines(std::uint64_t hash, Touch touch) const noexcept {
    touch(block_of(hash) * bits_per_block);
  }

  [[nodiscard]] std::uint64_t block_of(std::uint64_t hash) const noexcept {
    return detail::block_number(hash, blocks_);
  }

 private:
  // No detail::block_lanes: the layout must not depend on how the including program is built.
  std::uint64_t blocks_;
  detail::lane_tables tables_;
  const detail::lane_calls* calls_;
};

// Split block: all in block high64(h * blocks), of 32 bytes. Inside, x = h mod 2^32 times the
// multiplier of each of the eight lanes gives the bit there.
class split_block_probes {
 public:
  using hash_type = std::uint64_t;
  static constexpr filter_kind kind = filter_kind::split_block;
  static constexpr probe_scheme scheme = probe_scheme::multiply;
  static constexpr std::uint32_t block_bits = bits_per_split_block;

  explicit split_block_probes(const shape& s) noexcept
      : blocks_(s.bits / block_bits), calls_(&detail::split_lane_calls_chosen()) {}

  template <class Test>
  bool all_of(std::uint64_t hash, Test test) const noexcept {
    const std::uint64_t base = block_of(hash) * block_bits;
    return detail::listed_split_lanes::all_of(hash, [&](std::uint64_t lane, std::uint64_t bit) {
      return test(base + lane * block_geometry::lane_bits + bit);
    });
  }

  [[gnu::always_inline]] [[nodiscard]] bool contained_in(const std::uint64_t* words,
                                                         std::uint64_t hash) const noexcept {
    return lanes().covered(hash, words + block_of(hash) * (block_bits / 64));
  }
  [[gnu::always_inline]] bool add_to(std::uint64_t* words, std::uint64_t hash) const noexcept {
    return lanes().set(hash, words + block_of(hash) * (block_bits / 64));
  }
  [[gnu::always_inline]] [[nodiscard]] detail::split_lanes lanes() const noexcept {
    return detail::split_lanes(*calls_);
  }

  [[nodiscard]] mask_of_block<block_bits> mask_of(std::uint64_t hash) const noexcept {
    mask_of_block<block_bits> mask;
    lanes().set(hash, mask.words.data());
    return mask;
  }

  template <class Touch>
  void lines(std::uint64_t hash, Touch touch) const noexcept {
    touch(block_of(hash) * block_bits);
  }

  [[nodiscard]] std::uint64_t block_of(std::uint64_t hash) const noexcept {
    return detail::block_number(hash, blocks_);
  }

 private:
  std::uint64_t blocks_;
  const detail::split_lane_calls* calls_;
};

// Whether these are positions of a shard (detail/hash/shard_probe.hpp), which has some keys only.
template <class Probes>
concept sharded =
    requires(const Probes& p, const typename Probes::hash_type& hash) { p.owns(hash); };

// Whether all positions of a key are in one block, of Probes::block_bits bits.
template <class Probes>
concept in_blocks =
    requires(const Probes& p, const typename Probes::hash_type& hash) { p.block_of(hash); };

namespace detail {

// Throws errc::mismatch when a digest has too few words: the rest would all be the same position.
inline void check_words(std::uint32_t words, std::uint32_t probes) {
  if (words >= probes) return;
  detail::fail(errc::mismatch, "the hash makes " + to_text(std::uint64_t{words}) +
                                   " words, but the filter has " + to_text(std::uint64_t{probes}) +
                                   " probes");
}

}  // namespace detail

// Foreign digests: position j = word j modulo bits. The array is a classic one.
class digest_probes {
 public:
  using hash_type = digest;
  static constexpr filter_kind kind = filter_kind::classic;
  static constexpr probe_scheme scheme = probe_scheme::modulo;

  explicit digest_probes(const shape& s) noexcept : bits_(s.bits), probes_(s.probes) {}

  template <class Test>
  bool all_of(const digest& d, Test test) const noexcept {
    for (std::uint32_t j = 0; j < probes_; ++j) {
      if (!test(d.words[j] % bits_)) return false;
    }
    return true;
  }

  template <class Touch>
  void lines(const digest& d, Touch touch) const noexcept {
    for (std::uint32_t j = 0; j < probes_; ++j) touch(d.words[j] % bits_);
  }

 private:
  std::uint64_t bits_;
  std::uint32_t probes_;
};

}  // namespace bloomery
