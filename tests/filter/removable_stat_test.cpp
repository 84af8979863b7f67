// Counting and cuckoo filters, measured: rates against their models and targets, counters that
// stick, and how far a cuckoo table fills.
//
// Everything is fixed: filter number s of a cell takes its keys from stream s of sample_hash and
// its queries from another. Tolerances are five standard deviations of the mean over the filters,
// taken from the sample itself and never below the binomial noise of the queries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/core/sizing_removable.hpp"
#include "bloomery/filter/counting.hpp"
#include "bloomery/filter/cuckoo.hpp"
#include "filter/samples.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

constexpr double z = 5;
constexpr std::uint64_t filters = 20;
constexpr std::uint64_t queries = 200'000;

struct sample {
  double mean = 0;
  double deviation = 0;  // of the mean
};

sample summary(const std::vector<double>& values, double least_variance) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double v : values) sum += v;
  const double mean = sum / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {.mean = mean, .deviation = std::sqrt(std::max(squares / (n - 1), least_variance) / n)};
}

// Fills filters as planned, expects no false negative, and measures.
template <class Filter>
void expect_rate(const plan& p) {
  std::vector<double> rates;
  double stated = 0;
  for (std::uint64_t s = 0; s < filters; ++s) {
    Filter f(p);
    const auto keys = sample_hashes(static_cast<std::size_t>(p.keys), 2 * s);
    f.add_batch(keys);
    ASSERT_EQ(f.contains_count(keys), keys.size());
    const auto wrong = f.contains_count(sample_hashes(queries, 2 * s + 1));
    rates.push_back(static_cast<double>(wrong) / static_cast<double>(queries));
    stated += f.fpr() / static_cast<double>(filters);
  }
  const sample m = summary(rates, p.fpr / static_cast<double>(queries));
  EXPECT_NEAR(m.mean, p.fpr, z * m.deviation) << "the model";
  EXPECT_NEAR(m.mean, stated, z * m.deviation) << "what the filters say";
  EXPECT_LE(m.mean, p.fpr_target + z * m.deviation) << "the target";
}

TEST(counting_filter, errs_as_its_model_says) {
  for (const std::uint32_t width : {2U, 4U, 8U, 16U}) {
    for (const std::uint32_t block_bits : {0U, 512U}) {
      for (const double fpr : {0.05, 0.01, 0.001}) {
        SCOPED_TRACE(testing::Message() << width << " bits, block " << block_bits << ", " << fpr);
        expect_rate<counting_filter>(sizing::make_plan({.kind = filter_kind::counting,
                                                        .keys = 10'000,
                                                        .fpr = fpr,
                                                        .cell_bits = width,
                                                        .block_bits = block_bits}));
      }
    }
  }
}

