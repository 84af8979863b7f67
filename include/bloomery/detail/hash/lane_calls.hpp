// One key and its block, behind pointers to functions: how a program that is built for any x86-64
// reaches AVX2. No compiler inlines a function for another machine than the caller's, so this costs
// a call, about a nanosecond; the SSE2 that such a program could inline is slower by four to eight.
#pragma once

#include <cstdint>

#include "bloomery/detail/hash/lane_tables.hpp"

namespace bloomery::detail {

// What listed_lanes does, for the tables of a number of probes.
struct lane_calls {
  bool (*covered)(const lane_tables& tables, std::uint64_t hash,
                  const std::uint64_t* block) noexcept;
  bool (*set)(const lane_tables& tables, std::uint64_t hash, std::uint64_t* block) noexcept;
  bool (*covered_in)(const lane_tables& tables, std::uint64_t hash, const std::uint64_t* block,
                     const lane_planes& planes) noexcept;
  bool (*set_in)(const lane_tables& tables, std::uint64_t hash, std::uint64_t* block,
                 const lane_planes& planes) noexcept;
  bool (*counted)(const lane_tables& tables, std::uint64_t hash, const std::uint64_t* block,
                  const counter_cells& cells) noexcept;
  std::uint32_t (*least)(const lane_tables& tables, std::uint64_t hash, const std::uint64_t* block,
                         const counter_cells& cells) noexcept;
  bool (*increment)(const lane_tables& tables, std::uint64_t hash, std::uint64_t* block,
                    const counter_cells& cells) noexcept;
  bool (*decrement)(const lane_tables& tables, std::uint64_t hash, std::uint64_t* block,
                    const counter_cells& cells) noexcept;
};

// Those of the instruction set that this process uses: the one that the loops over many keys use,
// and the environment variable BLOOMERY_KERNEL chooses it for both. From src/kernel/blocked.
[[nodiscard]] const lane_calls& lane_calls_chosen() noexcept;

// The same for split blocks, whose lanes need no tables. From src/kernel/split_block.
struct split_lane_calls {
  bool (*covered)(std::uint64_t hash, const std::uint64_t* block) noexcept;
  bool (*set)(std::uint64_t hash, std::uint64_t* block) noexcept;
};
[[nodiscard]] const split_lane_calls& split_lane_calls_chosen() noexcept;

// The first calls with the face of listed_lanes.
class called_lanes {
 public:
  called_lanes(const lane_tables& tables, const lane_calls& calls) noexcept
      : tables_(tables), calls_(calls) {}

  [[nodiscard]] bool covered(std::uint64_t hash, const std::uint64_t* block) const noexcept {
    return calls_.covered(tables_, hash, block);
  }
  bool set(std::uint64_t hash, std::uint64_t* block) const noexcept {
    return calls_.set(tables_, hash, block);
  }
  [[nodiscard]] bool covered_in(std::uint64_t hash, const std::uint64_t* block,
                                const lane_planes& planes) const noexcept {
    return calls_.covered_in(tables_, hash, block, planes);
  }
  bool set_in(std::uint64_t hash, std::uint64_t* block, const lane_planes& planes) const noexcept {
    return calls_.set_in(tables_, hash, block, planes);
  }
  [[nodiscard]] bool counted(std::uint64_t hash, const std::uint64_t* block,
                             const counter_cells& cells) const noexcept {
    return calls_.counted(tables_, hash, block, cells);
  }
  [[nodiscard]] std::uint32_t least(std::uint64_t hash, const std::uint64_t* block,
                                    const counter_cells& cells) const noexcept {
    return calls_.least(tables_, hash, block, cells);
  }
  bool increment(std::uint64_t hash, std::uint64_t* block,
                 const counter_cells& cells) const noexcept {
    return calls_.increment(tables_, hash, block, cells);
  }
  bool decrement(std::uint64_t hash, std::uint64_t* block,
                 const counter_cells& cells) const noexcept {
    return calls_.decrement(tables_, hash, block, cells);
  }

 private:
  const lane_tables& tables_;
  const lane_calls& calls_;
};

}  // namespace bloomery::detail
