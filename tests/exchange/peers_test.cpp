// Peers: slices answer as the filters themselves do, summaries grow old, leaders are asked first;
// and a small network, whose extraneous requests are those that the filters' rate says.
#include "bloomery/exchange/peers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bloomery/core/sizing.hpp"
#include "bloomery/set/algebra.hpp"
#include "filter/samples.hpp"

namespace bloomery {
namespace {

using bloomery_test::sample_hash;
using bloomery_test::sample_hashes;
using bloomery_test::throws;

constexpr hash_spec spec{.id = hash_id::xxh3};

template <class Filter>
Filter filter_of(const plan& p, std::uint64_t stream, std::size_t keys) {
  Filter f(p);
  f.add_batch(sample_hashes(keys, stream));
  return f;
}

template <class Filter>
void expect_answers_of_the_filters(std::size_t peers, bool sliced = true) {
  const plan p = sizing::make_plan({.kind = Filter::kind, .keys = 100, .fpr = 0.05});
  peer_directory all(spec, {.sliced = sliced});
  std::map<std::uint64_t, Filter> filters;
  for (std::uint64_t i = 0; i < peers; ++i) {
    const std::uint64_t peer = 1000 - i;
    filters.emplace(peer, filter_of<Filter>(p, i + 1, 100));
    EXPECT_TRUE(all.update(peer, filters.at(peer), spec, 1));
  }
  // Some leave, some come again with other objects, so that columns are used twice.
  for (const std::uint64_t peer : {1000U, 999U, 997U}) {
    filters.erase(peer);
    EXPECT_TRUE(all.remove(peer));
    EXPECT_FALSE(all.remove(peer));
  }
  filters.emplace(7, filter_of<Filter>(p, 5000, 100));
  EXPECT_TRUE(all.update(7, filters.at(7), spec, 1));
  filters.at(998) = filter_of<Filter>(p, 5001, 100);
  EXPECT_TRUE(all.update(998, filters.at(998), spec, 2));
  EXPECT_EQ(all.peers(), filters.size());

  std::vector<std::uint64_t> asked;
  for (std::uint64_t stream = 1; stream <= peers; ++stream) {
    for (std::uint64_t i = 0; i < 20; ++i) asked.push_back(sample_hash(i * 7, stream));
  }
  std::vector<candidate> expected;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    for (const auto& [peer, f] : filters) {
      if (f.contains(asked[i])) expected.push_back({.object = i, .peer = peer});
    }
  }
  EXPECT_EQ(all.ask(asked, 2), expected);
  if (sliced) return;
  // Each filter is there once, and as it came.
  EXPECT_EQ(all.bytes(), filters.size() * filters.at(7).bytes());
  for (const auto& [peer, f] : filters) {
    EXPECT_TRUE(std::ranges::equal(all.words_of(peer), f.words()));
  }
  EXPECT_TRUE(all.words_of(999).empty());
}

TEST(peers, unsliced_take_no_more_than_the_filters) {
  expect_answers_of_the_filters<blocked_filter>(70, false);
  expect_answers_of_the_filters<classic_filter>(70, false);
  expect_answers_of_the_filters<partitioned_filter>(70, false);
}

TEST(peers, few_are_asked_filter_by_filter) {
  expect_answers_of_the_filters<blocked_filter>(8);
  expect_answers_of_the_filters<classic_filter>(8);
}
TEST(peers, many_are_asked_in_slices_with_the_same_answers) {
  expect_answers_of_the_filters<blocked_filter>(150);
  expect_answers_of_the_filters<classic_filter>(70);
  expect_answers_of_the_filters<partitioned_filter>(17);
}

TEST(peers, of_unequal_shapes_are_asked_together) {
  peer_directory all(spec);
  const auto blocked = [](std::uint64_t keys) {
    return sizing::make_plan({.kind = filter_kind::blocked, .keys = keys, .fpr = 1e-6});
  };
  for (std::uint64_t peer = 0; peer < 40; ++peer) {
    // Every object of stream 1 is on each peer; sizes differ by peer, and a third is classic.
    if (peer % 3 == 0) {
      const plan p = sizing::make_plan({.kind = filter_kind::classic, .keys = 50, .fpr = 1e-6});
      all.update(peer, filter_of<classic_filter>(p, 1, 50), spec, 0);
    } else {
      all.update(peer, filter_of<blocked_filter>(blocked(50 + peer / 20 * 100), 1, 50), spec, 0);
    }
  }
  const std::vector<std::uint64_t> held = {sample_hash(3, 1)};
  const std::vector<candidate> found = all.ask(held, 0);
  ASSERT_EQ(found.size(), 40U);
  for (std::uint64_t peer = 0; peer < 40; ++peer) EXPECT_EQ(found[peer].peer, peer);
  // A peer whose filter grows moves to another shelf, and is there once.
  all.update(5, filter_of<blocked_filter>(blocked(5000), 1, 50), spec, 1);
  EXPECT_EQ(all.ask(held, 1).size(), 40U);
  EXPECT_TRUE(throws(errc::mismatch, "seed", [&] {
    all.update(5, filter_of<blocked_filter>(blocked(50), 1, 50),
               hash_spec{.id = hash_id::xxh3, .seed = 1}, 2);
  }));
}

TEST(peers, grow_old) {
  const plan p = sizing::make_plan({.kind = filter_kind::blocked, .keys = 100, .fpr = 1e-6});
  const auto summary = filter_of<blocked_filter>(p, 1, 100);
  const std::vector<std::uint64_t> held = {sample_hash(0, 1)};
  for (const bool keep : {false, true}) {
    peer_directory all(spec, {.longest_age = 10, .keep_stale = keep});
    for (std::uint64_t peer = 0; peer < 20; ++peer) all.update(peer, summary, spec, 100 + peer);
    EXPECT_EQ(all.ask(held, 110).size(), 20U);  // 10 is not older than 10
    EXPECT_EQ(all.ask(held, 50).size(), 20U);   // a clock that went back
    const std::vector<candidate> later = all.ask(held, 115);
    EXPECT_EQ(later.size(), keep ? 20U : 15U);
    EXPECT_EQ(std::count_if(later.begin(), later.end(), [](const candidate& c) { return c.stale; }),
              keep ? 5 : 0);
    // A message that was overtaken by a newer one.
    EXPECT_FALSE(all.update(19, summary, spec, 118));
    EXPECT_EQ(all.time_of(19), 119U);
    EXPECT_TRUE(all.update(0, summary, spec, 115));
    EXPECT_EQ(all.expire(115), 4U);
    EXPECT_EQ(all.peers(), 16U);
    EXPECT_EQ(all.time_of(1), std::nullopt);
    EXPECT_EQ(all.ask(held, 115).size(), 16U);
  }
}

TEST(peers, leaders_hold_the_union_and_are_asked_first) {
  const plan p = sizing::make_plan({.kind = filter_kind::blocked, .keys = 2000, .fpr = 0.001});
  peer_groups groups(spec);
  std::map<std::uint64_t, blocked_filter> unions;
  for (std::uint64_t peer = 0; peer < 60; ++peer) {
    const auto summary = filter_of<blocked_filter>(p, peer + 1, 100);
    groups.update(peer / 20, peer, summary, 1);
    const auto [at, is_new] = unions.try_emplace(peer / 20, summary);
    if (!is_new) at->second |= summary;
  }
  for (const auto& [group, all] : unions) {
    const blocked_filter merged = groups.members(group)->merged();
    EXPECT_EQ(bloomery_test::words_of(merged), bloomery_test::words_of(all));
    EXPECT_EQ(merged.keys(), all.keys());
  }
  std::vector<std::uint64_t> asked;
  for (std::uint64_t peer = 0; peer < 60; ++peer) asked.push_back(sample_hash(peer, peer + 1));
  const peer_groups::answer found = groups.ask(asked, 1);
  std::set<std::pair<std::size_t, std::uint64_t>> leaders;
  for (const candidate& c : found.leaders) leaders.emplace(c.object, c.peer);
  std::set<std::size_t> answered;
  for (const candidate& c : found.candidates) {
    EXPECT_TRUE(leaders.contains({c.object, c.peer / 20}));
    if (c.peer == c.object) answered.insert(c.object);
  }
  EXPECT_EQ(answered.size(), 60U);  // whoever has it is found
  // What a member no longer has goes from the leader's filter too.
  groups.update(0, 0, filter_of<blocked_filter>(p, 777, 1), 2);
  EXPECT_TRUE(groups.ask(std::vector{sample_hash(55, 1)}, 2).leaders.empty());
  const plan other = sizing::make_plan({.kind = filter_kind::blocked, .keys = 10, .fpr = 0.01});
  EXPECT_TRUE(throws(errc::mismatch, "bits",
                     [&] { groups.update(0, 0, filter_of<blocked_filter>(other, 1, 1), 3); }));
}

// 100 peers with 1,000 objects each. Requests to peers that do not have the object are binomial: 99
// filters for each of 20,000 questions, each at the mean rate of the filters as they are. The
// variance of that rate over the 100 filters is in the mean already; the tolerance is 5 standard
// deviations of the count.
TEST(peers, send_extraneous_requests_at_the_rate_of_the_filters) {
  constexpr std::uint64_t peers = 100;
  constexpr std::size_t objects = 1000;
  const plan p = sizing::make_plan({.kind = filter_kind::blocked, .keys = objects, .fpr = 0.01});
  peer_directory all(spec);
  double rate = 0;
  for (std::uint64_t peer = 0; peer < peers; ++peer) {
    const auto summary = filter_of<blocked_filter>(p, peer, objects);
    rate += summary.fpr() / peers;
    all.update(peer, summary, spec, 0);
  }
  std::vector<std::uint64_t> asked;
  for (std::uint64_t peer = 0; peer < peers; ++peer) {
    for (std::uint64_t i = 0; i < 200; ++i) asked.push_back(sample_hash(i * 5, peer));
  }
  std::uint64_t extraneous = 0;
  std::uint64_t right = 0;
  for (const candidate& c : all.ask(asked, 0)) ++(c.peer == c.object / 200 ? right : extraneous);
  EXPECT_EQ(right, asked.size());
  const double trials = static_cast<double>(asked.size()) * (peers - 1);
  EXPECT_NEAR(static_cast<double>(extraneous), trials * rate,
              5 * std::sqrt(trials * rate * (1 - rate)));
  EXPECT_LE(rate, 0.0102);  // what was asked for, and the spread of the mean of 100 filters
}

TEST(peer_groups, lead_those_who_are_left) {
  const plan p = sizing::make_plan({.kind = filter_kind::blocked, .keys = 300, .fpr = 0.001});
  peer_groups groups(spec, {.longest_age = 10});
  for (std::uint64_t peer = 1; peer <= 3; ++peer) {
    EXPECT_TRUE(groups.update(5, peer, filter_of<blocked_filter>(p, peer, 50), 10 * peer));
  }
  const std::vector<std::uint64_t> asked = {sample_hash(0, 1), sample_hash(0, 2)};
  EXPECT_EQ(groups.leaders().time_of(5), 30U);
  EXPECT_EQ(groups.ask(asked, 10).leaders.size(), 2U);
  EXPECT_TRUE(groups.remove(5, 1));
  EXPECT_FALSE(groups.remove(5, 1));
  EXPECT_FALSE(groups.remove(6, 1));
  const auto left = groups.ask(asked, 20);
  ASSERT_EQ(left.leaders.size(), 1U);
  EXPECT_EQ(left.leaders[0].object, 1U);
  EXPECT_EQ(groups.leaders().merged().keys(), 100U);
  EXPECT_EQ(groups.expire(31), 1U);  // the second, of time 20
  EXPECT_TRUE(groups.ask(asked, 31).leaders.empty());
  EXPECT_EQ(groups.members(5)->peers(), 1U);
  EXPECT_EQ(groups.expire(41), 1U);
  EXPECT_EQ(groups.members(5), nullptr);
  EXPECT_EQ(groups.leaders().peers(), 0U);
  // A group that comes again may have another shape.
  const plan other = sizing::make_plan({.kind = filter_kind::blocked, .keys = 900, .fpr = 0.001});
  EXPECT_TRUE(groups.update(5, 1, filter_of<blocked_filter>(other, 1, 50), 50));
}

}  // namespace
}  // namespace bloomery
