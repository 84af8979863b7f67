// Blocks by the calls for one key, which are in the vectors of the compiler: the kernels of
// machines where those are as good as any, and those of the build alone. `Cached` is the size below
// which an array is taken to be in the cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/hash/block_lanes.hpp"
#include "scalar.hpp"

namespace bloomery::kernel {

namespace {

template <std::uint64_t Cached>
class generic_bits : public scalar_stage {
 public:
  static constexpr std::uint64_t cached_bytes = Cached;

  template <class Word>
  generic_bits(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : scalar_stage(array, spread_seed), tables_(array.probes) {}

  [[gnu::always_inline]] [[nodiscard]] bool covers(const key_ring& ring, std::size_t at,
                                                   const std::uint64_t* block) const noexcept {
    return detail::built_lanes(tables_).covered(ring.hash[at], block);
  }
  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    detail::built_lanes(tables_).set(ring.hash[at], block);
  }
  [[gnu::always_inline]] [[nodiscard]] bool set_new(const key_ring& ring, std::size_t at,
                                                    std::uint64_t* block) const noexcept {
    const bool is_new = !covers(ring, at, block);
    set(ring, at, block);
    return is_new;
  }

 private:
  detail::lane_tables tables_;
};

template <std::uint64_t Cached>
class generic_counters : public scalar_stage {
 public:
  static constexpr std::uint64_t cached_bytes = Cached;

  template <class Word>
  generic_counters(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : scalar_stage(array, spread_seed), tables_(array.probes), width_(array.width) {}

  [[gnu::always_inline]] [[nodiscard]] bool covers(const key_ring& ring, std::size_t at,
                                                   const std::uint64_t* block) const noexcept {
    return detail::built_lanes(tables_).counted(ring.hash[at], block, width_);
  }
  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    detail::built_lanes(tables_).increment(ring.hash[at], block, width_);
  }
  [[gnu::always_inline]] [[nodiscard]] bool take(const key_ring& ring, std::size_t at,
                                                 std::uint64_t* block) const noexcept {
    return detail::built_lanes(tables_).decrement(ring.hash[at], block, width_);
  }
  [[gnu::always_inline]] [[nodiscard]] std::uint64_t least(
      const key_ring& ring, std::size_t at, const std::uint64_t* block) const noexcept {
    return detail::built_lanes(tables_).least(ring.hash[at], block, width_);
  }

 private:
  detail::lane_tables tables_;
  std::uint32_t width_;
};

}  // namespace

}  // namespace bloomery::kernel
