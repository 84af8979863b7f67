#include "bloomery/sketch/frequent_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {
namespace {

struct counted_stream {
  std::vector<std::string> arrivals;
  std::map<std::string, std::uint64_t> truth;

  void add(const std::string& key, std::uint64_t times = 1) {
    arrivals.insert(arrivals.end(), times, key);
    truth[key] += times;
  }
  [[nodiscard]] std::uint64_t rank_count(std::size_t rank) const {  // 0 is the most frequent
    std::vector<std::uint64_t> counts;
    for (const auto& one : truth) counts.push_back(one.second);
    std::sort(counts.rbegin(), counts.rend());
    return rank < counts.size() ? counts[rank] : 0;
  }
};

// The numbers of buckets that libstdc++ grows through on the way to 100,000 keys: multiples of both
// would all be in one bucket of a table by the hash itself. That took a minute; it takes a blink.
TEST(frequent_keys, takes_keys_that_are_aimed_at_one_bucket) {
  constexpr std::uint64_t step = std::uint64_t{85'229} * 172'933;
  frequent_keys f(frequent_options{.keys = 150'000});
  for (std::uint64_t i = 0; i < 100'000; ++i) f.add("k", i * step);
  EXPECT_EQ(f.held(), 100'000U);
}

frequent_keys counted(const counted_stream& s, const frequent_options& o) {
  frequent_keys f(o);
  const xxh3_hasher hasher(0);
  for (const std::string& key : s.arrivals) f.add(key, hash_key(hasher, key));
  return f;
}

// Everything that top() promises, against the exact counts.
void expect_true_to(const counted_stream& s, const frequent_keys& f, std::size_t most) {
  const auto list = f.top(most);
  EXPECT_EQ(list.size(), std::min(most, f.held()));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::uint64_t true_count = s.truth.at(std::string(list[i].key));
    EXPECT_GE(list[i].count, true_count) << list[i].key;
    EXPECT_LE(list[i].count - list[i].error, true_count) << list[i].key;
    EXPECT_GE(list[i == 0 ? 0 : i - 1].count, list[i].count);
    // With the count of this rank, whatever the order of equal ones.
    EXPECT_TRUE(!list[i].certain || true_count == s.rank_count(i)) << i;
  }
  std::map<std::string, bool> held;
  for (const frequent_key& e : f.top(f.held())) held[std::string(e.key)] = true;
  for (const auto& [key, count] : s.truth) {
    EXPECT_TRUE(held.contains(key) || count <= f.floor()) << key;
  }
}

TEST(frequent_keys, counts_exactly_while_all_keys_have_room) {
  counted_stream s;
  for (int i = 0; i < 1000; ++i) s.add(std::to_string(i), 1 + static_cast<unsigned>(i) % 97);
  std::shuffle(s.arrivals.begin(), s.arrivals.end(), std::mt19937(1));
  const frequent_keys f = counted(s, {.keys = 1000});
  EXPECT_EQ(f.floor(), 0U);
  EXPECT_EQ(f.total(), s.arrivals.size());
  for (const frequent_key& e : f.top(1000)) {
    EXPECT_EQ(e.count, s.truth.at(std::string(e.key)));
    EXPECT_EQ(e.error, 0U);
    EXPECT_TRUE(e.certain);
  }
  EXPECT_TRUE(f.top(0).empty());
}

// Streams that fill the room many times: even ones, skewed ones, in bursts and mixed.
TEST(frequent_keys, bounds_hold_whatever_comes) {
  std::mt19937 random(2);
  for (const double exponent : {0.0, 0.7, 1.0, 1.3}) {
    for (const bool bursts : {false, true}) {
      counted_stream s;
      for (int i = 1; i <= 3000; ++i) {
        s.add("key " + std::to_string(i),
              1 + static_cast<std::uint64_t>(2000 / std::pow(i, exponent)));
        if (s.arrivals.size() > 60'000) break;
      }
      if (!bursts) std::shuffle(s.arrivals.begin(), s.arrivals.end(), random);
      for (const std::size_t room : {2U, 16U, 100U, 1000U}) {
        const frequent_keys f = counted(s, {.keys = room});
        expect_true_to(s, f, 20);
        // 2 / capacity of the stream, less what the held ones surely have above the floor.
        EXPECT_LE(f.floor(), 2 * f.total() / room);
        EXPECT_LE(f.held(), room);
      }
    }
  }
}

TEST(frequent_keys, finds_the_heavy_ones_in_a_long_tail) {
  counted_stream s;
  for (int i = 0; i < 20; ++i)
    s.add("heavy " + std::to_string(i), 500 + 20U * static_cast<unsigned>(i));
  for (int i = 0; i < 50'000; ++i) s.add("light " + std::to_string(i));
  std::shuffle(s.arrivals.begin(), s.arrivals.end(), std::mt19937(3));
  const frequent_keys f = counted(s, {.keys = 2000});
  const auto list = f.top(20);
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_TRUE(list[i].key.starts_with("heavy")) << list[i].key;
  }
  expect_true_to(s, f, 20);
}

// The bytes of the keys are bounded too: long ones make room as many short ones do.
TEST(frequent_keys, long_keys_are_held_within_their_bytes) {
  counted_stream s;
  for (int i = 0; i < 300; ++i)
    s.add(std::string(1000, 'x') + std::to_string(i), 1 + (i == 7 ? 50 : 0));
  frequent_keys f = counted(s, {.keys = 1000, .key_bytes = 20'000});
  EXPECT_LE(f.held(), 20U);
  expect_true_to(s, f, 5);
  EXPECT_EQ(f.top(1).front().key, std::string(1000, 'x') + "7");
  // One key of more than all the room does not drive out the others: its beginning names it.
  f.add(std::string(30'000, 'y'), 1, 1000);
  EXPECT_EQ(f.top(1).front().key, std::string(1250, 'y'));
  EXPECT_EQ(f.top(2).back().key, std::string(1000, 'x') + "7");
}

TEST(frequent_keys, adds_counts_at_once) {
  frequent_keys f({.keys = 4});
  f.add("a", 1, 10);
  f.add("b", 2, 0);
  f.add("a", 1, ~std::uint64_t{0});
  EXPECT_EQ(f.held(), 1U);
  EXPECT_EQ(f.top(1).front().count, ~std::uint64_t{0});
  EXPECT_EQ(f.total(), ~std::uint64_t{0});
  EXPECT_THROW(frequent_keys({.keys = 1}), error);
  EXPECT_THROW(frequent_keys({.key_bytes = 0}), error);
}

}  // namespace
}  // namespace bloomery
