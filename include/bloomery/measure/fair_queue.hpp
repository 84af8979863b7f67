// Stochastic Fair Blue (Feng, Kandlur, Saha and Shin 2001): a queue before a slow link that leaves
// flows their share, though one of them sends ten times what the link carries.
//
// A flow has one bin at each of L levels, by L hash functions. Every bin counts its packets in the
// queue, and has a probability p that rises when the bin is full and falls when it is empty. A
// packet is marked or dropped with the least p of its bins:
//
//     level 0 | . . 1 . . |      the flood fills a bin at each level, and these reach p = 1. A flow
//     level 1 | 1 . . . . |      that shares some of them but not all keeps its own low p, because
//     level 2 | . . . . 1 |      the least decides: of 16 bins and 8 levels all but 16^-8.
//
// A flow that answers to drops settles at a p below 1; one that does not is driven to 1, and what
// it sends is limited to a few packets a second, the penalty. The memory is L times N bins, however
// many flows there are. Whoever shares all bins with a flood would suffer for ever, so two sets of
// hash functions take turns: the second one learns for a while before it decides.
//
// Two departures from the paper. Its queue lowers p of a flood again, because bins whose packets
// are dropped run empty; here a packet beyond the penalty counts as a full bin, in both sets. And
// from p = 1/2 on packets are dropped and not marked: a flow that takes no notice of marks must not
// profit from promising to.
//
// This is the algorithm alone. Packets are numbers, flows are 64-bit hashes (of a keyed function,
// or strangers choose who shares a bin), the clock is an argument, and never goes back.
//
//     fair_queue queue({.bytes_per_second = 1'250'000});
//     queue.offer({.id = 7, .bytes = 1500, .flow = hash}, now);   // accept, mark or drop
//     while (auto p = queue.release(now)) send(p->id);            // when the link has room
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "bloomery/hash/probe.hpp"

