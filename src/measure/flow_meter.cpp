#include "bloomery/measure/flow_meter.hpp"

#include <algorithm>
#include <limits>

#include "bloomery/detail/measure/common_packet.hpp"

namespace bloomery {

namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

}  // namespace

flow_meter::flow_meter(const meter_options& o)
    : options_(o), plain_(o.rule.by == flow_by::five_tuple && !o.parsing.inner && !o.distinct) {
  if (o.distinct) {
    spread_.emplace(*o.distinct, o.flows);
  } else {
    flows_.emplace(o.flows);
  }
}

std::uint64_t flow_meter::memory_bytes() const noexcept {
  return flows_ ? flows_->memory_bytes() : spread_->memory_bytes();
}

void flow_meter::begin_interval(std::uint64_t time_ns) {
  const std::uint64_t length = options_.interval_ns;
  std::uint64_t start = time_ns;
  if (next_ns_ != 0) {
    if (time_ns >= next_ns_) start = next_ns_ + (time_ns - next_ns_) / length * length;
    if (flows_) flows_->next_interval();
    if (spread_) spread_->next_interval();
  }
  seen_ = {.first_ns = start, .last_ns = time_ns};
  next_ns_ = length == 0 || start > never - length ? never : start + length;
}

void flow_meter::flush() {
  if (flows_) flows_->add_batch(std::span(waiting_).first(waiting_count_));
  waiting_count_ = 0;
}

void flow_meter::count_other(const captured_packet& p) {
  const parsed_packet parsed = parse_packet(p, options_.parsing);
  flow_packet& next = waiting_[waiting_count_];
  if (!flow_key::make(parsed, options_.rule, next.flow)) {
    switch (parsed.status) {
      case packet_status::other: ++seen_.other; break;
      case packet_status::malformed: ++seen_.malformed; break;
      case packet_status::unknown_link: ++seen_.unknown_link; break;
      case packet_status::ip:  // without its ports
      case packet_status::snapped: ++seen_.snapped; break;
    }
    return;
  }
  if (spread_) {
    spread_->add(next.flow, parsed);
    return;
  }
  next.bytes = p.wire_bytes;
  if (++waiting_count_ == waiting_.size()) flush();
}

// Most packets need neither all of the parser nor a choice of what the key is made of.
inline void flow_meter::count(const captured_packet& p) {
  ++seen_.packets;
  seen_.bytes += p.wire_bytes;
  seen_.last_ns = std::max(seen_.last_ns, p.time_ns);
  if (p.time_ns < seen_.first_ns && options_.interval_ns != 0) ++seen_.late;
  parsed_packet parsed;
  if (!plain_ || !detail::parse_common(p, parsed)) {
    count_other(p);
    return;
  }
  flow_packet& next = waiting_[waiting_count_];
  flow_key::make_five_tuple(parsed, next.flow);
  next.bytes = p.wire_bytes;
  if (++waiting_count_ == waiting_.size()) flush();
}

// A little out of order is usual; further back, a clock was set or another capture begins.
bool flow_meter::is_in_interval(std::uint64_t time_ns) const noexcept {
  if (time_ns >= next_ns_) return next_ns_ == never;  // which is 0 before the first packet
  return time_ns >= seen_.first_ns || options_.interval_ns == 0 ||
         seen_.first_ns - time_ns <= options_.interval_ns;
}

void flow_meter::add(std::span<const captured_packet> packets, const interval_end& ended) {
  for (const captured_packet& p : packets) {
    if (!is_in_interval(p.time_ns)) {
      flush();
      if (seen_.packets > 0) ended(*this);
      begin_interval(p.time_ns);
    }
    count(p);
  }
  flush();
}

void flow_meter::advance(std::uint64_t time_ns, const interval_end& ended) {
  if (seen_.packets == 0 || time_ns < next_ns_ || next_ns_ == never) return;
  ended(*this);
  begin_interval(time_ns);
}

}  // namespace bloomery
