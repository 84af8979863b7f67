#include "bloomery/measure/fair_queue.hpp"

#include <algorithm>
#include <numeric>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

namespace {

constexpr double mark_below = 0.5;  // from here on a packet is dropped instead

shape bins_as_slices(const fair_blue_options& o) {
  return {.kind = filter_kind::partitioned,
          .probes = o.levels,
          .bits = std::uint64_t{o.levels} * o.bins};
}

void check_share(std::string_view name, double value) {
  if (!(value > 0 && value <= 1)) detail::throw_bad_argument(name, value, "above 0 and at most 1");
}

const fair_blue_options& checked(const fair_blue_options& o) {
  if (o.levels < 1 || o.levels > max_probes) {
    detail::throw_bad_argument("the number of levels", std::uint64_t{o.levels},
                               "from 1 to " + detail::to_text(std::uint64_t{max_probes}));
  }
  if (o.bins < 2 || o.bins > 65536) {
    detail::throw_bad_argument("the number of bins", std::uint64_t{o.bins}, "from 2 to 65536");
  }
  if (o.bin_packets < 1) {
    detail::throw_bad_argument("the packets of a full bin", std::uint64_t{0}, "at least 1");
  }
  check_share("the increment", o.increment);
  check_share("the decrement", o.decrement);
  check_share("the probability of the penalty", o.penalty_from);
  if (!(o.penalty_packets >= 0 && o.penalty_burst >= 0)) {
    detail::throw_bad_argument("the penalty", std::min(o.penalty_packets, o.penalty_burst),
                               "at least 0");
  }
  if (o.turn.count() <= 0 || o.warm_up.count() < 0 || o.warm_up > o.turn) {
    detail::throw_bad_argument("the warm-up", std::chrono::duration<double>(o.warm_up).count(),
                               "within the turn, which is above 0");
  }
  return o;
}

double seconds_of(queue_time t) { return std::chrono::duration<double>(t).count(); }

}  // namespace

fair_blue::fair_blue(const fair_blue_options& o)
    : options_(checked(o)),
      probes_(bins_as_slices(o)),
      allowance_(o.penalty_burst),
      draws_(splitmix64(o.seed)) {
  begin(0);
  begin(1);  // so that there is no set of turn 0 but that one
}

template <class Visit>
void fair_blue::visit(const bin_set& s, std::uint64_t flow, Visit each) const {
  probes_.lines(mix64(flow, s.spread_seed), each);
}

// The set of a turn starts empty. Packets that are in the queue by then are not in it; depart()
// knows that by their turns.
void fair_blue::begin(std::uint64_t turn) {
  bin_set& s = sets_[turn % 2];
  s.turn = turn;
  s.spread_seed = splitmix64(options_.seed ^ splitmix64(turn));
  s.bins.assign(std::size_t{options_.levels} * options_.bins, {});
}

void fair_blue::take_turns(queue_time now) {
  if (!turn_began_) turn_began_ = now;
  const queue_time age = now - *turn_began_;
  if (age >= options_.turn) {
    if (!warming_) begin(turn_ + 1);  // nothing came for so long
    ++turn_;
    warming_ = false;
    turn_began_ = now;
  } else if (!warming_ && age >= options_.turn - options_.warm_up) {
    begin(turn_ + 1);
    warming_ = true;
  }
}

void fair_blue::learn(bin_set& s, std::uint64_t flow, bool beyond_penalty, queue_time now) {
  visit(s, flow, [&](std::uint64_t at) {
    bin& b = s.bins[at];
    if (beyond_penalty || b.packets >= options_.bin_packets) {
      b.probability = std::min(1.0, b.probability + options_.increment);
    } else if (b.packets == 0 && now - b.lowered >= options_.decrement_every) {
      b.probability = std::max(0.0, b.probability - options_.decrement);
      b.lowered = now;
    }
  });
}

bool fair_blue::within_penalty(queue_time now) {
  allowance_ = std::min(options_.penalty_burst,
                        allowance_ + seconds_of(now - allowed_at_) * options_.penalty_packets);
  allowed_at_ = now;
  if (allowance_ < 1) return false;
  allowance_ -= 1;
  return true;
}

double fair_blue::draw() {
  draws_ = splitmix64(draws_);
  return static_cast<double>(draws_ >> 11U) * 0x1p-53;
}

double fair_blue::probability(std::uint64_t flow) const noexcept {
  const bin_set& s = sets_[turn_ % 2];
  double least = 1;
  visit(s, flow, [&](std::uint64_t at) { least = std::min(least, s.bins[at].probability); });
  return least;
}

