// Flows on a link behind a fair_queue, event by event: some that halve their rate when a packet is
// lost or marked, as TCP does (additive increase, multiplicative decrease, a timeout when the
// window is small), and floods that take no notice.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <queue>
#include <vector>

#include "bloomery/hash/hash.hpp"
#include "bloomery/measure/fair_queue.hpp"

namespace bloomery::simulation {

using namespace std::chrono_literals;

struct flow_result {
  std::uint64_t bytes = 0;  // that came through the link
  std::uint64_t marks = 0;
};

class link {
 public:
  static constexpr std::uint32_t packet_bytes = 1500;

  link(const fair_queue_options& o, queue_time round_trip) : queue_(o), trip_(round_trip) {}

  std::size_t add_answering(bool can_mark) { return add({.can_mark = can_mark}); }
  std::size_t add_flood(double bytes_per_second, bool can_mark, queue_time from = 0s) {
    const double gap = packet_bytes / bytes_per_second;
    return add({.can_mark = can_mark, .gap = queue_time(static_cast<std::int64_t>(gap * 1e9))},
               from);
  }

  void run(queue_time until) {
    while (!events_.empty() && events_.top().at <= until) {
      const event e = events_.top();
      events_.pop();
      drain(e.at);
      handle(e);
    }
    drain(until);
  }
  void forget_results() { results_.assign(flows_.size(), {}); }

  [[nodiscard]] const flow_result& result(std::size_t flow) const { return results_[flow]; }
  [[nodiscard]] const fair_queue& queue() const { return queue_; }
  [[nodiscard]] static std::uint64_t hash_of(std::size_t flow) { return splitmix64(flow + 1000); }

 private:
  enum class what { send, answered, reduced };
  struct event {
    queue_time at;
    std::size_t flow;
    what kind;
    bool operator<(const event& other) const { return at > other.at; }
  };
  struct flow_state {
    bool can_mark = false;
    queue_time gap{};  // of a flood; zero for a flow that answers
    double window = 2;
    double in_flight = 0;
    queue_time quiet_until{};  // of reductions: one in a round trip
    queue_time paused_until{};
  };

  std::size_t add(const flow_state& f, queue_time from = 0s) {
    flows_.push_back(f);
    results_.emplace_back();
    events_.push(
        {from + std::chrono::microseconds(137) * flows_.size(), flows_.size() - 1, what::send});
    return flows_.size() - 1;
  }

  void drain(queue_time now) {
    for (auto due = queue_.due(); due && *due <= now; due = queue_.due()) {
      const released_packet p = *queue_.release(*due);
      const auto flow = static_cast<std::size_t>(p.id);
      results_[flow].bytes += p.bytes;
      results_[flow].marks += p.mark ? 1 : 0;
      if (flows_[flow].gap == 0s) {
        events_.push({*due + trip_, flow, p.mark ? what::reduced : what::answered});
      }
    }
  }

  void handle(const event& e) {
    flow_state& f = flows_[e.flow];
    if (f.gap > 0s) {
      offer(e.flow, e.at);
      events_.push({e.at + f.gap, e.flow, what::send});
      return;
    }
    if (e.kind != what::send) f.in_flight -= 1;
    if (e.kind == what::answered) f.window += 1 / f.window;
    if (e.kind == what::reduced && e.at >= f.quiet_until) {
      if (f.window < 4) f.paused_until = e.at + 200ms;
      f.window = std::max(1.0, f.window / 2);
      f.quiet_until = e.at + trip_;
    }
    if (e.at < f.paused_until) {
      if (f.in_flight < 1) events_.push({f.paused_until, e.flow, what::send});
      return;
    }
    while (f.in_flight + 1 <= f.window) offer(e.flow, e.at);
  }

  void offer(std::size_t flow, queue_time now) {
    flow_state& f = flows_[flow];
    f.in_flight += 1;
    const packet_fate fate = queue_.offer(
        {.id = flow, .bytes = packet_bytes, .flow = hash_of(flow), .can_mark = f.can_mark}, now);
    if (is_dropped(fate) && f.gap == 0s) events_.push({now + trip_, flow, what::reduced});
  }

  fair_queue queue_;
  queue_time trip_;
  std::vector<flow_state> flows_;
  std::vector<flow_result> results_;
  std::priority_queue<event> events_;
};

}  // namespace bloomery::simulation
