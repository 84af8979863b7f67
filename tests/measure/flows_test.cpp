// Heavy flows against exact counts, and the numbers of Estan and Varghese (2002).
#include "bloomery/measure/flows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/probe.hpp"
#include "bloomery/measure/flow_meter.hpp"
#include "packet_bytes.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

std::string address_text(std::uint32_t number) {
  return std::to_string(number >> 24U) + "." + std::to_string((number >> 16U) & 255U) + "." +
         std::to_string((number >> 8U) & 255U) + "." + std::to_string(number & 255U);
}

flow_key key_of(const packet_bytes& p, const flow_rule& rule = {}) {
  return flow_key::of(parse_ip(p.view(), UINT32_MAX), rule).value();
}
flow_key source_flow(std::uint32_t number) {
  const std::string source = address_text(number);
  return key_of(ipv4({.source = source}, udp(1, 2, {})), {.by = flow_by::source});
}

// 100,000 packets of 20,000 flows, as many of each as Zipf's law has.
std::vector<flow_packet> zipf_stream(std::uint64_t seed) {
  static const std::vector<flow_key> flows = [] {
    std::vector<flow_key> all;
    for (std::uint32_t i = 0; i < 20000; ++i) all.push_back(source_flow(i));
    return all;
  }();
  std::vector<flow_packet> packets;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const std::uint64_t random = splitmix64(seed + i);
    const double u = static_cast<double>(random >> 11U) * 0x1p-53;
    const auto flow = static_cast<std::size_t>(std::pow(20000.0, u)) - 1;
    packets.push_back({flows[flow], 40 + random % 1400});
  }
  return packets;
}

// The number that source_flow was made from.
std::uint32_t number_of(const flow_key& flow) {
  const auto a = flow.source().value().bytes;
  return (std::uint32_t{a[0]} << 24U) | (std::uint32_t{a[1]} << 16U) | (std::uint32_t{a[2]} << 8U) |
         a[3];
}

std::map<std::uint32_t, std::uint64_t> exact_bytes(const std::vector<flow_packet>& packets) {
  std::map<std::uint32_t, std::uint64_t> bytes;
  for (const flow_packet& p : packets) bytes[number_of(p.flow)] += p.bytes;
  return bytes;
}

TEST(multistage_filter, conservative_update_raises_to_the_least_plus_the_packet) {
  // The survey's figure: the least counter is 2, four bytes come, counters rise to 6.
  multistage_filter filter({.buckets = 8, .stages = 2});
  const std::uint64_t flow = splitmix64(1);
  EXPECT_EQ(filter.offer(flow, 2, 1000), 0U);
  EXPECT_EQ(filter.most_of(flow), 2U);
  // Another one whose first bucket is the same and whose second is not has 9 in both.
  std::uint64_t other = 2;
  const auto bucket = [](std::uint64_t hash) { return detail::multiply_high(hash, 8); };
  const auto second = [&](std::uint64_t h) { return bucket(h * next_probe_multiplier); };
  while (bucket(splitmix64(other)) != bucket(flow) || second(splitmix64(other)) == second(flow)) {
    ++other;
  }
  other = splitmix64(other);
  filter.remember(other, 9, 1000);
  EXPECT_EQ(filter.most_of(flow), 2U);
  EXPECT_EQ(filter.offer(flow, 4, 1000), 0U);
  EXPECT_EQ(filter.most_of(flow), 6U);
  EXPECT_EQ(filter.most_of(other), 9U);  // a larger counter stays
  // What reaches the threshold passes, with the bytes that it may have, and leaves no trace.
  EXPECT_EQ(filter.offer(flow, 4, 10), 10U);
  EXPECT_EQ(filter.most_of(flow), 6U);
}

