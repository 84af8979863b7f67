// The blocked kernels with NEON: a block is four vectors. As with AVX2, the ones of the used lanes
// come from a table. Little-endian machines only; a big-endian one has the portable kernels.
#if defined(__aarch64__) && defined(__AARCH64EL__)

#include <arm_neon.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/detail/hash/lane_tables.hpp"
#include "generic.hpp"

namespace bloomery::kernel {

namespace {

class neon : public scalar_stage {
 public:
  // Not measured yet; second-level caches are of this order.
  static constexpr std::uint64_t cached_bytes = std::uint64_t{512} << 10U;

  template <class Word>
  neon(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : scalar_stage(array, spread_seed), ones_(detail::ones_of_lanes[array.probes].data()) {}

  [[gnu::always_inline]] [[nodiscard]] bool covers(const key_ring& ring, std::size_t at,
                                                   const std::uint64_t* block) const noexcept {
    uint32x4_t missing = vdupq_n_u32(0);
    for (std::size_t quarter = 0; quarter < 4; ++quarter) {
      const uint32x4_t there = vreinterpretq_u32_u64(vld1q_u64(block + quarter * 2));
      missing = vorrq_u32(missing, vbicq_u32(mask_of(ring.hash[at], quarter), there));
    }
    return vmaxvq_u32(missing) == 0;
  }

  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    for (std::size_t quarter = 0; quarter < 4; ++quarter) {
      std::uint64_t* const words = block + quarter * 2;
      const uint64x2_t mask = vreinterpretq_u64_u32(mask_of(ring.hash[at], quarter));
      vst1q_u64(words, vorrq_u64(vld1q_u64(words), mask));
    }
  }

  [[gnu::always_inline]] [[nodiscard]] bool set_new(const key_ring& ring, std::size_t at,
                                                    std::uint64_t* block) const noexcept {
    const bool is_new = !covers(ring, at, block);
    set(ring, at, block);
    return is_new;
  }

 private:
  [[gnu::always_inline]] [[nodiscard]] uint32x4_t mask_of(std::uint64_t hash,
                                                          std::size_t quarter) const noexcept {
    const uint32x4_t multipliers = vld1q_u32(block_geometry::lane_multiplier.data() + quarter * 4);
    const uint32x4_t product = vmulq_n_u32(multipliers, static_cast<std::uint32_t>(hash));
    const uint32x4_t ones = vld1q_u32(ones_[detail::rotation_of(hash)].lanes.data() + quarter * 4);
    return vshlq_u32(ones, vreinterpretq_s32_u32(vshrq_n_u32(product, 27)));
  }

  const detail::lane_numbers* ones_;
};

// In the vectors of the compiler, which are these.
using counters = generic_counters<neon::cached_bytes>;

}  // namespace

const blocked_kernels blocked_neon = {
    contains_run<neon>, add_run<neon>,        add_new_run<neon>,   contains_run<counters>,
    add_run<counters>,  remove_run<counters>, count_run<counters>, mix_each};

}  // namespace bloomery::kernel

#endif
