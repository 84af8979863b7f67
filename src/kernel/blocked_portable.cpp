// The blocked kernels for every machine: the used lanes of a key, one after the other, from a list.
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "blocked_scalar.hpp"
#include "bloomery/core/block_geometry.hpp"
#include "bloomery/hash/lane_tables.hpp"

namespace bloomery::kernel {

namespace {

// The steps for one key, for each number of probes unrolled: a loop over a number that is not known takes twice as
// long. Out of line, so that there is one copy of each and not one for each place in the pipeline; the call costs
// less than a nanosecond, since where it goes is always the same.
template <std::size_t... J>
bool covers_lanes(std::uint32_t x, const detail::lane_step* steps, const std::uint64_t* block,
                  std::index_sequence<J...>) noexcept {
  // All lanes without a branch on the outcome, which would often be mispredicted.
  return ((detail::load_lane(block, steps[J].lane) >> ((x * steps[J].multiplier) >> 27U)) & ... &
          1U) != 0;
}

template <std::size_t... J>
void set_lanes(std::uint32_t x, const detail::lane_step* steps, std::uint64_t* block,
               std::index_sequence<J...>) noexcept {
  const auto set = [&](const detail::lane_step& step) {
    const std::uint32_t bit = (x * step.multiplier) >> 27U;
    detail::store_lane(block, step.lane,
                       detail::load_lane(block, step.lane) | std::uint32_t{1} << bit);
  };
  (set(steps[J]), ...);
}

struct lane_calls {
  bool (*covers)(std::uint32_t x, const detail::lane_step* steps,
                 const std::uint64_t* block) noexcept;
  void (*set)(std::uint32_t x, const detail::lane_step* steps, std::uint64_t* block) noexcept;
};

template <std::size_t Probes>
constexpr lane_calls calls_for = {
    [](std::uint32_t x, const detail::lane_step* steps, const std::uint64_t* block) noexcept {
      return covers_lanes(x, steps, block, std::make_index_sequence<Probes>());
    },
    [](std::uint32_t x, const detail::lane_step* steps, std::uint64_t* block) noexcept {
      set_lanes(x, steps, block, std::make_index_sequence<Probes>());
    }};

template <std::size_t... K>
constexpr std::array<lane_calls, sizeof...(K)> calls_table(std::index_sequence<K...>) noexcept {
  return {calls_for<K + 1>...};
}

// calls_of[k - 1] are those of k probes.
constexpr auto calls_of = calls_table(std::make_index_sequence<block_geometry::lanes>());

class portable : public scalar_stage {
 public:
  // Measured at 1.25 MB: 8.7 ns a key without prefetch, 7.1 with.
  static constexpr std::uint64_t cached_bytes = std::uint64_t{256} << 10U;

  portable(std::uint64_t blocks, std::uint32_t probes, std::uint64_t spread_seed) noexcept
      : scalar_stage(blocks, spread_seed),
        calls_(calls_of[probes - 1]),
        steps_(detail::steps_of_lanes[probes].data()) {}

  [[gnu::always_inline]] [[nodiscard]] bool covers(const key_ring& ring, std::size_t at,
                                                   const std::uint64_t* block) const noexcept {
    const auto x = static_cast<std::uint32_t>(ring.hash[at]);
    return calls_.covers(x, steps_[detail::rotation_of(x)].data(), block);
  }

  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    const auto x = static_cast<std::uint32_t>(ring.hash[at]);
    calls_.set(x, steps_[detail::rotation_of(x)].data(), block);
  }

 private:
  lane_calls calls_;
  const detail::lane_steps* steps_;
};

}  // namespace

const blocked_kernels blocked_portable = {contains_run<portable>, add_run<portable>, mix_each};

}  // namespace bloomery::kernel