TEST(multistage_filter, serial_stages_share_the_threshold) {
  multistage_filter filter({.buckets = 64, .stages = 4, .order = stage_order::serial});
  const std::uint64_t flow = splitmix64(5);
  std::uint64_t sent = 0;
  std::uint64_t passed = 0;
  while (passed == 0) {
    sent += 10;
    passed = filter.offer(flow, 10, 400);
  }
  EXPECT_LE(sent, 400U);  // never later than its threshold
  EXPECT_GE(passed, sent);
  filter.clear();
  EXPECT_EQ(filter.most_of(flow), 0U);
}

TEST(multistage_filter, bounds_of_the_paper) {
  const sizing::multistage_filter_shape s{
      .total = 100e6, .threshold = 1e6, .buckets = 1000, .stages = 4};
  EXPECT_DOUBLE_EQ(s.strength(), 10);
  EXPECT_NEAR(sizing::multistage_pass_bound(s, 100e3), 1.52e-4, 0.005e-4);
  EXPECT_NEAR(sizing::multistage_flows_bound(s, 100000), 121.2, 0.1);
  EXPECT_EQ(sizing::multistage_pass_bound(s, 1e6), 1);
  EXPECT_THROW(static_cast<void>(sizing::multistage_pass_bound({}, 1)), error);
  sizing::multistage_filter_shape weak = s;
  weak.threshold = 1e5;
  EXPECT_THROW(static_cast<void>(sizing::multistage_flows_bound(weak, 100000)), error);
}

// 100 MB in 100,000 flows: how many pass a threshold of 1 MB, of which 1,000 buckets get a tenth
// each. Packets of 1,000 bytes; flow i has a share like 1 / i.
std::size_t passing(bool conservative, std::uint64_t seed) {
  multistage_filter filter({.buckets = 1000, .stages = 4, .conservative = conservative});
  std::vector<std::uint64_t> left;
  double sum = 0;
  for (int i = 1; i <= 100000; ++i) sum += 1.0 / i;
  for (int i = 1; i <= 100000; ++i) {
    left.push_back(static_cast<std::uint64_t>(std::max(1.0, 100000.0 / sum / i)));
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < left.size(); ++i) {
    for (std::uint64_t j = 0; j < left[i]; ++j) order.push_back(i);
  }
  order.resize(100000);  // 100 MB; what is cut off is of the smallest
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    std::swap(order[i], order[splitmix64(seed + i) % (i + 1)]);
  }
  std::vector<bool> passed(left.size());
  for (const std::uint32_t flow : order) {
    if (filter.offer(splitmix64(seed * 7919 + flow), 1000, 1000000) != 0) passed[flow] = true;
  }
  return static_cast<std::size_t>(std::count(passed.begin(), passed.end(), true));
}

TEST(multistage_filter, the_simulation_stays_below_the_bound) {
  // 8 flows have 1 MB. The bound is for the worst sizes and holds in the mean; that of five runs is
  // far below it here, and conservative update lets no more pass.
  std::size_t plain = 0;
  std::size_t conservative = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    plain += passing(false, seed);
    conservative += passing(true, seed);
  }
  EXPECT_GE(conservative, 5 * 8U);
  EXPECT_LE(conservative, plain);
  EXPECT_LE(plain, 5 * 121U);
}

TEST(multistage_filter, few_flows_of_a_tenth_of_the_threshold_pass) {
  // 1,000 flows of 100 KB are all of the 100 MB. Each passes with 1.52e-4 at most: of 20 runs, or
  // 20,000 flows, 3.04 in the mean. More than 12 have a chance of 3e-5 with exactly that.
  std::size_t passed = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    multistage_filter filter({.buckets = 1000, .stages = 4, .conservative = false});
    for (std::uint64_t flow = 0; flow < 100000; ++flow) {
      const std::uint64_t hash = splitmix64(seed * 1000 + flow % 1000);
      passed += filter.offer(hash, 1000, 1000000) != 0 && flow >= 99000 ? 1U : 0U;
    }
  }
  EXPECT_LE(passed, 12U);
}

