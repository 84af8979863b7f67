#include "bloomery/guard/guard.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "bloomery/filter/keyed.hpp"
#include "bloomery/filter/ribbon.hpp"
#include "format/files.hpp"

namespace bloomery {
namespace {

using bloomery_test::throws;

filter filter_of(std::uint64_t first, std::uint64_t last, double fpr = 0.01) {
  filter f({.keys = last - first, .fpr = fpr});
  for (std::uint64_t key = first; key < last; ++key) f.add(key);
  return f;
}

TEST(guard, calls_the_store_for_hits_and_false_positives_only) {
  constexpr std::uint64_t keys = 20'000;
  std::uint64_t calls = 0;
  guard g(filter_of(0, keys), [&](std::uint64_t key) -> std::optional<std::uint64_t> {
    ++calls;
    return key < keys ? std::optional(key + 1) : std::nullopt;
  });
  for (std::uint64_t key = 0; key < 5 * keys; ++key) {
    ASSERT_EQ(g(key), key < keys ? std::optional(key + 1) : std::nullopt) << key;
  }
  const guard_report r = g.report();
  EXPECT_EQ(r.hit, keys);
  EXPECT_EQ(r.passed(), calls);
  EXPECT_EQ(r.asked(), 5 * keys);
  EXPECT_EQ(r.avoided, 5 * keys - calls);
  EXPECT_DOUBLE_EQ(r.wasted_share(),
                   static_cast<double>(r.wasted) / static_cast<double>(keys + r.wasted));
  // fpr() is the rate of these bits, so the count is binomial: five standard deviations.
  const double expected = g.fpr() * 4 * keys;
  EXPECT_NEAR(static_cast<double>(r.wasted), expected, 5 * std::sqrt(expected));
}

TEST(guard, takes_any_answer_that_can_be_false) {
  const std::unordered_map<std::string, int> store = {{"apples", 3}};
  filter f({.keys = 10, .fpr = 1e-6});
  f.add("apples");
  guard pointers(f, [&](const std::string& key) {
    const auto at = store.find(key);
    return at == store.end() ? nullptr : &at->second;
  });
  ASSERT_NE(pointers.find(std::string("apples")), nullptr);
  EXPECT_EQ(*pointers.find(std::string("apples")), 3);
  EXPECT_EQ(pointers.find(std::string("mango")), nullptr);
  guard flags(f, [&](std::string_view key) { return store.contains(std::string(key)); });
  EXPECT_TRUE(flags("apples"));
  EXPECT_FALSE(flags("mango"));
}

TEST(guard, says_whether_it_pays) {
  const auto slow = [](std::uint64_t key) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    return key < 10;
  };
  guard worth(filter_of(0, 10), slow, {.sample_every = 2});
  EXPECT_EQ(worth.report().pays(), std::nullopt);
  for (std::uint64_t key = 0; key < 1000; ++key) (void)worth(key);
  const guard_report r = worth.report();
  ASSERT_TRUE(r.filter_ns && r.lookup_ns);
  EXPECT_GE(*r.lookup_ns, 200'000.0);
  EXPECT_TRUE(r.pays().value());
  EXPECT_LT(r.guarded_ns().value(), r.unguarded_ns().value());
  // By the formula, from the report's own numbers.
  EXPECT_NEAR(*r.guarded_ns(),
              *r.filter_ns + *r.lookup_ns * static_cast<double>(r.passed()) / 1000.0, 1e-3);
  // All keys are there: the filter only costs.
  const guard_report hits_only{.hit = 1000, .filter_ns = 5, .lookup_ns = 1000};
  EXPECT_FALSE(hits_only.pays().value());
}

TEST(guard, ages_with_keys_and_with_removals) {
  guard g(filter_of(0, 10'000), [](std::uint64_t key) { return key < 30'000; });
  EXPECT_FALSE(g.aged());
  EXPECT_FALSE(g.rebuild_if_aged([] { return filter_of(0, 1); }));
  for (std::uint64_t key = 10'000; key < 30'000; ++key) g.add(key);
  EXPECT_TRUE(g.find(std::uint64_t{29'999}));
  EXPECT_TRUE(g.aged());
  EXPECT_TRUE(g.rebuild_if_aged([] { return filter_of(0, 30'000); }));
  g.wait();
  EXPECT_FALSE(g.aged());
  EXPECT_LT(g.fpr(), 0.011);
  g.removed(3'000);
  EXPECT_FALSE(g.aged());
  g.removed(1);
  EXPECT_TRUE(g.aged());
  EXPECT_TRUE(g.rebuild([] { return filter_of(0, 26'999); }));
  g.wait();
  EXPECT_FALSE(g.aged());
}

TEST(guard, a_rebuild_that_fails_leaves_the_old_filter) {
  guard g(filter_of(0, 100), [](std::uint64_t key) { return key < 100; });
  g.rebuild([]() -> filter { throw error(errc::io, "the store is gone"); });
  EXPECT_TRUE(throws(errc::io, "the store is gone", [&] { g.wait(); }));
  g.wait();  // says it once
  g.rebuild([] { return filter({.keys = 100, .seed = 7}); });
  EXPECT_TRUE(throws(errc::mismatch, "another hash or seed", [&] { g.wait(); }));
  for (std::uint64_t key = 0; key < 100; ++key) ASSERT_TRUE(g(key));
}

TEST(guard, takes_filters_that_never_change) {
  using ribbon = keyed<ribbon_filter>;
  const auto make = [](std::uint64_t keys) {
    std::vector<std::uint64_t> hashes;
    for (std::uint64_t key = 0; key < keys; ++key) {
      hashes.push_back(hash_key(xxh3_hasher(), key));
    }
    const auto p = sizing::make_plan({.kind = filter_kind::ribbon, .keys = keys, .fpr = 0.01});
    return ribbon(ribbon_filter(p, hashes));
  };
  guard g(make(1000), [](std::uint64_t key) { return key < 2000; });
  EXPECT_TRUE(g(999));
  g.rebuild([&] { return make(2000); });
  g.wait();
  for (std::uint64_t key = 0; key < 2000; ++key) ASSERT_TRUE(g(key));
}

}  // namespace
}  // namespace bloomery
