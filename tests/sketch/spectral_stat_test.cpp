// The spectral filter's rates on streams with fixed seeds.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "bloomery/sketch/spectral.hpp"
#include "filter/samples.hpp"
#include "sketch/streams.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

// 400,000 questions; tolerance four standard deviations of the binomial.
TEST(spectral_stat, rate_of_absent_keys_is_the_model_and_at_most_the_target) {
  for (const std::uint32_t variant : {0U, 1U, 2U}) {
    for (const double target : {0.05, 0.002}) {
      const plan p = sizing::make_plan(
          {.kind = filter_kind::spectral, .keys = 20000, .fpr = target, .variant = variant});
      spectral_filter s(p);
      s.add_batch(sample_hashes(20000));
      const std::size_t asked = 400000;
      const auto found = static_cast<double>(s.contains_count(sample_hashes(asked, 2)));
      const double deviation = std::sqrt(target * static_cast<double>(asked));
      EXPECT_LE(p.fpr, target);
      EXPECT_NEAR(found, p.fpr * static_cast<double>(asked), 4 * deviation) << target;
      EXPECT_NEAR(found, s.fpr() * static_cast<double>(asked), 4 * deviation) << target;
    }
  }
}

struct errors {
  std::uint64_t low = 0;
  double mean = 0;  // of what is too high, over all keys
};

errors measure(spectral_filter& s, double exponent) {
  const auto stream = zipf_stream(10000, 200000, exponent, 4);
  const auto truth = counts_in(stream, 10000);
  s.add_batch(hashes_of(stream));
  errors e;
  for (std::uint32_t key = 0; key < truth.size(); ++key) {
    const std::uint64_t counted = s.count(sample_hash(key));
    if (counted < truth[key]) {
      ++e.low;
    } else {
      e.mean += static_cast<double>(counted - truth[key]) / static_cast<double>(truth.size());
    }
  }
  return e;
}

// 71,429 primary counters for 10,000 keys and 5 probes (kn/m = 0.7), 200,000 additions. Recurring
// minimum gets its second filter on top. Measured: see docs/math.md. The bounds leave a third for
// another seed:
//   - minimal increase has less than a quarter of the error of minimum selection;
//   - recurring minimum less than two thirds, and is too low for at most 0.05 % of the keys (the
//     published rule: 0.4 to 1.6 %).
TEST(spectral_stat, rules_differ_as_the_paper_says) {
  for (const double exponent : {0.0, 0.5, 1.0}) {
    std::array<errors, 3> e;
    for (const std::uint32_t variant : {0U, 1U, 2U}) {
      const std::uint64_t cells = variant == 2 ? 107144 : 71430;
      spectral_filter s(plan{.shape = {.kind = filter_kind::spectral,
                                       .probes = 5,
                                       .cell_bits = 32,
                                       .variant = variant,
                                       .bits = cells * 32}});
      e[variant] = measure(s, exponent);
    }
    EXPECT_EQ(e[0].low, 0U);
    EXPECT_EQ(e[1].low, 0U);
    EXPECT_LE(e[2].low, 5U);
    EXPECT_LT(e[1].mean, 0.25 * e[0].mean) << exponent;
    EXPECT_LT(e[2].mean, 0.67 * e[0].mean) << exponent;
  }
}

}  // namespace
