// Loops of messages: the survey's numbers, and loops made on purpose.
#include "bloomery/route/loop.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "filter/samples.hpp"
#include "route/graphs.hpp"

namespace bloomery {
namespace {

TEST(route_loop, the_chance_at_each_hop_is_that_of_the_formula) {
  EXPECT_NEAR(loop_false_positive({.bits = 128, .probes = 4}, 5), 0.00046, 5e-6);
  EXPECT_NEAR(loop_false_positive({.bits = 128, .probes = 4}, 10), 0.0055, 5e-5);
  EXPECT_NEAR(loop_false_positive({.bits = 128, .probes = 4}, 20), 0.049, 5e-4);
  EXPECT_NEAR(loop_false_positive({.bits = 256, .probes = 8}, 5), 2.2e-7, 5e-9);
  EXPECT_NEAR(loop_false_positive({.bits = 256, .probes = 8}, 10), 3e-5, 5e-7);
  EXPECT_NEAR(loop_false_positive({.bits = 256, .probes = 8}, 20), 0.0024, 5e-5);
}

TEST(route_loop, and_measured) {
  // 20,000 messages on lines of 21 nodes, none twice: the last hop's count is binomial, and four
  // standard deviations are allowed.
  constexpr std::uint64_t messages = 20'000;
  std::uint64_t suspected = 0;
  std::uint64_t dropped = 0;
  for (std::uint64_t i = 0; i < messages; ++i) {
    loop_header header({}, i);
    loop_filter alone({}, i);
    for (std::uint64_t hop = 0; hop < 20; ++hop) {
      header.visit(splitmix64(100 * i + hop));
      alone.visit(splitmix64(100 * i + hop));
    }
    suspected += std::uint64_t{alone.visit(splitmix64(100 * i + 20))};
    dropped += std::uint64_t{header.visit(splitmix64(100 * i + 20)) == loop_verdict::looping};
  }
  const double p = loop_false_positive({}, 20);
  const double n = static_cast<double>(messages);
  EXPECT_NEAR(static_cast<double>(suspected), p * n, 4 * std::sqrt(n * p * (1 - p)));
  EXPECT_NEAR(static_cast<double>(dropped), p * p * n, 4 * std::sqrt(n * p * p));
}

// Forwarding tables with a wrong entry: the way leads into a circle of every length.
TEST(route_loop, every_loop_is_found_within_one_turn) {
  for (const loop_shape shape : {loop_shape{}, loop_shape{.bits = 256, .probes = 8}}) {
    for (std::uint64_t before = 0; before < 6; ++before) {
      for (std::uint64_t length = 1; length <= 24; ++length) {
        loop_header header(shape, 7);
        std::uint64_t hops = 0;
        const auto node = [&](std::uint64_t hop) {
          return splitmix64(hop < before ? hop : before + (hop - before) % length);
        };
        while (header.visit(node(hops)) != loop_verdict::looping) ++hops;
        EXPECT_LE(hops, before + length);
      }
    }
  }
}

TEST(route_loop, masks_have_as_many_bits_as_they_should_and_travel) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const link_mask mask = mask_of(i, 3, 200, 9);
    int ones = 0;
    for (const std::uint64_t word : mask) ones += std::popcount(word);
    EXPECT_EQ(ones, 9);
    EXPECT_EQ(mask[3] >> 8U, 0);
  }
  loop_filter there;
  loop_filter here;
  there.visit(1);
  here.set_words(there.words());
  EXPECT_TRUE(here.visit(1));
  EXPECT_TRUE(bloomery_test::throws(errc::bad_argument, "100",
                                    [] { loop_filter({.bits = 100, .probes = 4}); }));
}

}  // namespace
}  // namespace bloomery