fair_blue::decision fair_blue::arrive(std::uint64_t flow, bool can_mark, queue_time now) {
  take_turns(now);
  bin_set& current = sets_[turn_ % 2];
  bool full = true;
  visit(current, flow,
        [&](std::uint64_t at) { full = full && current.bins[at].packets >= options_.bin_packets; });
  decision d{.probability = probability(flow)};
  const bool unanswering = d.probability >= options_.penalty_from;
  if (unanswering) {
    if (!within_penalty(now)) d.fate = packet_fate::drop_penalty;
  } else if (full) {
    d.fate = packet_fate::drop_bin;
  } else if (draw() < d.probability) {
    d.fate = can_mark && d.probability < mark_below ? packet_fate::mark : packet_fate::drop_early;
  }
  const std::uint64_t last = turn_ + (warming_ ? 1 : 0);
  for (std::uint64_t turn = turn_; turn <= last; ++turn) {
    bin_set& s = sets_[turn % 2];
    learn(s, flow, d.fate == packet_fate::drop_penalty, now);
    if (!is_dropped(d.fate)) visit(s, flow, [&](std::uint64_t at) { ++s.bins[at].packets; });
  }
  d.where = {.flow = flow, .first_turn = turn_, .last_turn = last};
  return d;
}

void fair_blue::depart(const place& p) noexcept {
  for (bin_set& s : sets_) {
    if (s.turn < p.first_turn || s.turn > p.last_turn) continue;
    visit(s, p.flow, [&](std::uint64_t at) {
      if (s.bins[at].packets > 0) --s.bins[at].packets;
    });
  }
}

// ---- the queue --------------------------------------------------------------------------------

std::uint64_t fair_queue_counts::dropped() const noexcept {
  return std::accumulate(packets.begin() + static_cast<std::ptrdiff_t>(packet_fate::drop_early),
                         packets.end(), std::uint64_t{0});
}

fair_queue::fair_queue(const fair_queue_options& o) : options_(o), blue_(o.blue) {
  if (!(o.bytes_per_second > 0)) {
    detail::throw_bad_argument("the rate of the link", o.bytes_per_second, "above 0");
  }
  if (o.limit_packets < 1) {
    detail::throw_bad_argument("the length of the queue", std::uint64_t{0}, "at least 1 packet");
  }
}

packet_fate fair_queue::offer(const queued_packet& p, queue_time now) {
  packet_fate fate = packet_fate::accept;
  fair_blue::place where{};
  if (waiting_.size() >= options_.limit_packets) {
    fate = packet_fate::drop_overflow;
  } else if (options_.fair) {
    const fair_blue::decision d = blue_.arrive(p.flow, p.can_mark, now);
    fate = d.fate;
    where = d.where;
  }
  ++counts_.packets[static_cast<std::size_t>(fate)];
  if (is_dropped(fate)) return fate;
  if (waiting_.empty()) link_free_ = std::max(link_free_, now);
  waiting_.push_back({.packet = p, .where = where, .mark = fate == packet_fate::mark, .came = now});
  bytes_ += p.bytes;
  return fate;
}

std::optional<queue_time> fair_queue::due() const noexcept {
  if (waiting_.empty()) return std::nullopt;
  return link_free_;
}

released_packet fair_queue::take(queue_time now) {
  const entry e = waiting_.front();
  waiting_.pop_front();
  bytes_ -= e.packet.bytes;
  if (options_.fair) blue_.depart(e.where);
  const queue_time waited = now - e.came;
  ++counts_.released_packets;
  counts_.released_bytes += e.packet.bytes;
  counts_.waited += waited;
  return {.id = e.packet.id,
          .bytes = e.packet.bytes,
          .flow = e.packet.flow,
          .mark = e.mark,
          .waited = waited};
}

std::optional<released_packet> fair_queue::release(queue_time now) {
  if (waiting_.empty() || now < link_free_) return std::nullopt;
  const released_packet p = take(now);
  const double seconds = static_cast<double>(p.bytes) / options_.bytes_per_second;
  link_free_ = std::max(link_free_, now - options_.catch_up) +
               std::chrono::duration_cast<queue_time>(std::chrono::duration<double>(seconds));
  return p;
}

std::optional<released_packet> fair_queue::flush(queue_time now) {
  if (waiting_.empty()) return std::nullopt;
  return take(now);
}

}  // namespace bloomery
