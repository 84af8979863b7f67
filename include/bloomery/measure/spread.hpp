// Who talks to many: sources of scans (one source, many destinations or ports), targets of floods
// (one destination, many sources), without keeping the pairs.
//
// All flows share one bitmap. The pair of a flow and whom it talks to has one bit of it, and is new
// when that bit was 0. A new pair stands for the ones that fell on bits that were set already: it
// counts bits / zeros, which makes the sum right in the mean at any load (linear counting, Whang,
// Vander-Zanden and Taylor 1990, updated while it runs as by Ting 2014). What these counts come to
// for each flow is kept as bytes are: by heavy_flows, in little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/measure/flows.hpp"

namespace bloomery {

enum class spread_over : std::uint8_t { source, destination, port };  // of destinations

struct spread_count {
  flow_key flow;
  double distinct = 0;        // how many, about
  double standard_error = 0;  // of that, because pairs share bits
  double surplus = 0;         // and it may be too high by this, because flows share buckets
};

class spread_counter {
 public:
  // Half of the memory is the bitmap. The threshold of the options is a number of pairs.
  spread_counter(spread_over over, const flow_options& o);

  // A packet of the flow. One without ports has no part in a spread over ports.
  void add(const flow_key& flow, const parsed_packet& p);

  // The largest first.
  [[nodiscard]] std::vector<spread_count> list(double least, std::size_t most = SIZE_MAX) const;
  // Every flow that has at least so many is listed.
  [[nodiscard]] double threshold() const noexcept;
  // How many pairs there were in all, and whether there are too many for the bitmap.
  [[nodiscard]] double pairs() const noexcept;
  [[nodiscard]] bool full() const noexcept { return zeros_ == 0; }

  void next_interval();
  [[nodiscard]] std::size_t capacity() const noexcept { return flows_.capacity(); }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
    return flows_.memory_bytes() + bitmap_.words().size_bytes();
  }

 private:
  spread_over over_;
  secret_hasher hasher_;
  bit_array bitmap_;
  std::uint64_t bits_;
  std::uint64_t zeros_;
  heavy_flows flows_;  // its bytes are pairs in fixed point
};

}  // namespace bloomery
