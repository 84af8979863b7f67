// Sizes of the sketches: guarantees there and back, planners that keep their promise, errors with
// limits.
#include "bloomery/core/sizing_sketch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bloomery/core/sizing.hpp"
#include "bloomery/core/sizing_scatter.hpp"
#include "filter/samples.hpp"

namespace {

using namespace bloomery;
using namespace bloomery::sizing;
using bloomery_test::throws;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(sizing_sketch, guarantees_are_those_of_the_paper) {
  EXPECT_EQ(count_min_width(0.01), 272U);      // e / 0.01 = 271.8
  EXPECT_EQ(count_min_width(0.0001), 27183U);  // 27182.8
  EXPECT_EQ(count_min_depth(0.01), 5U);        // ln 100 = 4.6
  EXPECT_EQ(count_min_depth(0.001), 7U);       // ln 1000 = 6.9
  EXPECT_EQ(count_min_depth(0.9), 1U);
  EXPECT_NEAR(count_min_epsilon(272), 0.00999, 0.00001);
  EXPECT_NEAR(count_min_delta(5), 0.00674, 0.00001);
  for (const double epsilon : {0.9, 0.3, 0.01, 1e-6}) {
    EXPECT_LE(count_min_epsilon(count_min_width(epsilon)), epsilon);
    if (count_min_width(epsilon) > 3) {
      EXPECT_GT(count_min_epsilon(count_min_width(epsilon) - 1), epsilon);
    }
  }
  for (const double delta : {0.5, 0.05, 1e-9}) {
    EXPECT_LE(count_min_delta(count_min_depth(delta)), delta);
  }
}

TEST(sizing_sketch, a_shape_has_the_rows_that_were_asked_for) {
  for (const std::uint32_t cell : {8U, 16U, 32U, 64U}) {
    for (const double epsilon : {0.5, 0.01, 0.0003}) {
      const shape s = count_min_shape({.epsilon = epsilon, .delta = 0.02, .cell_bits = cell});
      EXPECT_EQ(s.bits % 512, 0U);
      EXPECT_EQ(s.probes, 4U);
      EXPECT_GE(count_min_row(s), count_min_width(epsilon));
      EXPECT_LT((count_min_row(s) - count_min_width(epsilon)) * s.probes * cell, 512U);
    }
  }
}

TEST(sizing_sketch, refuses_guarantees_out_of_range) {
  for (const double bad : {0.0, 1.0, -0.5, nan}) {
    EXPECT_TRUE(
        throws(errc::bad_argument, "above 0 and below 1", [&] { return count_min_width(bad); }));
    EXPECT_TRUE(throws(errc::bad_argument, "delta is", [&] { return count_min_depth(bad); }));
  }
  EXPECT_TRUE(throws(errc::bad_argument, "epsilon is", [] { return count_min_width(2.0); }));
  EXPECT_TRUE(throws(errc::bad_argument, "2^48", [] { return count_min_width(1e-15); }));
  EXPECT_TRUE(throws(errc::bad_argument, "2^48",
                     [] { return count_min_shape({.epsilon = 1e-12, .delta = 0.001}); }));
  EXPECT_TRUE(throws(errc::unreachable, "the limit is 64", [] { return count_min_depth(1e-28); }));
  EXPECT_TRUE(throws(errc::bad_argument, "the width is 0", [] { return count_min_epsilon(0); }));
  EXPECT_TRUE(throws(errc::bad_argument, "probes is 65", [] { return count_min_delta(65); }));
  EXPECT_TRUE(throws(errc::bad_argument, "24", [] { return count_min_shape({.cell_bits = 24}); }));
}

request asked(filter_kind kind, std::uint64_t keys, double fpr, std::uint32_t variant) {
  return {.kind = kind, .keys = keys, .fpr = fpr, .variant = variant};
}

TEST(sizing_sketch, plans_meet_their_target_and_little_more) {
  for (const std::uint64_t keys : {1U, 10U, 1000U, 1000000U}) {
    for (const double target : {0.3, 0.01, 1e-5}) {
      for (const std::uint32_t variant : {0U, 1U}) {
        const plan p = make_plan(asked(filter_kind::count_min, keys, target, variant));
        EXPECT_LE(p.fpr, target);
        EXPECT_EQ(p.shape.variant, variant);
        EXPECT_EQ(p.shape.cell_bits, 32U);
        if (keys > 100) {
          EXPECT_GT(likely_fpr(p.shape, keys), 0.9 * target) << keys << " " << target;
          EXPECT_LT(p.bits_per_key(), 32 * 1.5 * std::log2(1 / target) + 32);
        }
      }
      for (const std::uint32_t variant : {0U, 1U, 2U}) {
        const plan p = make_plan(asked(filter_kind::spectral, keys, target, variant));
        EXPECT_LE(p.fpr, target);
        EXPECT_EQ(p.shape.cell_bits, 32U);
        if (keys > 100) {
          EXPECT_GT(likely_fpr(p.shape, keys), 0.9 * target) << keys << " " << target;
        }
      }
    }
  }
}

TEST(sizing_sketch, a_second_filter_is_half_of_the_first) {
  const plan one = make_plan(asked(filter_kind::spectral, 10000, 0.01, 0));
  const plan two = make_plan(asked(filter_kind::spectral, 10000, 0.01, 2));
  const spectral_counters c = spectral_split(two.shape);
  EXPECT_GE(c.primary, spectral_split(one.shape).primary);
  EXPECT_EQ(c.secondary, (c.primary + c.secondary) / 3);
  EXPECT_EQ(spectral_split(one.shape).secondary, 0U);
}

TEST(sizing_sketch, sizes_are_never_exceeded) {
  for (const filter_kind kind :
       {filter_kind::count_min, filter_kind::spectral, filter_kind::top_k}) {
    for (const std::uint64_t bytes : {200U, 1000U, 123457U}) {
      const plan p = make_plan({.kind = kind, .keys = 1000, .bytes = bytes});
      EXPECT_LE(p.shape.bits, bytes * 8);
      EXPECT_GE(p.shape.bits, bytes * 8 - 64 * (p.shape.probes + 1));
      EXPECT_GE(p.fpr, 0.0);
      EXPECT_LE(p.fpr, 1.0);
    }
    EXPECT_LE(make_plan({.kind = kind, .keys = 1000, .bits_per_key = 40.0}).shape.bits, 40000U);
  }
  EXPECT_TRUE(throws(errc::bad_argument, "the number of bytes is 64", [] {
    return make_plan({.kind = filter_kind::top_k, .keys = 10, .bytes = 64});
  }));
  EXPECT_EQ(
      make_plan({.kind = filter_kind::count_min, .keys = 1000000, .bytes = 4096}).shape.probes, 4U)
      << "more keys than counters";
}

TEST(sizing_sketch, refuses_what_no_shape_can_be) {
  for (const filter_kind kind : {filter_kind::count_min, filter_kind::spectral}) {
    EXPECT_TRUE(throws(errc::unreachable, "keys/2^60",
                       [&] { return make_plan(asked(kind, 1000, 1e-17, 0)); }));
    EXPECT_TRUE(throws(errc::bad_argument, "2^48",
                       [&] { return make_plan(asked(kind, std::uint64_t{1} << 45U, 0.01, 0)); }));
    EXPECT_TRUE(
        throws(errc::bad_argument, "fpr is", [&] { return make_plan(asked(kind, 10, 1.5, 0)); }));
    for (const std::uint32_t cell : {0U, 4U, 12U, 128U}) {
      EXPECT_TRUE(throws(errc::bad_argument, "8, 16, 32 or 64", [&] {
        return make_plan({.kind = kind, .keys = 10, .fpr = 0.1, .cell_bits = cell});
      }));
    }
    EXPECT_TRUE(throws(errc::bad_argument, "the variant is 9",
                       [&] { return make_plan(asked(kind, 10, 0.1, 9)); }));
  }
  EXPECT_TRUE(throws(errc::bad_argument, "bytes is 64", [] {
    return make_plan({.kind = filter_kind::count_min, .keys = 10, .bytes = 64});
  }));
  EXPECT_TRUE(throws(errc::bad_argument, "bytes is 8", [] {
    return make_plan(
        {.kind = filter_kind::spectral, .keys = 10, .bytes = 8, .cell_bits = 64, .variant = 2});
  }));
  EXPECT_TRUE(throws(errc::bad_argument, "32 in a top-k filter", [] {
    return make_plan({.kind = filter_kind::top_k, .keys = 10, .fpr = 0.1, .cell_bits = 16});
  }));
  EXPECT_TRUE(throws(errc::bad_argument, "the variant is 0", [] { return top_k_shape(0, 2, 64); }));
  EXPECT_TRUE(throws(errc::bad_argument, "the width is 0", [] { return top_k_shape(1, 2, 0); }));
}

}  // namespace
