// Filters that follow their owners: every change arrives, costs about its entropy, and damage is
// noticed.
#include "bloomery/route/summary.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bloomery/set/algebra.hpp"
#include "filter/samples.hpp"
#include "route/graphs.hpp"

namespace bloomery {
namespace {

using bloomery_test::asking;
using bloomery_test::key_of;
using bloomery_test::summary_plan;
using bloomery_test::throws;

// The bits that tell which d of m positions differ.
double entropy_bits(double m, double d) {
  return (std::lgamma(m + 1) - std::lgamma(d + 1) - std::lgamma(m - d + 1)) / std::log(2.0);
}

TEST(route_summary, changes_of_any_size_come_back_as_the_positions_that_differ) {
  const std::uint64_t bits = 100'003;
  for (const std::uint64_t flips : {0U, 1U, 2U, 7U, 100U, 512U, 513U, 3000U, 30'000U, 100'003U}) {
    bit_array from(bits);
    bit_array to(bits);
    std::set<std::uint64_t> expected;
    for (std::uint64_t i = 0; expected.size() < flips; ++i) {
      expected.insert(flips == bits ? i : splitmix64(i) % bits);
    }
    for (const std::uint64_t p : expected) {
      detail::set_bit(p % 2 == 0 ? from.words().data() : to.words().data(), p);
    }
    const auto bytes = encode_change(from.words(), to.words(), bits);
    const auto found = decode_change(bytes, bits);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end())) << flips;
    // At most 5 % above the entropy, 2 bytes of form and number, and the states of the other code.
    const double entropy = entropy_bits(static_cast<double>(bits), static_cast<double>(flips)) / 8;
    EXPECT_LE(static_cast<double>(bytes.size()), 1.05 * entropy + (flips <= 512 ? 4 : 90)) << flips;
  }
}

TEST(route_summary, one_changed_key_costs_less_than_three_times_its_entropy) {
  for (const std::uint64_t keys : {1000U, 30'000U, 1'000'000U}) {
    const plan p =
        sizing::make_plan({.kind = filter_kind::classic, .keys = keys, .bits_per_key = 8.0});
    announced_summary sent(p, 1);
    local_summary own(p);
    for (std::uint64_t i = 0; i < 100; ++i) own.add(key_of(1, i));
    ASSERT_TRUE(sent.next(own.filter().words()));
    own.add(key_of(2, 1));
    const std::uint64_t before = own.filter().bits_set();
    const auto change = sent.next(own.filter().words());
    ASSERT_TRUE(change);
    const double flips = static_cast<double>(decode_change(change->bytes, p.shape.bits).size());
    ASSERT_GT(before, 100);
    // As it travels: level and flag in a byte, four of the check sum.
    const double bytes = static_cast<double>(change->bytes.size()) + 5;
    EXPECT_LE(8 * bytes, 3 * entropy_bits(static_cast<double>(p.shape.bits), flips)) << keys;
  }
}

TEST(route_summary, local_keys_can_go_again) {
  local_summary own(summary_plan(1000));
  for (std::uint64_t i = 0; i < 1000; ++i) own.add(key_of(1, i));
  for (std::uint64_t i = 0; i < 500; ++i) EXPECT_TRUE(own.remove(key_of(1, i)));
  classic_filter expected(summary_plan(1000));
  for (std::uint64_t i = 500; i < 1000; ++i) expected.add(key_of(1, i));
  EXPECT_TRUE(own.filter() == expected);
  EXPECT_EQ(own.filter().keys(), 500);
}

TEST(route_summary, a_table_follows_every_link_and_knows_the_union) {
  const plan p = summary_plan(2000);
  summary_table table(p);
  std::vector<local_summary> nodes(5, local_summary(p));
  std::vector<announced_summary> sent(5, announced_summary(p, 0));
  for (link_id i = 0; i < 5; ++i) {
    table.add_link(i);
    table.take(i, sent[i].whole());
  }
  // Keys come and go at random; the table is never wrong, and its union is that of the filters.
  for (std::uint64_t step = 0; step < 400; ++step) {
    const std::uint64_t random = splitmix64(step);
    const auto who = static_cast<link_id>(random % 5);
    const std::uint64_t key = key_of(who, (random >> 20U) % 50);
    if (!nodes[who].filter().contains(key)) {
      nodes[who].add(key);
    } else {
      nodes[who].remove(key);
    }
    if (auto a = sent[who].next(nodes[who].filter().words())) table.take(who, *a);
  }
  classic_filter all(p);
  for (link_id i = 0; i < 5; ++i) {
    ASSERT_TRUE(*table.filter_of(i) == nodes[i].filter());
    all |= nodes[i].filter();
  }
  EXPECT_TRUE(table.merged() == all);
  table.remove_link(3);
  classic_filter rest(p);
  for (const link_id i : {0U, 1U, 2U, 4U}) rest |= nodes[i].filter();
  EXPECT_TRUE(table.merged() == rest);
  EXPECT_EQ(table.filter_of(3), nullptr);
}

TEST(route_summary, asks_all_links_as_each_filter_would_answer) {
  const plan p = summary_plan(200, 0.2);
  summary_table table(p);
  for (link_id i = 0; i < 70; ++i) {
    local_summary own(p);
    for (std::uint64_t k = 0; k < 200; ++k) own.add(key_of(i, k));
    announced_summary sent(p, 0);
    const auto first = sent.next(own.filter().words());
    table.add_link(i);
    table.take(i, sent.whole());
    ASSERT_TRUE(first);
  }
  table.add_link(99);
  for (std::uint64_t i = 0; i < 300; ++i) {
    const route_query q{.hashes = {key_of(i % 80, i), key_of((i + i / 150) % 80, i)},
                        .covered = {}};
    std::vector<link_id> expected;
    for (link_id link = 0; link < 70; ++link) {
      if (q.may_match(*table.filter_of(link))) expected.push_back(link);
    }
    EXPECT_EQ(table.matching(q, false), expected);
  }
  EXPECT_EQ(table.matching(asking(key_of(500, 1)), true).front(), 99);
}

TEST(route_summary, refuses_what_does_not_lead_to_what_it_names) {
  const plan p = summary_plan(1000);
  summary_table table(p);
  table.add_link(1);
  local_summary own(p);
  own.add(1);
  announced_summary sent(p, 0);
  auto change = sent.next(own.filter().words());
  ASSERT_TRUE(change);
  EXPECT_TRUE(throws(errc::corrupt, "before what it changes", [&] { table.take(1, *change); }));
  EXPECT_TRUE(throws(errc::bad_argument, "unknown link", [&] { table.take(2, *change); }));
  announcement forged = sent.whole();
  ++forged.check;
  EXPECT_TRUE(throws(errc::corrupt, "does not lead", [&] { table.take(1, forged); }));
  EXPECT_EQ(table.filter_of(1), nullptr);
  EXPECT_EQ(table.merged().bits_set(), 0);
  table.take(1, sent.whole());
  EXPECT_TRUE(table.filter_of(1)->contains(1));
  for (const char* text : {"", "\x03", "\x00", "\x02", "\x01"}) {
    announcement damaged{.level = 0, .whole = false, .check = 0, .bytes = {}};
    for (const char* c = text; *c != 0; ++c) damaged.bytes.push_back(static_cast<std::byte>(*c));
    EXPECT_TRUE(throws(errc::corrupt, "", [&] { table.take(1, damaged); }));
  }
}

}  // namespace
}  // namespace bloomery
