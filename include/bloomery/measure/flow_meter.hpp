// From captured packets to heavy flows: parses, sorts by flow, counts, and ends intervals by the
// times of the packets. What it could not count it says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bloomery/detail/core/function_ref.hpp"
#include "bloomery/measure/flow_key.hpp"
#include "bloomery/measure/flows.hpp"
#include "bloomery/measure/packet.hpp"
#include "bloomery/measure/spread.hpp"

namespace bloomery {

struct meter_options {
  flow_rule rule = {};
  flow_options flows = {};
  parse_options parsing = {};
  std::uint64_t interval_ns = 0;  // 0: all packets are one interval
  // Counts with how many a flow talks, instead of its bytes.
  std::optional<spread_over> distinct = {};
};

// All that was seen in an interval.
struct flow_totals {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;         // on the wire
  std::uint64_t other = 0;         // packets that are no IP,
  std::uint64_t snapped = 0;       // whose captured part ends before what the flow is made of,
  std::uint64_t malformed = 0;     // whose headers contradict each other,
  std::uint64_t unknown_link = 0;  // of links that are not understood: all in no flow.
  std::uint64_t late = 0;          // packets from before the interval, which counts them
  std::uint64_t first_ns = 0;      // where the interval begins
  std::uint64_t last_ns = 0;       // the latest packet

  [[nodiscard]] std::uint64_t left_out() const noexcept {
    return other + snapped + malformed + unknown_link;
  }
};

class flow_meter {
 public:
  explicit flow_meter(const meter_options& o);

  // Called when a packet belongs to another interval, before it is counted. Intervals follow each
  // other from the first packet on; those without packets are left out. A packet from more than an
  // interval before the one that is open begins anew.
  using interval_end = detail::function_ref<void(const flow_meter&)>;
  void add(std::span<const captured_packet> packets, const interval_end& ended);
  // Ends the interval when it is over by this time, though no packet says so.
  void advance(std::uint64_t time_ns, const interval_end& ended);

  [[nodiscard]] const flow_totals& seen() const noexcept { return seen_; }
  // What the options ask for: one of them is there.
  [[nodiscard]] const heavy_flows& flows() const noexcept { return *flows_; }
  [[nodiscard]] const spread_counter& spread() const noexcept { return *spread_; }
  [[nodiscard]] const meter_options& options() const noexcept { return options_; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  [[nodiscard]] bool is_in_interval(std::uint64_t time_ns) const noexcept;
  void begin_interval(std::uint64_t time_ns);
  void count(const captured_packet& p);
  void count_other(const captured_packet& p);
  void flush();

  meter_options options_;
  bool plain_;  // five_tuple and nothing else
  flow_totals seen_;
  std::uint64_t next_ns_ = 0;  // when the interval ends
  std::optional<heavy_flows> flows_;
  std::optional<spread_counter> spread_;
  std::array<flow_packet, 64> waiting_{};  // counted together
  std::size_t waiting_count_ = 0;
};

}  // namespace bloomery