TEST(heavy_flows, exact_until_the_memory_is_full) {
  heavy_flows flows({.memory_bytes = 8U << 20U, .seed = 1});
  const auto packets = zipf_stream(1);
  flows.add_batch(packets);
  const auto exact = exact_bytes(packets);
  const auto rows = flows.list();
  EXPECT_TRUE(flows.exact());
  ASSERT_EQ(rows.size(), exact.size());
  for (const flow_count& f : rows) {
    EXPECT_EQ(f.bytes, exact.at(number_of(f.flow)));
    EXPECT_EQ(f.error_bytes, 0U);
  }
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(),
                             [](const auto& a, const auto& b) { return a.bytes > b.bytes; }));
}

class orders : public testing::TestWithParam<stage_order> {};

// What is promised, in memory for a hundredth of the flows: nothing heavy is missing, no count is
// too low, none is too high by more than it says.
TEST_P(orders, counts_are_bounds_and_nothing_heavy_is_missing) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    heavy_flows flows({.memory_bytes = 64U << 10U, .order = GetParam(), .seed = seed});
    EXPECT_LE(flows.memory_bytes(), 68U << 10U);
    const auto packets = zipf_stream(seed << 20U);
    flows.add_batch(packets);
    EXPECT_FALSE(flows.exact());
    const auto exact = exact_bytes(packets);
    std::map<std::uint32_t, std::uint64_t> listed;
    for (const flow_count& f : flows.list()) {
      const std::uint64_t truth = exact.at(number_of(f.flow));
      listed[number_of(f.flow)] = f.bytes;
      EXPECT_GE(f.bytes, truth);
      EXPECT_LE(f.bytes, truth + f.error_bytes);
    }
    std::size_t heavy = 0;
    for (const auto& [flow, bytes] : exact) {
      if (bytes < flows.threshold()) continue;
      ++heavy;
      EXPECT_EQ(listed.count(flow), 1U) << flow << " has " << bytes;
    }
    EXPECT_GE(heavy, 20U);
  }
}
INSTANTIATE_TEST_SUITE_P(stages, orders,
                         testing::Values(stage_order::parallel, stage_order::serial));

// Where no flow is driven out the order within a batch does not matter.
TEST_P(orders, a_batch_counts_as_its_packets_do_one_by_one) {
  for (const bool shielded : {true, false}) {
    for (const bool conservative : {true, false}) {
      for (const std::uint32_t stages : {1U, 3U, 4U}) {
        const flow_options o{.stages = stages,
                             .order = GetParam(),
                             .threshold = 3000,
                             .conservative = conservative,
                             .shielded = shielded,
                             .seed = 5,
                             .buckets = 2000,
                             .flows = 30000};
        heavy_flows together(o);
        heavy_flows alone(o);
        auto packets = zipf_stream(std::uint64_t{7} << 20U);
        packets.resize(30'001);
        packets[5].bytes = 0;
        together.add_batch(packets);
        for (const flow_packet& p : packets) alone.add(p.flow, p.bytes);
        EXPECT_EQ(together.total_bytes(), alone.total_bytes());
        const auto a = together.list();
        const auto b = alone.list();
        ASSERT_EQ(a.size(), b.size());
        EXPECT_GT(a.size(), 100U);
        // Without shielding all packets go into the filter, and there their order matters.
        for (std::size_t i = 0; shielded && i < a.size(); ++i) {
          EXPECT_EQ(a[i].flow, b[i].flow);
          EXPECT_EQ(a[i].bytes, b[i].bytes);
          EXPECT_EQ(a[i].error_bytes, b[i].error_bytes);
          EXPECT_EQ(a[i].packets, b[i].packets);
        }
      }
    }
  }
}

// The same of captured packets: with the short way of common packets, and by the whole parser.
TEST(flow_meter, counts_common_packets_as_the_parser_sees_them) {
  std::vector<packet_bytes> frames;
  for (std::uint32_t i = 0; i < 300; ++i) {
    const std::string source = address_text(i % 50);
    const packet_bytes inside =
        udp(static_cast<std::uint16_t>(i % 3), 53, packet_bytes().fill(i % 60));
    frames.push_back(ethernet(i % 7 == 0 ? 0x0806 : 0x0800, ipv4({.source = source}, inside)));
  }
  flow_meter meter({.flows = {.seed = 1}});
  heavy_flows expected({.seed = 1});
  std::vector<captured_packet> packets;
  for (const packet_bytes& f : frames) packets.push_back(as_captured(f));
  meter.add(packets, [](const flow_meter&) {});
  for (const captured_packet& p : packets) {
    const auto key = flow_key::of(parse_packet(p), {});
    if (key) expected.add(*key, p.wire_bytes);
  }
  const auto a = meter.flows().list();
  const auto b = expected.list();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].flow, b[i].flow);
    EXPECT_EQ(a[i].bytes, b[i].bytes);
    EXPECT_EQ(a[i].packets, b[i].packets);
  }
  EXPECT_EQ(meter.seen().other, 43U);
  EXPECT_EQ(meter.seen().packets, 300U);
}