// After half of the keys were removed the filter is one of the other half.
TEST(counting_filter, errs_after_removals_as_if_the_keys_had_never_been) {
  for (const std::uint32_t block_bits : {0U, 512U}) {
    const plan p = sizing::make_plan(
        {.kind = filter_kind::counting, .keys = 20'000, .fpr = 0.05, .block_bits = block_bits});
    std::vector<double> rates;
    for (std::uint64_t s = 0; s < filters; ++s) {
      counting_filter f(p);
      const auto keys = sample_hashes(20'000, 2 * s);
      f.add_batch(keys);
      ASSERT_EQ(f.remove_batch(std::span(keys).first(10'000)), 10'000U);
      ASSERT_EQ(f.contains_count(std::span(keys).last(10'000)), 10'000U);
      const auto wrong = f.contains_count(sample_hashes(queries, 2 * s + 1));
      rates.push_back(static_cast<double>(wrong) / static_cast<double>(queries));
    }
    const double model = sizing::counting_fpr(p.shape, 10'000);
    const sample m = summary(rates, model / static_cast<double>(queries));
    EXPECT_NEAR(m.mean, model, z * m.deviation);
  }
}

// With 2 bits a counter sticks at 3, and a few in a hundred do. The loose bound is one for each of
// them.
TEST(counting_filter, counters_stick_as_often_as_the_model_says) {
  for (const std::uint32_t width : {2U, 4U}) {
    for (const std::uint32_t block_bits : {0U, 512U}) {
      SCOPED_TRACE(testing::Message() << width << " bits, block " << block_bits);
      const plan p = sizing::make_plan({.kind = filter_kind::counting,
                                        .keys = 2000,
                                        .fpr = 0.02,
                                        .cell_bits = width,
                                        .block_bits = block_bits});
      // 4-bit counters are overfilled fifteenfold to see some stick.
      const std::uint64_t keys = width == 2 ? 2000 : 30'000;
      std::vector<double> stuck;
      for (std::uint64_t s = 0; s < 200; ++s) {
        counting_filter f(p);
        f.add_batch(sample_hashes(static_cast<std::size_t>(keys), s));
        stuck.push_back(static_cast<double>(f.saturated()));
      }
      const double model = sizing::counting_overflow(p.shape, keys);
      EXPECT_GT(model, 50.0);
      const sample m = summary(stuck, 1.0);
      EXPECT_NEAR(m.mean, model, z * m.deviation);
    }
  }
}

// At planned sizes 4 bits are enough: 1e-15 for each of 40 million counters.
TEST(counting_filter, four_bits_do_not_stick_at_planned_sizes) {
  for (const std::uint32_t block_bits : {0U, 512U}) {
    counting_filter f(sizing::make_plan(
        {.kind = filter_kind::counting, .keys = 2'000'000, .fpr = 0.01, .block_bits = block_bits}));
    for (std::uint64_t s = 0; s < 20; ++s) f.add_batch(sample_hashes(100'000, s));
    EXPECT_EQ(f.saturated(), 0U);
    EXPECT_LE(sizing::counting_overflow_bound(f.shape(), f.keys()), 1e-6);
  }
}

TEST(cuckoo_filter, errs_as_its_model_says) {
  for (const double fpr : {0.05, 0.01, 0.001}) {
    SCOPED_TRACE(fpr);
    expect_rate<cuckoo_filter>(
        sizing::make_plan({.kind = filter_kind::cuckoo, .keys = 10'000, .fpr = fpr}));
  }
  for (const std::uint32_t cells : {1U, 2U, 8U, 40U}) {
    SCOPED_TRACE(cells);
    expect_rate<cuckoo_filter>(sizing::make_plan(
        {.kind = filter_kind::cuckoo, .keys = 10'000, .fpr = 0.01, .bucket_cells = cells}));
  }
}

// Beyond the plan the rate grows, and fpr() says so.
TEST(cuckoo_filter, says_its_rate_when_it_has_grown) {
  std::vector<double> rates;
  double stated = 0;
  for (std::uint64_t s = 0; s < filters; ++s) {
    cuckoo_filter f(options{.keys = 2000, .fpr = 0.01});
    f.add_batch(sample_hashes(15'000, 2 * s));
    ASSERT_EQ(f.layers(), 4U);
    const auto wrong = f.contains_count(sample_hashes(queries, 2 * s + 1));
    rates.push_back(static_cast<double>(wrong) / static_cast<double>(queries));
    stated += f.fpr() / static_cast<double>(filters);
  }
  const sample m = summary(rates, stated / static_cast<double>(queries));
  EXPECT_NEAR(m.mean, stated, z * m.deviation);
  EXPECT_GT(m.mean, 0.02);
}

// 95 % and more before the first failure, at the default bucket. 15 different fingerprints give 15
// different mirrors only, and fill to 96 %; from 6 bits on it is 97 %.
TEST(cuckoo_filter, fills_at_least_to_95_percent) {
  for (const std::uint32_t bits : {4U, 5U, 7U, 10U, 13U, 32U}) {
    for (const std::uint64_t buckets : {100'000U, 131'072U, 250'007U}) {
      const plan p{.shape = {.kind = filter_kind::cuckoo,
                             .probes = 2,
                             .block_bits = 4 * bits,
                             .cell_bits = bits,
                             .bits = 64 * (cuckoo_geometry::preamble_words(1) +
                                           cuckoo_geometry::layer_words(buckets, 4 * bits))}};
      cuckoo_filter f(p);
      f.set_max_layers(1);
      std::uint64_t added = 0;
      while (f.add(sample_hash(added))) ++added;
      EXPECT_GE(f.fill(), 0.95) << bits << " bits, " << buckets << " buckets";
    }
  }
}

// Planned tables hardly ever need a second layer; 1 in 100 of the small ones may.
TEST(cuckoo_filter, planned_keys_fit_into_one_layer) {
  for (const std::uint64_t keys : {3U, 10U, 30U, 100U, 300U, 1000U, 10'000U}) {
    std::uint64_t grown = 0;
    const std::uint64_t trials = keys <= 1000 ? 1000 : 100;
    for (std::uint64_t s = 0; s < trials; ++s) {
      cuckoo_filter f(options{.keys = keys, .fpr = 0.01});
      f.add_batch(sample_hashes(static_cast<std::size_t>(keys), s));
      grown += std::uint64_t{f.layers() > 1};
    }
    EXPECT_LE(grown, trials / 50) << keys << " keys";
  }
}

}  // namespace
