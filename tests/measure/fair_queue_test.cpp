// The fair queue: bins and probabilities by hand, and flows on a simulated link.
#include "bloomery/measure/fair_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/measure/congestion_mark.hpp"
#include "measure/link_simulation.hpp"
#include "measure/packet_bytes.hpp"

namespace {

using namespace bloomery;
using namespace std::chrono_literals;

fair_blue_options with_seed(std::uint64_t seed) {
  fair_blue_options o;
  o.seed = seed;
  return o;
}

TEST(fair_blue, a_full_bin_raises_its_probability_and_an_empty_one_lowers_it) {
  fair_blue blue(with_seed(1));
  std::vector<fair_blue::place> held;
  for (int i = 0; i < 8; ++i) {
    const auto d = blue.arrive(42, false, 1s);
    EXPECT_EQ(d.fate, packet_fate::accept);
    held.push_back(d.where);
  }
  EXPECT_EQ(blue.probability(42), 0);
  EXPECT_EQ(blue.arrive(42, false, 1s).fate, packet_fate::drop_bin);
  EXPECT_DOUBLE_EQ(blue.probability(42), 0.005);
  EXPECT_EQ(blue.probability(43), 0) << "another flow shares some bins at most";
  for (const auto& p : held) blue.depart(p);
  for (const auto& b : blue.bins()) EXPECT_EQ(b.packets, 0U);
  const auto first = blue.arrive(42, false, 1s + 20ms);
  EXPECT_DOUBLE_EQ(blue.probability(42), 0.004);
  blue.depart(first.where);
  blue.depart(blue.arrive(42, false, 1s + 29ms).where);
  EXPECT_DOUBLE_EQ(blue.probability(42), 0.004) << "at most once in 10 ms";
  blue.depart(blue.arrive(42, false, 1s + 30ms).where);
  EXPECT_DOUBLE_EQ(blue.probability(42), 0.003);
}

TEST(fair_blue, a_flow_that_does_not_answer_gets_the_penalty_and_no_more) {
  fair_blue blue(with_seed(2));
  queue_time now = 1s;
  std::uint64_t passed = 0;
  for (int i = 0; i < 30'000; ++i, now += 100us) {  // three seconds; nothing leaves in the first
    const auto d = blue.arrive(7, false, now);
    if (now < 2s || is_dropped(d.fate)) continue;
    ++passed;
    blue.depart(d.where);
  }
  EXPECT_EQ(blue.probability(7), 1);
  // In two seconds: ten packets a second, the burst, and one at the edge.
  EXPECT_LE(passed, 26U);
  EXPECT_GE(passed, 19U);
}

TEST(fair_blue, sets_of_functions_take_turns_and_the_next_one_learns_before) {
  fair_blue blue(with_seed(3));
  for (queue_time now = 0s; now < 9s; now += 200us) {
    const auto d = blue.arrive(7, false, now);
    if (!is_dropped(d.fate) && now > 1s) blue.depart(d.where);
  }
  EXPECT_EQ(blue.probability(7), 1);
  std::vector<double> before;
  for (std::uint64_t flow = 100; flow < 100'100; ++flow) before.push_back(blue.probability(flow));
  static_cast<void>(blue.arrive(7, false, 10s));  // the turn
  EXPECT_GT(blue.probability(7), 0.98) << "the new set knows the flood already";
  // Whoever suffered with it does not any more: (1/16)^8 share all bins, so fewer do so twice.
  std::size_t same = 0;
  for (std::uint64_t flow = 100; flow < 100'100; ++flow) {
    if (before[flow - 100] > 0.98 && blue.probability(flow) > 0.98) ++same;
  }
  EXPECT_EQ(same, 0U);
  // Packets that were counted by a set that is gone leave nothing behind.
  fair_blue other(with_seed(4));
  std::vector<fair_blue::place> held;
  for (const queue_time now :
       {0ns, queue_time(8s), queue_time(10s), queue_time(18s), queue_time(20s)}) {
    for (std::uint64_t flow = 0; flow < 20; ++flow) {
      const auto d = other.arrive(flow, false, now);
      if (!is_dropped(d.fate)) held.push_back(d.where);
    }
  }
  for (const auto& p : held) other.depart(p);
  for (const auto& b : other.bins()) EXPECT_EQ(b.packets, 0U);
}

TEST(fair_blue, refuses_what_makes_no_sense) {
  const auto refused = [](auto change) {
    fair_blue_options o;
    change(o);
    EXPECT_THROW(fair_blue{o}, error);
  };
  refused([](auto& o) { o.levels = 0; });
  refused([](auto& o) { o.levels = 1000; });
  refused([](auto& o) { o.bins = 1; });
  refused([](auto& o) { o.bin_packets = 0; });
  refused([](auto& o) { o.increment = 2; });
  refused([](auto& o) { o.decrement = 0; });
  refused([](auto& o) { o.warm_up = o.turn * 2; });
  EXPECT_THROW(fair_queue({.bytes_per_second = 0}), error);
  EXPECT_THROW(fair_queue({.bytes_per_second = 1, .limit_packets = 0}), error);
}

TEST(fair_queue, releases_in_order_at_the_rate_of_the_link) {
  fair_queue queue({.bytes_per_second = 1'000'000});
  for (std::uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(queue.offer({.id = i, .bytes = 1000, .flow = i}, 0ns), packet_fate::accept);
  }
  EXPECT_EQ(queue.bytes(), 5000U);
  EXPECT_EQ(queue.release(0ns)->id, 0U);
  EXPECT_FALSE(queue.release(999us)) << "the link is busy with the first";
  EXPECT_EQ(queue.due(), queue_time(1ms));
  const auto second = queue.release(1ms);
  EXPECT_EQ(second->id, 1U);
  EXPECT_EQ(second->waited, queue_time(1ms));
  // Who comes late catches up, but for no more than 10 ms.
  EXPECT_EQ(queue.release(2500us)->id, 2U);
  EXPECT_EQ(queue.due(), queue_time(3ms));
  EXPECT_EQ(queue.release(1s)->id, 3U);
  EXPECT_EQ(queue.due(), queue_time(991ms));
  EXPECT_EQ(queue.flush(1s)->id, 4U);
  EXPECT_FALSE(queue.flush(1s));
  EXPECT_FALSE(queue.due());
  EXPECT_EQ(queue.counts().released_bytes, 5000U);
}

struct shares {
  double answering = 0;  // of the link
  double least = 0;      // of the flows that answer
  double flood = 0;
  std::uint64_t marks = 0;
};

// Ten flows that answer, and one that sends ten times what the link of 10 Mbit/s carries.
shares simulate(bool fair, bool ecn, std::size_t floods = 1) {
  fair_queue_options o{.bytes_per_second = 1'250'000, .limit_packets = 1000, .fair = fair};
  o.blue.seed = 5;
  simulation::link link(o, 20ms);
  std::vector<std::size_t> answering;
  std::vector<std::size_t> flooding;
  for (int i = 0; i < 10; ++i) answering.push_back(link.add_answering(ecn));
  for (std::size_t i = 0; i < floods; ++i) {
    flooding.push_back(link.add_flood(12'500'000.0 / static_cast<double>(floods), ecn, 1s));
  }
  link.run(3s);
  link.forget_results();
  link.run(23s);  // two turns
  shares s{.least = 1};
  const double all = 1'250'000.0 * 20;
  for (const std::size_t f : answering) {
    const double share = static_cast<double>(link.result(f).bytes) / all;
    s.answering += share;
    s.least = std::min(s.least, share);
    s.marks += link.result(f).marks;
  }
  for (const std::size_t f : flooding) s.flood += static_cast<double>(link.result(f).bytes) / all;
  return s;
}

// Everything is drawn from fixed seeds, so the numbers are the same each time; the bounds are those
// of the real test with iperf3.
TEST(fair_queue, leaves_flows_their_share_under_a_flood_where_a_plain_queue_does_not) {
  const shares plain = simulate(false, false);
  EXPECT_LT(plain.answering, 0.2);
  EXPECT_GT(plain.flood, 0.8);
  const shares fair = simulate(true, false);
  EXPECT_GT(fair.answering, 0.95);
  EXPECT_LT(fair.flood, 0.05);
  EXPECT_GT(fair.least, 0.05) << "a tenth would be equal shares";
}

TEST(fair_queue, marks_those_who_answer_to_marks_and_punishes_a_flood_that_only_promises_to) {
  const shares s = simulate(true, true);
  EXPECT_GT(s.answering, 0.95);
  EXPECT_LT(s.flood, 0.05);
  EXPECT_GT(s.marks, 0U);
}

TEST(fair_queue, several_floods_share_one_penalty) {
  const shares s = simulate(true, false, 3);
  EXPECT_GT(s.answering, 0.95);
  EXPECT_LT(s.flood, 0.05);
}

std::uint32_t header_sum(std::span<const std::byte> header) {  // 0xffff with the right checksum
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < 20; i += 2) {
    sum += std::to_integer<std::uint32_t>(header[i]) << 8U |
           std::to_integer<std::uint32_t>(header[i + 1]);
  }
  while (sum > 0xffffU) sum = (sum & 0xffffU) + (sum >> 16U);
  return sum;
}

TEST(congestion_mark, is_set_with_the_checksum_of_the_header_mended) {
  using namespace bloomery_test;
  for (std::uint32_t promise = 0; promise < 4; ++promise) {
    for (std::uint32_t id = 0; id < 3000; ++id) {
      packet_bytes made = ipv4({.identification = id * 22}, udp(1, 2, {}));
      std::vector<std::byte> p(made.view().begin(), made.view().end());
      p[1] = static_cast<std::byte>(0xb8U | promise);
      const std::uint32_t checksum = ~header_sum(p) & 0xffffU;
      p[10] = static_cast<std::byte>(checksum >> 8U);
      p[11] = static_cast<std::byte>(checksum);
      ASSERT_EQ(header_sum(p), 0xffffU);
      EXPECT_EQ(can_mark_congestion(p), promise != 0);
      const std::vector<std::byte> before = p;
      EXPECT_EQ(mark_congestion(p), promise != 0);
      EXPECT_EQ(p == before, promise == 0 || promise == 3);
      EXPECT_EQ(header_sum(p), 0xffffU) << id;
      EXPECT_EQ(p[1], promise == 0 ? std::byte{0xb8} : std::byte{0xbb});
    }
  }
  packet_bytes made = ipv6("2001:db8::1", "2001:db8::2", 17, udp(1, 2, {}));
  std::vector<std::byte> p(made.view().begin(), made.view().end());
  EXPECT_FALSE(mark_congestion(p));
  p[1] = std::byte{0x25};  // a flow label behind it
  EXPECT_TRUE(mark_congestion(p));
  EXPECT_EQ(p[1], std::byte{0x35});
  EXPECT_FALSE(mark_congestion(std::span(p).first(39)));
  EXPECT_FALSE(mark_congestion({}));
}

}  // namespace