TEST(heavy_flows, a_threshold_keeps_small_flows_out) {
  heavy_flows flows({.threshold = 10000, .seed = 3});
  for (std::uint32_t i = 0; i < 1000; ++i) flows.add(source_flow(i), 100);
  for (int i = 0; i < 300; ++i) flows.add(source_flow(5000), 100);
  const auto rows = flows.list();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].flow, source_flow(5000));
  EXPECT_GE(rows[0].bytes, 30000U);
  EXPECT_LE(rows[0].bytes - rows[0].error_bytes, 30000U);
  EXPECT_LT(rows[0].packets, 300U);  // since it is listed
  EXPECT_EQ(flows.threshold(), 10000U);
}

TEST(heavy_flows, entries_are_preserved_over_intervals) {
  heavy_flows flows({.threshold = 10000, .seed = 3});
  for (int i = 0; i < 300; ++i) flows.add(source_flow(7), 100);
  EXPECT_GT(flows.list()[0].error_bytes, 0U);
  flows.next_interval();
  EXPECT_TRUE(flows.list().empty());
  flows.add(source_flow(7), 100);  // counted from the first byte on
  for (std::uint32_t i = 0; i < 1000; ++i) flows.add(source_flow(100 + i), 100);
  const auto rows = flows.list();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].bytes, 100U);
  EXPECT_EQ(rows[0].error_bytes, 0U);
  flows.next_interval();  // it was light: its place is free
  EXPECT_EQ(flows.flows_held(), 0U);
}

TEST(heavy_flows, shielding_keeps_heavy_flows_out_of_the_filter) {
  // Flows that are known from the interval before do not fill buckets of the small ones.
  const auto held = [](bool shielded) {
    heavy_flows flows({.stages = 1,
                       .threshold = 5000,
                       .conservative = false,
                       .shielded = shielded,
                       .seed = 9,
                       .buckets = 20,
                       .flows = 1000});
    for (int interval = 0; interval < 2; ++interval) {
      if (interval > 0) flows.next_interval();
      for (std::uint32_t i = 0; i < 400; ++i) {
        flows.add(source_flow(i % 4), 1000);
        if (interval > 0) flows.add(source_flow(1000 + i), 40);
      }
    }
    return flows.flows_held();
  };
  EXPECT_EQ(held(true), 4U);
  EXPECT_GT(held(false), 40U);  // a fifth of the buckets are full
}

TEST(heavy_flows, refuses_what_cannot_work) {
  EXPECT_THROW(heavy_flows({.memory_bytes = 1000}), error);
  EXPECT_THROW(heavy_flows({.stages = 0}), error);
  EXPECT_THROW(heavy_flows({.stages = 17}), error);
}