namespace bloomery {

using queue_time = std::chrono::nanoseconds;  // since any moment, the same one for all calls

struct fair_blue_options {
  std::uint32_t levels = 8;
  std::uint32_t bins = 16;                 // of each level
  std::uint32_t bin_packets = 8;           // with so many in the queue a bin is full
  double increment = 0.005;                // of a full bin, for each packet that comes
  double decrement = 0.001;                // of an empty one,
  queue_time decrement_every{10'000'000};  // at most once in this time
  double penalty_from = 0.98;              // the probability from which on a flow does not answer
  double penalty_packets = 10;             // what all such flows together may send, a second
  double penalty_burst = 5;                // packets
  queue_time turn{10'000'000'000};         // how long a set of hash functions decides
  queue_time warm_up{3'000'000'000};       // how long it learns before that
  std::uint64_t seed = 0;  // of hash functions and draws: a secret one on a real link
};

enum class packet_fate : std::uint8_t {
  accept,
  mark,           // accepted, and to be marked (ECN), which takes the place of a drop
  drop_early,     // by the probability of its flow
  drop_bin,       // all bins of its flow are full
  drop_penalty,   // its flow does not answer, and has had what it may
  drop_overflow,  // the whole queue is full
};
inline constexpr std::size_t packet_fates = 6;
[[nodiscard]] constexpr bool is_dropped(packet_fate f) noexcept {
  return f >= packet_fate::drop_early;
}

// Bins and probabilities, without a queue: for who has one.
class fair_blue {
 public:
  // Throws errc::bad_argument for levels, bins or probabilities that make no sense.
  explicit fair_blue(const fair_blue_options& o);

  // Where a packet was counted; to be given back when it leaves the queue.
  struct place {
    std::uint64_t flow = 0;
    std::uint64_t first_turn = 0;
    std::uint64_t last_turn = 0;
  };
  struct decision {
    packet_fate fate = packet_fate::accept;
    place where{};           // of packets that are not dropped
    double probability = 0;  // by which it was decided
  };
  // A packet has come. `can_mark`: its sender has promised to take a mark for a drop.
  decision arrive(std::uint64_t flow, bool can_mark, queue_time now);
  // A packet that arrive() let in has left the queue.
  void depart(const place& p) noexcept;

  // What a packet of this flow would meet now.
  [[nodiscard]] double probability(std::uint64_t flow) const noexcept;
  // Of the set that decides, level after level.
  struct bin {
    std::uint32_t packets = 0;
    double probability = 0;
    queue_time lowered{};
  };
  [[nodiscard]] std::span<const bin> bins() const noexcept { return sets_[turn_ % 2].bins; }
  [[nodiscard]] const fair_blue_options& options() const noexcept { return options_; }

 private:
  struct bin_set {
    std::uint64_t turn = 0;
    std::uint64_t spread_seed = 0;
    std::vector<bin> bins;
  };

  template <class Visit>
  void visit(const bin_set& s, std::uint64_t flow, Visit each) const;
  void begin(std::uint64_t turn);
  void take_turns(queue_time now);
  void learn(bin_set& s, std::uint64_t flow, bool beyond_penalty, queue_time now);
  bool within_penalty(queue_time now);
  double draw();

  fair_blue_options options_;
  partitioned_probes probes_;
  std::array<bin_set, 2> sets_;  // of even and of odd turns
  std::uint64_t turn_ = 0;       // whose set decides
  bool warming_ = false;         // the set of the next turn learns
  std::optional<queue_time> turn_began_;
  double allowance_;  // packets that the penalty lets pass
  queue_time allowed_at_{};
  std::uint64_t draws_;
};

struct fair_queue_options {
  double bytes_per_second = 0;         // of the link
  std::uint32_t limit_packets = 1000;  // of the whole queue
  bool fair = true;                    // false is a plain queue that drops what does not fit
  // How far sending may lag behind: a program that wakes late sends so much at once, and no more.
  queue_time catch_up{10'000'000};
  fair_blue_options blue{};
};

struct queued_packet {
  std::uint64_t id = 0;
  std::uint32_t bytes = 0;
  std::uint64_t flow = 0;
  bool can_mark = false;
};

struct released_packet {
  std::uint64_t id = 0;
  std::uint32_t bytes = 0;
  std::uint64_t flow = 0;
  bool mark = false;
  queue_time waited{};
};

struct fair_queue_counts {
  std::array<std::uint64_t, packet_fates> packets{};  // by fate
  std::uint64_t released_packets = 0;
  std::uint64_t released_bytes = 0;
  queue_time waited{};  // the sum over all that were released

  [[nodiscard]] std::uint64_t of(packet_fate f) const noexcept {
    return packets[static_cast<std::size_t>(f)];
  }
  [[nodiscard]] std::uint64_t dropped() const noexcept;
};

// A queue with a link behind it: first in, first out, at the rate of the link.
class fair_queue {
 public:
  explicit fair_queue(const fair_queue_options& o);

  packet_fate offer(const queued_packet& p, queue_time now);
  // The next packet whose turn on the link has come; nothing before its time. Call it until then.
  std::optional<released_packet> release(queue_time now);
  // When the next packet is due; nothing when the queue is empty.
  [[nodiscard]] std::optional<queue_time> due() const noexcept;
  // The packets that are left, in order, whatever the rate: for the end.
  std::optional<released_packet> flush(queue_time now);

  [[nodiscard]] std::size_t packets() const noexcept { return waiting_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const fair_queue_counts& counts() const noexcept { return counts_; }
  [[nodiscard]] const fair_blue& blue() const noexcept { return blue_; }
  [[nodiscard]] const fair_queue_options& options() const noexcept { return options_; }

 private:
  struct entry {
    queued_packet packet;
    fair_blue::place where;
    bool mark = false;
    queue_time came{};
  };

  released_packet take(queue_time now);

  fair_queue_options options_;
  fair_blue blue_;
  std::deque<entry> waiting_;
  std::uint64_t bytes_ = 0;
  queue_time link_free_{};  // when the link has sent what was released
  fair_queue_counts counts_;
};

}  // namespace bloomery
