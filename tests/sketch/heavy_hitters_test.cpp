// Heavy hitters: every key with the share is listed, and no more than the bound.
#include "bloomery/sketch/heavy_hitters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "filter/samples.hpp"
#include "sketch/streams.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

TEST(heavy_hitters, lists_every_key_above_the_share) {
  for (const double exponent : {0.8, 1.2}) {
    for (const double phi : {0.002, 0.02}) {
      const auto stream = zipf_stream(5000, 30000, exponent, 9);
      const auto truth = counts_in(stream, 5000);
      count_min sketch(count_min_guarantee{.epsilon = phi / 2, .delta = 0.001});
      heavy_hitters tracker(sketch, phi);
      for (const std::uint32_t key : stream) tracker.add(sample_hash(key));
      const auto list = tracker.list();
      EXPECT_LE(list.size(), tracker.capacity());
      for (std::uint32_t key = 0; key < truth.size(); ++key) {
        const bool listed = std::any_of(list.begin(), list.end(),
                                        [&](const auto& e) { return e.hash == sample_hash(key); });
        EXPECT_TRUE(listed || static_cast<double>(truth[key]) < phi * 30000) << key;
        EXPECT_TRUE(!listed || static_cast<double>(truth[key]) >= phi / 2 * 30000) << key;
        EXPECT_EQ(listed, sketch.heavy(sample_hash(key), phi)) << key;
      }
      EXPECT_TRUE(std::is_sorted(list.begin(), list.end(),
                                 [](const auto& a, const auto& b) { return a.count > b.count; }));
    }
  }
}

// Counts are asked for again before a candidate goes, so that what came past the tracker counts.
TEST(heavy_hitters, keeps_a_candidate_that_grew_behind_its_back) {
  count_min sketch(count_min_guarantee{.epsilon = 0.001, .delta = 0.001, .cell_bits = 64});
  heavy_hitters tracker(sketch, 0.3);
  ASSERT_EQ(tracker.capacity(), 7U);
  tracker.add(sample_hash(0), 100);
  for (std::uint64_t i = 1; i < 7; ++i) tracker.add(sample_hash(i), sketch.total() / 2 + 1);
  const std::uint64_t before = sketch.total();
  sketch.add(sample_hash(0), 2 * before);
  tracker.add(sample_hash(7), before + before / 2);  // the eighth: a third of all
  const auto list = tracker.list();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].hash, sample_hash(0));
  EXPECT_EQ(list[0].count, 100 + 2 * before);
  EXPECT_EQ(list[1].hash, sample_hash(7));
}

TEST(heavy_hitters, stays_within_its_bound_in_a_sketch_that_is_too_small) {
  count_min sketch(plan{.shape = {.kind = filter_kind::count_min,
                                  .probes = 1,
                                  .cell_bits = 32,
                                  .bits = 512 + 128}});  // four counters
  heavy_hitters tracker(sketch, 0.1);
  for (std::uint64_t i = 0; i < 1000; ++i) tracker.add(sample_hash(i));
  EXPECT_EQ(tracker.capacity(), 20U);
  EXPECT_EQ(tracker.list().size(), 20U);
}

TEST(heavy_hitters, refuses_shares_out_of_range) {
  count_min s(count_min_guarantee{.epsilon = 0.1, .delta = 0.1});
  for (const double phi : {0.0, -1.0, 1.5, 1e-9}) {
    EXPECT_TRUE(throws(errc::bad_argument, "phi is", [&] { heavy_hitters(s, phi); })) << phi;
  }
}

}  // namespace