TEST(flow_key, text_and_parts) {
  const auto v4 = ipv4({.source = "192.0.2.1", .destination = "198.51.100.2"}, udp(4711, 53, {}));
  EXPECT_EQ(key_of(v4).text(), "192.0.2.1:4711 > 198.51.100.2:53 UDP");
  EXPECT_EQ(key_of(v4, {.by = flow_by::pair}).text(), "192.0.2.1 > 198.51.100.2");
  EXPECT_EQ(key_of(v4, {.by = flow_by::source}).text(), "192.0.2.1");
  EXPECT_EQ(key_of(v4, {.by = flow_by::destination}).text(), "198.51.100.2");
  EXPECT_EQ(key_of(v4, {.by = flow_by::port}).text(), "UDP 53");
  EXPECT_EQ(key_of(v4, {.by = flow_by::prefix, .prefix_v4 = 23}).text(), "192.0.2.0/23");
  EXPECT_EQ(key_of(v4, {.by = flow_by::prefix, .prefix_v4 = 0}).text(), "0.0.0.0/0");
  const auto v6 = ipv6("2001:db8::1", "2001:db8::2", protocol_tcp, tcp(80, 1024, {}));
  EXPECT_EQ(key_of(v6).text(), "[2001:db8::1]:80 > [2001:db8::2]:1024 TCP");
  EXPECT_EQ(key_of(v6, {.by = flow_by::prefix, .prefix_v6 = 33}).text(), "2001:db8::/33");
  EXPECT_EQ(key_of(v6, {.by = flow_by::destination}).text(), "2001:db8::2");
  const auto piece = ipv4({.fragment = 100}, packet_bytes().fill(20, 7));
  EXPECT_EQ(key_of(piece).text(), "192.0.2.1 > 198.51.100.2 UDP");
  EXPECT_EQ(key_of(piece, {.by = flow_by::port}).text(), "UDP");
  EXPECT_EQ(key_of(ipv4({.protocol = 99}, {})).text(), "192.0.2.1 > 198.51.100.2 protocol 99");
  EXPECT_EQ(key_of(v4).source_port(), 4711);
  EXPECT_EQ(key_of(v4, {.by = flow_by::port}).source_port(), std::nullopt);
}

captured_packet at(const packet_bytes& p, std::uint64_t time_ns) {
  captured_packet c = as_captured(p, link_type::raw);
  c.time_ns = time_ns;
  return c;
}

TEST(flow_meter, intervals_follow_the_packets) {
  const auto a = ipv4({.source = "10.0.0.1"}, udp(1, 2, {}));
  const auto b = ipv4({.source = "10.0.0.2"}, udp(1, 2, {}));
  packet_bytes cut = a;
  cut.cut(22);
  captured_packet snapped = at(cut, 1800);
  snapped.wire_bytes = 28;
  const packet_bytes odd = packet_bytes().fill(30, 0x77);
  const std::vector<captured_packet> packets = {at(a, 1000),   at(b, 1999), at(a, 500),  snapped,
                                                at(odd, 1990), at(a, 2000), at(b, 12500)};
  flow_meter meter({.flows = {.seed = 1}, .interval_ns = 1000});
  std::vector<std::string> seen;
  const auto note = [&](const flow_meter& m) {
    seen.push_back(std::to_string(m.seen().first_ns) + ":" + std::to_string(m.seen().packets) +
                   ":" + std::to_string(m.flows().list().size()) + ":" +
                   std::to_string(m.seen().left_out()) + ":" + std::to_string(m.seen().late));
  };
  meter.add(packets, note);
  meter.advance(12700, note);  // not over yet
  meter.advance(13000, note);
  meter.advance(14000, note);  // nothing came
  // Of the first five one is late, one cut before its ports, one malformed. No empty ones are told.
  const std::vector<std::string> expected = {"1000:5:2:2:1", "2000:1:1:0:0", "12000:1:1:0:0"};
  EXPECT_EQ(seen, expected);
}

