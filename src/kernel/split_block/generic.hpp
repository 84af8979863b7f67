// The split-block kernels over the calls for one key: Lanes is one of the forms of
// detail/hash/split_lanes.hpp, and arrays of at most `Cached` bytes are taken to be in the cache.
// Included after the instruction set has been switched on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/hash/split_lanes.hpp"
#include "kernel/blocked/scalar.hpp"

namespace bloomery::kernel {

namespace {

template <class Lanes, std::uint64_t Cached>
class generic_split : public scalar_stage {
 public:
  static constexpr std::uint64_t cached_bytes = Cached;

  using scalar_stage::scalar_stage;

  [[gnu::always_inline]] [[nodiscard]] bool covers(const key_ring& ring, std::size_t at,
                                                   const std::uint64_t* block) const noexcept {
    return Lanes::covered(ring.hash[at], block);
  }
  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    Lanes::set(ring.hash[at], block);
  }
};

// The calls for one key themselves, for programs that are built for another instruction set.
template <class Lanes>
struct one_split_key {
  static bool covered(std::uint64_t hash, const std::uint64_t* block) noexcept {
    return Lanes::covered(hash, block);
  }
  static bool set(std::uint64_t hash, std::uint64_t* block) noexcept {
    return Lanes::set(hash, block);
  }

  static constexpr detail::split_lane_calls calls = {.covered = covered, .set = set};
};

}  // namespace

}  // namespace bloomery::kernel
