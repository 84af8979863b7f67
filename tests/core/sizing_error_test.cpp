// What the formulas say to values that they cannot take.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "core/numbers.hpp"

namespace bloomery::sizing {
namespace {

struct bad_call {
  const char* name;
  double (*call)();
  std::string_view value;  // must be in the text, and so must the limit
  std::string_view limit;
};

class BadSizing : public testing::TestWithParam<bad_call> {};

TEST_P(BadSizing, IsRefusedWithTheValueAndTheLimit) {
  try {
    const double result = GetParam().call();
    FAIL() << "returned " << result;
  } catch (const error& e) {
    const std::string text = e.what();
    EXPECT_EQ(e.code(), errc::bad_argument);
    EXPECT_NE(text.find(GetParam().value), std::string::npos) << text;
    EXPECT_NE(text.find(GetParam().limit), std::string::npos) << text;
  }
}

const bad_call bad_calls[] = {
    {"classic_without_keys", [] { return classic_fpr(0, 8, 1); }, "keys is 0", "at least 1"},
    {"classic_without_bits", [] { return classic_fpr(1, 0, 1); }, "bits is 0", "from 1 to 2^48"},
    {"classic_too_long", [] { return classic_fpr(1, max_bits + 1, 1); }, "281474976710657", "2^48"},
    {"classic_without_probes", [] { return classic_fpr(1, 8, 0); }, "probes is 0", "from 1 to 64"},
    {"classic_many_probes", [] { return classic_fpr(1, 8, 65); }, "probes is 65", "from 1 to 64"},
    {"approx_without_keys", [] { return classic_fpr_approx(0, 8, 1); }, "keys is 0", "at least 1"},
    {"expected_without_bits", [] { return classic_fpr_expected(1, 0, 1); }, "bits is 0", "2^48"},
    {"partitioned_many_probes", [] { return partitioned_fpr(1, 800, 65); }, "65", "from 1 to 64"},
    {"partitioned_too_short", [] { return partitioned_fpr(1, 6, 7); }, "bits is 6", "probes"},
    {"blocked_without_keys", [] { return blocked_fpr(0, 1, 1); }, "keys is 0", "at least 1"},
    {"blocked_without_blocks", [] { return blocked_fpr(1, 0, 1); }, "blocks is 0",
     "from 1 to 2^39"},
    {"blocked_too_many_blocks", [] { return blocked_fpr(1, (1ULL << 39U) + 1, 1); }, "549755813889",
     "2^39"},
    {"blocked_without_probes", [] { return blocked_fpr(1, 1, 0); }, "probes is 0", "from 1 to 16"},
    {"blocked_many_probes", [] { return blocked_fpr(1, 1, 17); }, "probes is 17", "from 1 to 16"},
    {"split_without_keys", [] { return split_block_fpr(0, 1); }, "keys is 0", "at least 1"},
    {"split_without_blocks", [] { return split_block_fpr(1, 0); }, "blocks is 0", "from 1 to 2^40"},
    {"split_too_many_blocks", [] { return split_block_fpr(1, (1ULL << 40U) + 1); }, "1099511627777",
     "from 1 to 2^40"},
    {"simple_many_probes", [] { return blocked_fpr_simple(1, 1, 17); }, "17", "from 1 to 16"},
    {"ideal_probes_zero", [] { return ideal_probes(0); }, "bits per key is 0", "above 0"},
    {"ideal_probes_nan", [] { return ideal_probes(nan_value); }, "nan", "above 0"},
    {"best_probes_negative", [] { return 1.0 * best_probes(filter_kind::blocked, -1); }, "-1",
     "above 0"},
    {"best_probes_infinite", [] { return 1.0 * best_probes(filter_kind::classic, infinity); },
     "inf", "finite"},
    {"cheapest_probes_fpr", [] { return 1.0 * cheapest_probes(1, 8, 1.0).value_or(0); }, "fpr is 1",
     "below 1"},
    {"bits_per_key_probes", [] { return bits_per_key(0, 0.1); }, "probes is 0", "at least 1"},
    {"bits_per_key_fpr_0", [] { return bits_per_key(1, 0.0); }, "fpr is 0", "above 0"},
    {"bits_per_key_fpr_nan", [] { return bits_per_key(1, nan_value); }, "fpr is nan", "below 1"},
    {"shortest_without_keys", [] { return shortest_length(0, 0.1).bits; }, "keys is 0", "at least"},
    {"shortest_fpr", [] { return shortest_length(1, -0.5).bits; }, "fpr is -0.5", "above 0"},
    {"lower_bound_keys", [] { return lower_bound_bits(0, 0.1); }, "keys is 0", "at least 1"},
    {"lower_bound_fpr", [] { return lower_bound_bits(1, 2.0); }, "fpr is 2", "below 1"},
    {"universe_too_small", [] { return lower_bound_bits(10, 0.1, 9); }, "universe is 9",
     "at least the number of keys"},
    {"universe_infinite", [] { return lower_bound_bits(10, 0.1, infinity); }, "inf", "finite"},
    {"universe_nan", [] { return lower_bound_bits(10, 0.1, nan_value); }, "nan", "finite"},
    {"deviation_zero", [] { return concentration_bound(1, 8, 1, 0); }, "deviation is 0", "above 0"},
    {"overflow_without_keys", [] { return overflow_bound(0, 8, 1, 16); }, "keys is 0",
     "at least 1"},
    {"overflow_without_counters", [] { return overflow_bound_loose(0, 16); }, "0", "2^48"},
    {"lookup_fpr", [] { return mean_time({.present = 1, .fpr = 1.5}); }, "fpr is 1.5", "to 1"},
    {"lookup_without_queries", [] { return mean_time({.fpr = 0.5}); }, "queries is 0", "above 0"},
    {"lookup_negative_time", [] { return mean_time({.present = 1, .lookup_time = -1}); }, "-1",
     "at least 0"},
    {"lookup_nan", [] { return mean_time({.present = nan_value}); }, "nan", "at least 0"},
    {"too_many_bits_set",
     [] {
       return sizing::estimate_keys({.kind = filter_kind::classic, .probes = 1, .bits = 64}, 65);
     },
     "65", "at most"},
    {"fill_of_another_kind",
     [] {
       return expected_fill(
           make_plan({.kind = filter_kind::ribbon, .keys = 1000, .fpr = 0.01}).shape, 1000);
     },
     "ribbon", "one array"},
    {"fpr_of_no_shape", [] { return fpr(shape{}, 1); }, "bits is 0", "2^48"},
};

INSTANTIATE_TEST_SUITE_P(Everywhere, BadSizing, testing::ValuesIn(bad_calls),
                         [](const auto& tested) { return std::string(tested.param.name); });

// Filters that are made of parts say what was asked of them, not what they ask of a part.
TEST(BadPlan, NamesTheNumbersThatWereGiven) {
  struct wish {
    std::uint64_t keys;
    double fpr;
    std::string_view text;
  };
  constexpr wish wishes[] = {
      {UINT64_MAX, 0.01, "an fpr of 0.01 for 18446744073709551615 keys"},
      {1000, 1e-9, "an fpr of 1e-09 for 1000 keys"},
      {1000, 1e-12, "an fpr of 1e-12 for 1000 keys"},
      {1'000'000'000'000'000, 0.01, "1000000000000000 keys would need more"},
  };
  for (const filter_kind kind : {filter_kind::windowed, filter_kind::layered}) {
    for (const wish& w : wishes) {
      try {
        static_cast<void>(make_plan({.kind = kind, .keys = w.keys, .fpr = w.fpr}));
        FAIL() << w.text;
      } catch (const error& e) {
        EXPECT_NE(std::string_view(e.what()).find(w.text), std::string_view::npos) << e.what();
      }
    }
  }
}

}  // namespace
}  // namespace bloomery::sizing