// A packet from far ahead, and captures one after the other: intervals go on where the times are.
TEST(flow_meter, intervals_follow_a_clock_that_goes_back) {
  const auto a = ipv4({.source = "10.0.0.1"}, udp(1, 2, {}));
  std::vector<captured_packet> packets;
  for (const std::uint64_t t :
       std::initializer_list<std::uint64_t>{10'000, 10'500, 90'000, 11'100, 11'300, 10'900, 12'200,
                                            5'000, 6'000, 5'999, 4'999, 4'000, 0}) {
    packets.push_back(at(a, t));
  }
  flow_meter meter({.flows = {.seed = 1}, .interval_ns = 1000});
  std::vector<std::string> seen;
  const auto note = [&](const flow_meter& m) {
    seen.push_back(std::to_string(m.seen().first_ns) + ":" + std::to_string(m.seen().packets) +
                   ":" + std::to_string(m.seen().late));
  };
  meter.add(packets, note);
  note(meter);
  const std::vector<std::string> expected = {"10000:2:0", "90000:1:0", "11100:3:1", "12100:1:0",
                                             "5000:1:0",  "6000:2:1",  "4999:2:1",  "0:1:0"};
  EXPECT_EQ(seen, expected);
}

TEST(flow_meter, times_at_the_end_of_time_do_no_harm) {
  const auto a = ipv4({}, udp(1, 2, {}));
  for (const std::uint64_t interval : {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}}) {
    flow_meter meter({.flows = {.seed = 1}, .interval_ns = interval});
    std::uint64_t packets = 0;
    const auto count = [&](const flow_meter& m) { packets += m.seen().packets; };
    for (const std::uint64_t t : {~std::uint64_t{0}, std::uint64_t{0}, ~std::uint64_t{0} - 3}) {
      const captured_packet p = at(a, t);
      meter.add({&p, 1}, count);
    }
    EXPECT_EQ(packets + meter.seen().packets, 3U);
  }
}

TEST(spread_counter, finds_scanners_among_many) {
  // Three sources talk to 2,000, 1,000 and 500 others, ten thousand to three each. Pairs repeat.
  // The mean error of 40 seeds is 1 / sqrt(40) of one; four of these are allowed.
  double error_sum = 0;
  constexpr int seeds = 40;
  packet_bytes bytes = ipv4({}, udp(9, 9, {}));
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    spread_counter spread(spread_over::destination, {.memory_bytes = 64U << 10U, .seed = seed});
    const auto talk = [&](std::uint32_t from, std::uint32_t to) {
      bytes[14] = static_cast<std::byte>(from >> 8U);
      bytes[15] = static_cast<std::byte>(from);
      bytes[18] = static_cast<std::byte>(to >> 8U);
      bytes[19] = static_cast<std::byte>(to);
      const parsed_packet p = parse_ip(bytes.view(), UINT32_MAX);
      spread.add(flow_key::of(p, {.by = flow_by::source}).value(), p);
    };
    for (std::uint32_t i = 0; i < 2000; ++i) {
      talk(1, i);
      if (i % 2 == 0) talk(2, i);
      if (i % 4 == 0) talk(3, i);
      talk(1, i);
      for (std::uint32_t j = 0; j < 15; ++j) talk(100 + i * 5 + j / 3, j % 3);
    }
    const auto rows = spread.list(1, 3);
    ASSERT_EQ(rows.size(), 3U);
    const double truths[] = {2000, 1000, 500};
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(rows[i].flow.text(), "192.0.0." + std::to_string(i + 1));
      EXPECT_NEAR(rows[i].distinct, truths[i], 5 * rows[i].standard_error + rows[i].surplus + 1);
    }
    error_sum += (rows[0].distinct - rows[0].surplus / 2 - 2000) / (rows[0].standard_error + 1);
    EXPECT_FALSE(spread.full());
  }
  EXPECT_NEAR(error_sum / seeds, 0, 4 / std::sqrt(seeds));
}

}  // namespace
