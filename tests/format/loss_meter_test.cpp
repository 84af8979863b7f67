// The number of keys that a filter took for known, against the number that it did. All keys are
// different, so each one that was not new is one.

#include "bloomery/format/loss_meter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/format/any_filter.hpp"

namespace {

using namespace bloomery;

struct lossy_stream {
  filter_kind kind;
  std::uint64_t planned;
  double fpr;
  std::uint64_t keys;
};

class every_loss : public testing::TestWithParam<lossy_stream> {};

// What is lost scatters by its root; the meter itself, which looks at some blocks, by 3 % in these
// streams, and 8 % are allowed. The keys are always the same, so the outcome is, too.
TEST_P(every_loss, loses_as_many_as_the_meter_says) {
  const lossy_stream& s = GetParam();
  any_filter f(sizing::make_plan({.kind = s.kind, .keys = s.planned, .fpr = s.fpr}),
               erase(xxh3_hasher(7)));
  loss_meter meter;
  std::uint64_t fresh = 0;
  std::vector<std::uint64_t> hashes(1000);
  std::vector<std::uint64_t> bits(hashes.size() / 64 + 1);
  for (std::uint64_t first = 0; first < s.keys; first += hashes.size()) {
    for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = mix64(first + i, 99);
    fresh += f->add_new(hashes, bits, &meter);
  }
  const auto lost = static_cast<double>(s.keys - fresh);
  EXPECT_NEAR(meter.expected(), lost, 0.08 * lost + 5 * std::sqrt(lost) + 5);
}

using enum filter_kind;
INSTANTIATE_TEST_SUITE_P(
    each, every_loss,
    testing::Values(lossy_stream{blocked, 100'000, 0.01, 100'000},  // as planned
                    lossy_stream{blocked, 30'000, 1e-6, 200'000},   // far too many, from a low rate
                    lossy_stream{blocked, 30'000, 0.01, 100'000},   // and from a high one
                    lossy_stream{blocked, 500, 0.01, 2000},         // a few blocks only
                    lossy_stream{windowed, 1000, 0.1, 200'000},     // many generations in a call
                    lossy_stream{windowed, 50'000, 0.01, 300'000},  //
                    lossy_stream{layered, 20'000, 0.05, 300'000},   // grows
                    lossy_stream{scalable, 20'000, 0.05, 300'000},  //
                    lossy_stream{classic, 100'000, 0.01, 200'000},  // has no blocks
                    lossy_stream{counting, 100'000, 0.01, 200'000}));

// A filter that forgets while a long piece is added is asked for each key in its turn.
TEST(add_new, is_the_same_for_many_as_for_one) {
  for (const filter_kind kind : {windowed, layered, scalable, blocked}) {
    const plan p = sizing::make_plan({.kind = kind, .keys = 300, .fpr = 0.1});
    any_filter many(p, erase(xxh3_hasher(7)));
    any_filter one(p, erase(xxh3_hasher(7)));
    std::vector<std::uint64_t> hashes(20'000);
    for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = mix64(i % 1000 * (i % 3), 5);
    std::vector<std::uint64_t> bits(hashes.size() / 64 + 1);
    const std::size_t fresh = many->add_new(hashes, bits);
    std::size_t expected = 0;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      std::uint64_t bit = 0;
      expected += one->add_new({&hashes[i], 1}, {&bit, 1});
      ASSERT_EQ((bits[i / 64] >> (i % 64)) & 1U, bit & 1U) << kind_name(kind) << " " << i;
    }
    EXPECT_EQ(fresh, expected);
    EXPECT_EQ(many->keys(), one->keys()) << kind_name(kind);
  }
}

}  // namespace
