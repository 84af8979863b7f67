// The blocked kernels for every machine: the used lanes of a key, one after the other, from a list.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "blocked_scalar.hpp"
#include "blocked_tables.hpp"
#include "bloomery/core/block_geometry.hpp"

namespace bloomery::kernel {

namespace {

// A lane as a number: blocks are little-endian on every machine.
[[gnu::always_inline]] inline std::uint32_t load_lane(const std::uint64_t* block,
                                                      std::size_t lane) noexcept {
  std::uint32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const unsigned char*>(block) + lane * 4, sizeof value);
  return std::endian::native == std::endian::little ? value : __builtin_bswap32(value);
}

[[gnu::always_inline]] inline void store_lane(std::uint64_t* block, std::size_t lane,
                                              std::uint32_t value) noexcept {
  if constexpr (std::endian::native != std::endian::little) value = __builtin_bswap32(value);
  std::memcpy(reinterpret_cast<unsigned char*>(block) + lane * 4, &value, sizeof value);
}

// The steps for one key, for each number of probes unrolled: a loop over a number that is not known takes twice as
// long. Out of line, so that there is one copy of each and not one for each place in the pipeline; the call costs
// less than a nanosecond, since where it goes is always the same.
template <std::size_t... J>
bool covers_lanes(std::uint32_t x, const std::uint8_t* list, const std::uint64_t* block,
                  std::index_sequence<J...>) noexcept {
  // All lanes without a branch on the outcome, which would often be mispredicted.
  return ((load_lane(block, list[J]) >> ((x * block_geometry::lane_multiplier[list[J]]) >> 27U)) &
          ... & 1U) != 0;
}

template <std::size_t... J>
void set_lanes(std::uint32_t x, const std::uint8_t* list, std::uint64_t* block,
               std::index_sequence<J...>) noexcept {
  const auto set = [&](std::size_t lane) {
    const std::uint32_t bit = (x * block_geometry::lane_multiplier[lane]) >> 27U;
    store_lane(block, lane, load_lane(block, lane) | std::uint32_t{1} << bit);
  };
  (set(list[J]), ...);
}

struct lane_steps {
  bool (*covers)(std::uint32_t x, const std::uint8_t* list, const std::uint64_t* block) noexcept;
  void (*set)(std::uint32_t x, const std::uint8_t* list, std::uint64_t* block) noexcept;
};

template <std::size_t Probes>
constexpr lane_steps steps_for = {
    [](std::uint32_t x, const std::uint8_t* list, const std::uint64_t* block) noexcept {
      return covers_lanes(x, list, block, std::make_index_sequence<Probes>());
    },
    [](std::uint32_t x, const std::uint8_t* list, std::uint64_t* block) noexcept {
      set_lanes(x, list, block, std::make_index_sequence<Probes>());
    }};

template <std::size_t... K>
constexpr std::array<lane_steps, sizeof...(K)> steps_table(std::index_sequence<K...>) noexcept {
  return {steps_for<K + 1>...};
}

// steps_of[k - 1] are those of k probes.
constexpr auto steps_of = steps_table(std::make_index_sequence<block_geometry::lanes>());

class portable : public scalar_stage {
 public:
  // Measured at 1.25 MB: 8.7 ns a key without prefetch, 7.1 with.
  static constexpr std::uint64_t cached_bytes = std::uint64_t{256} << 10U;

  portable(std::uint64_t blocks, std::uint32_t probes, std::uint64_t spread_seed) noexcept
      : scalar_stage(blocks, spread_seed),
        steps_(steps_of[probes - 1]),
        lists_(lists_of_lanes[probes].data()) {}

  [[gnu::always_inline]] [[nodiscard]] bool covers(const key_ring& ring, std::size_t at,
                                                   const std::uint64_t* block) const noexcept {
    const auto x = static_cast<std::uint32_t>(ring.hash[at]);
    return steps_.covers(x, lists_[rotation_of(x)].data(), block);
  }

  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    const auto x = static_cast<std::uint32_t>(ring.hash[at]);
    steps_.set(x, lists_[rotation_of(x)].data(), block);
  }

 private:
  lane_steps steps_;
  const block_geometry::lane_list* lists_;
};

}  // namespace

const blocked_kernels blocked_portable = {contains_run<portable>, add_run<portable>, mix_each};

}  // namespace bloomery::kernel
