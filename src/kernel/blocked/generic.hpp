// The blocked kernels over the calls for one key: Lanes is one of the forms that
// detail/hash/block_lanes.hpp lists, and arrays of at most `Cached` bytes are taken to be in the
// cache. Included like loop.hpp, after the instruction set has been switched on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/hash/lane_calls.hpp"
#include "bloomery/detail/hash/lane_tables.hpp"
#include "bloomery/detail/hash/vector_lanes.hpp"
#include "scalar.hpp"

namespace bloomery::kernel {

namespace {

template <class Lanes, std::uint64_t Cached>
class generic_bits : public scalar_stage {
 public:
  static constexpr std::uint64_t cached_bytes = Cached;

  template <class Word>
  generic_bits(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : scalar_stage(array, spread_seed), tables_(array.probes) {}

  [[gnu::always_inline]] [[nodiscard]] bool covers(const key_ring& ring, std::size_t at,
                                                   const std::uint64_t* block) const noexcept {
    return Lanes(tables_).covered(ring.hash[at], block);
  }
  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    Lanes(tables_).set(ring.hash[at], block);
  }
  [[gnu::always_inline]] [[nodiscard]] bool set_new(const key_ring& ring, std::size_t at,
                                                    std::uint64_t* block) const noexcept {
    return Lanes(tables_).set(ring.hash[at], block);
  }

 private:
  detail::lane_tables tables_;
};

template <class Lanes, std::uint64_t Cached>
class generic_planes : public scalar_stage {
 public:
  static constexpr std::uint64_t cached_bytes = Cached;

  template <class Word>
  generic_planes(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : scalar_stage(array, spread_seed), tables_(array.probes), planes_(array.planes) {}

  [[gnu::always_inline]] [[nodiscard]] bool covers(const key_ring& ring, std::size_t at,
                                                   const std::uint64_t* block) const noexcept {
    return Lanes(tables_).covered_in(ring.hash[at], block, planes_);
  }
  [[gnu::always_inline]] [[nodiscard]] bool set_new(const key_ring& ring, std::size_t at,
                                                    std::uint64_t* block) const noexcept {
    return Lanes(tables_).set_in(ring.hash[at], block, planes_);
  }

 private:
  detail::lane_tables tables_;
  detail::lane_planes planes_;
};

template <class Lanes, std::uint64_t Cached>
class generic_counters : public scalar_stage {
 public:
  static constexpr std::uint64_t cached_bytes = Cached;

  template <class Word>
  generic_counters(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : scalar_stage(array, spread_seed), tables_(array.probes), cells_(array.width) {}

  [[gnu::always_inline]] [[nodiscard]] bool covers(const key_ring& ring, std::size_t at,
                                                   const std::uint64_t* block) const noexcept {
    return Lanes(tables_).counted(ring.hash[at], block, cells_);
  }
  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    Lanes(tables_).increment(ring.hash[at], block, cells_);
  }
  [[gnu::always_inline]] [[nodiscard]] bool take(const key_ring& ring, std::size_t at,
                                                 std::uint64_t* block) const noexcept {
    return Lanes(tables_).decrement(ring.hash[at], block, cells_);
  }
  [[gnu::always_inline]] [[nodiscard]] std::uint64_t least(
      const key_ring& ring, std::size_t at, const std::uint64_t* block) const noexcept {
    return Lanes(tables_).least(ring.hash[at], block, cells_);
  }

 private:
  detail::lane_tables tables_;
  detail::counter_cells cells_;
};

// The calls for one key themselves, for programs that are built for another instruction set.
template <class Lanes>
struct one_key {
  using tables = detail::lane_tables;
  using planes = detail::lane_planes;
  using cells = detail::counter_cells;

  static bool covered(const tables& t, std::uint64_t hash, const std::uint64_t* block) noexcept {
    return Lanes(t).covered(hash, block);
  }
  static bool set(const tables& t, std::uint64_t hash, std::uint64_t* block) noexcept {
    return Lanes(t).set(hash, block);
  }
  static bool covered_in(const tables& t, std::uint64_t hash, const std::uint64_t* block,
                         const planes& p) noexcept {
    return Lanes(t).covered_in(hash, block, p);
  }
  static bool set_in(const tables& t, std::uint64_t hash, std::uint64_t* block,
                     const planes& p) noexcept {
    return Lanes(t).set_in(hash, block, p);
  }
  static bool counted(const tables& t, std::uint64_t hash, const std::uint64_t* block,
                      const cells& c) noexcept {
    return Lanes(t).counted(hash, block, c);
  }
  static std::uint32_t least(const tables& t, std::uint64_t hash, const std::uint64_t* block,
                             const cells& c) noexcept {
    return Lanes(t).least(hash, block, c);
  }
  static bool increment(const tables& t, std::uint64_t hash, std::uint64_t* block,
                        const cells& c) noexcept {
    return Lanes(t).increment(hash, block, c);
  }
  static bool decrement(const tables& t, std::uint64_t hash, std::uint64_t* block,
                        const cells& c) noexcept {
    return Lanes(t).decrement(hash, block, c);
  }

  static constexpr detail::lane_calls calls = {.covered = covered,
                                               .set = set,
                                               .covered_in = covered_in,
                                               .set_in = set_in,
                                               .counted = counted,
                                               .least = least,
                                               .increment = increment,
                                               .decrement = decrement};
};

}  // namespace

}  // namespace bloomery::kernel
