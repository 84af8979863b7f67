// Versions of filters between hosts: what is newer wins on whatever way it came, deltas follow each
// other, old rumours raise nobody from the dead; and a simulated network that loses, doubles and
// reorders messages ends with the same filters everywhere.
#include "bloomery/exchange/peer_versions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "bloomery/core/sizing.hpp"
#include "bloomery/filter/counting.hpp"
#include "bloomery/format/codec.hpp"
#include "filter/samples.hpp"

namespace bloomery {
namespace {

using bloomery_test::sample_hash;
using bloomery_test::sample_hashes;
using bloomery_test::throws;

constexpr hash_spec gossip_hash{.id = hash_id::xxh3};

plan gossip_plan(std::uint64_t keys = 200) {
  return sizing::make_plan({.kind = filter_kind::blocked, .keys = keys, .fpr = 0.01});
}

filter_version version_of(const blocked_filter& f, const hash_spec& hash = gossip_hash) {
  return {.header = {.planned = f.planned(), .hash = hash, .keys = f.keys()}, .words = f.words()};
}

blocked_filter filter_with(std::uint64_t stream, std::size_t keys, const plan& p = gossip_plan()) {
  blocked_filter f(p);
  f.add_batch(sample_hashes(keys, stream));
  return f;
}

bool has(const peer_versions& table, std::uint64_t peer, std::uint64_t hash, std::uint64_t now) {
  const auto found = table.ask(std::vector<std::uint64_t>{hash}, now);
  return std::any_of(found.begin(), found.end(),
                     [&](const candidate& c) { return c.peer == peer; });
}

TEST(peer_versions, follow_each_other_by_deltas_and_refuse_what_is_older) {
  peer_versions one(gossip_hash);
  peer_versions other(gossip_hash);
  blocked_filter f = filter_with(1, 100);
  const peer_news first = one.publish(1, 10, version_of(f), 0);
  EXPECT_FALSE(first.from);
  f.add(sample_hash(0, 50));
  const peer_news second = one.publish(1, 10, version_of(f), 0);
  f.add(sample_hash(0, 51));
  const peer_news third = one.publish(1, 10, version_of(f), 0);
  EXPECT_EQ(second.from, first.stamp.version);
  EXPECT_EQ(third.stamp, (peer_stamp{.version = {.epoch = 10, .counter = 2}, .beat = 2}));
  EXPECT_LT(third.bytes.size(), first.bytes.size() / 2);

  EXPECT_EQ(other.take(second, 5), news_outcome::gap);  // it starts from what is not here
  EXPECT_EQ(other.take(first, 5), news_outcome::taken);
  EXPECT_EQ(other.take(first, 5), news_outcome::known);
  EXPECT_EQ(other.take(third, 5), news_outcome::gap);
  EXPECT_FALSE(has(other, 1, sample_hash(0, 51), 5));
  EXPECT_EQ(other.take(second, 5), news_outcome::taken);
  EXPECT_EQ(other.take(third, 5), news_outcome::taken);
  EXPECT_EQ(other.take(second, 5), news_outcome::stale);
  EXPECT_EQ(other.take(first, 5), news_outcome::stale);
  EXPECT_TRUE(has(other, 1, sample_hash(0, 50), 5) && has(other, 1, sample_hash(0, 51), 5));
  EXPECT_EQ(other.versions(), one.versions());
  // A delta that says it starts from our version, but does not.
  peer_news forged = second;
  forged.from = third.stamp.version;
  forged.stamp.version.counter = 7;
  EXPECT_TRUE(throws(errc::mismatch, "", [&] { other.take(forged, 5); }));
  EXPECT_EQ(other.versions(), one.versions());
}

TEST(peer_versions, of_a_new_epoch_are_newer_whatever_their_counter) {
  peer_versions one(gossip_hash);
  peer_versions other(gossip_hash);
  for (std::size_t keys = 1; keys < 5; ++keys) {
    other.take(one.publish(1, 10, version_of(filter_with(1, keys)), 0), 0);
  }
  peer_versions restarted(gossip_hash);  // the peer has forgotten all
  const peer_news fresh = restarted.publish(1, 11, version_of(filter_with(2, 9)), 0);
  EXPECT_EQ(fresh.stamp.version, (peer_version{.epoch = 11, .counter = 0}));
  EXPECT_EQ(other.take(fresh, 0), news_outcome::taken);
  EXPECT_TRUE(has(other, 1, sample_hash(0, 2), 0));
  EXPECT_FALSE(has(other, 1, sample_hash(0, 1), 0));
  EXPECT_EQ(other.take(one.publish(1, 10, version_of(filter_with(1, 7)), 0), 0),
            news_outcome::stale);
  EXPECT_TRUE(throws(errc::bad_argument, "epoch",
                     [&] { restarted.publish(1, 10, version_of(filter_with(2, 9)), 0); }));
}

TEST(peer_versions, that_are_missing_come_as_deltas_or_whole_whichever_is_smaller) {
  peer_versions one(gossip_hash, {.deltas = 3});
  blocked_filter f = filter_with(1, 150);
  std::vector<peer_version> all;
  for (std::uint64_t i = 0; i < 6; ++i) {
    f.add(sample_hash(i, 60));
    all.push_back(one.publish(1, 1, version_of(f), 0).stamp.version);
  }
  EXPECT_TRUE(one.news_for(2, std::nullopt).empty());
  EXPECT_TRUE(one.news_for(1, all[5]).empty());
  EXPECT_TRUE(one.news_for(1, peer_version{.epoch = 9}).empty());
  EXPECT_FALSE(one.news_for(1, std::nullopt)[0].from);
  EXPECT_FALSE(one.news_for(1, all[1])[0].from);  // its delta is not kept any more
  for (std::size_t i = 2; i < 5; ++i) {
    const auto news = one.news_for(1, all[i]);
    ASSERT_EQ(news.size(), 5 - i);
    EXPECT_EQ(news[0].from, all[i]);
    EXPECT_EQ(news.back().stamp, *one.stamp_of(1));
  }
  // A host that was offline gets what it lacks, and has the same bits then.
  peer_versions other(gossip_hash, {.deltas = 3});
  for (const peer_news& news : one.news_for(1, std::nullopt)) other.take(news, 0);
  blocked_filter g = f;
  g.add_batch(sample_hashes(400, 70));  // a change that is as large as the filter
  one.publish(1, 1, version_of(g), 0);
  for (const peer_news& news : one.news_for(1, all[5])) {
    EXPECT_EQ(other.take(news, 0), news_outcome::taken);
  }
  EXPECT_EQ(other.directory().merged().words()[0], one.directory().merged().words()[0]);
  EXPECT_TRUE(has(other, 1, sample_hash(399, 70), 0));
}

TEST(peer_versions, hold_each_filter_once) {
  peer_versions all(gossip_hash);
  std::uint64_t bytes = 0;
  for (std::uint64_t peer = 1; peer <= 40; ++peer) {
    const blocked_filter f = filter_with(peer, 100);
    all.publish(peer, 1, version_of(f), 0);
    bytes += f.bytes();
    ASSERT_TRUE(all.filter_of(peer));
    EXPECT_TRUE(std::ranges::equal(all.filter_of(peer)->words, f.words()));
  }
  EXPECT_EQ(all.directory().bytes(), bytes);
}

TEST(peer_versions, grow_old_unless_the_peer_lives_and_are_not_raised_from_the_dead) {
  peer_versions one(gossip_hash);
  peer_versions other(gossip_hash, {.longest_age = 100, .remembered = 1'000});
  const peer_news first = one.publish(1, 1, version_of(filter_with(1, 50)), 0);
  const std::uint64_t key = sample_hash(0, 1);
  EXPECT_EQ(other.take(first, 0), news_outcome::taken);
  EXPECT_EQ(other.take(first, 90), news_outcome::known);  // hearing it again is no sign of life
  EXPECT_TRUE(has(other, 1, key, 100));
  EXPECT_FALSE(has(other, 1, key, 101));
  const peer_entry beat = one.live(1, 0);
  EXPECT_EQ(other.take(beat, 90), news_outcome::taken);
  EXPECT_EQ(other.take(beat, 120), news_outcome::known);
  EXPECT_TRUE(has(other, 1, key, 190));
  EXPECT_EQ(other.expire(190), 0U);
  EXPECT_EQ(other.expire(191), 1U);
  EXPECT_TRUE(other.versions().empty());
  EXPECT_EQ(other.directory().peers(), 0U);

  EXPECT_EQ(other.take(first, 200), news_outcome::stale);
  EXPECT_EQ(other.take(beat, 200), news_outcome::stale);
  EXPECT_TRUE(other.difference(one.versions()).newer_there.empty());
  const peer_entry later = one.live(1, 0);  // it lives after all
  EXPECT_EQ(other.take(later, 200), news_outcome::gap);
  EXPECT_EQ(other.difference(one.versions()).newer_there, std::vector<std::uint64_t>{1});
  EXPECT_EQ(other.take(one.news_for(1, std::nullopt)[0], 210), news_outcome::taken);
  EXPECT_TRUE(has(other, 1, key, 300));
  // The stamp of a dead peer is forgotten at last, too.
  EXPECT_EQ(other.expire(1'000), 1U);
  EXPECT_EQ(other.take(first, 2'000), news_outcome::stale);
  EXPECT_EQ(other.expire(2'001), 0U);
  EXPECT_EQ(other.take(first, 2'001), news_outcome::taken);
  EXPECT_EQ(other.take(later, 1), news_outcome::taken);  // a clock that went back harms nothing
  EXPECT_TRUE(has(other, 1, key, 2'101));
}

TEST(peer_versions, bound_what_strangers_can_make_them_hold) {
  peer_versions table(gossip_hash, {.most_peers = 2, .most_bits = 1U << 14U});
  peer_versions sender(gossip_hash);
  const auto news_of = [&](std::uint64_t peer) {
    return sender.publish(peer, 1, version_of(filter_with(peer, 10)), 0);
  };
  EXPECT_EQ(table.take(news_of(1), 0), news_outcome::taken);
  EXPECT_EQ(table.take(news_of(2), 0), news_outcome::taken);
  EXPECT_TRUE(throws(errc::full, "2 peers", [&] { table.take(news_of(3), 0); }));
  const blocked_filter large(gossip_plan(100'000));
  const peer_news bomb = sender.publish(4, 1, version_of(large), 0);
  EXPECT_LT(bomb.bytes.size(), 200U);
  peer_news in_place = bomb;
  in_place.peer = 1;
  in_place.stamp.version.epoch = 2;
  EXPECT_THROW(table.take(in_place, 0), error);
  EXPECT_EQ(table.stamp_of(1)->version.epoch, 1U);
  EXPECT_TRUE(has(table, 1, sample_hash(0, 1), 0));

  peer_news damaged = news_of(1);
  damaged.from.reset();
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    damaged.stamp.version.epoch = 3;
    damaged.bytes.resize(random() % 100);
    for (std::byte& b : damaged.bytes) b = static_cast<std::byte>(random());
    EXPECT_THROW(table.take(damaged, 0), error);
    damaged.from = table.stamp_of(1)->version;
    EXPECT_THROW(table.take(damaged, 0), error);
    damaged.from.reset();
  }
  const hash_spec seeded{.id = hash_id::xxh3, .seed = 7};
  const blocked_filter f = filter_with(1, 10);
  peer_news another{.peer = 1, .stamp = {.version = {.epoch = 9}}, .from = {}, .bytes = {}};
  another.bytes = pack(version_of(f, seeded).header, f.words());
  EXPECT_TRUE(throws(errc::mismatch, "seed", [&] { table.take(another, 0); }));
  const counting_filter counting(
      sizing::make_plan({.kind = filter_kind::counting, .keys = 10, .fpr = 0.1}));
  another.bytes = pack({.planned = counting.planned(), .hash = gossip_hash}, counting.words());
  EXPECT_TRUE(throws(errc::unsupported, "not counting", [&] { table.take(another, 0); }));
  EXPECT_EQ(table.versions().size(), 2U);
}

// Thirty hosts, each with a filter that grows. In each round every host sends what it has just
// learnt to two others, and once in ten rounds compares all with one. A fifth of the messages are
// lost, some come twice, and all that were sent in a round come in random order. One host dies, one
// starts again.
class gossip {
 public:
  static constexpr std::uint64_t hosts = 30;
  static constexpr std::uint64_t dead = 7;
  static constexpr std::uint64_t restarts = 11;

  gossip() {
    for (std::uint64_t i = 0; i < hosts; ++i) {
      tables_.emplace_back(gossip_hash, peer_versions_options{.longest_age = 60});
      filters_.emplace_back(gossip_plan());
    }
  }

  void run(std::uint64_t rounds, bool changing) {
    for (std::uint64_t end = now_ + rounds; now_ < end; ++now_) round(changing);
  }
  [[nodiscard]] const std::vector<peer_versions>& tables() const { return tables_; }
  [[nodiscard]] const blocked_filter& filter(std::uint64_t i) const { return filters_[i]; }
  [[nodiscard]] std::uint64_t now() const { return now_; }
  void kill() { killed_ = true; }
  void restart() {
    tables_[restarts] = peer_versions(gossip_hash, {.longest_age = 60});
    ++epoch_;
    filters_[restarts] = blocked_filter(gossip_plan());
    publish(restarts);
  }

 private:
  struct letter {
    std::uint64_t to;
    peer_news news;
  };

  [[nodiscard]] bool lives(std::uint64_t i) const { return i != dead || !killed_; }
  std::uint64_t somebody() { return random_() % hosts; }
  bool lost() { return random_() % 5 == 0; }

  void publish(std::uint64_t i) {
    filters_[i].add(sample_hash(now_, 1000 + i));
    const auto v = version_of(filters_[i]);
    rumours_[i].push_back(tables_[i].publish(i, i == restarts ? epoch_ : 1, v, now_));
  }

  void round(bool changing) {
    std::vector<letter> mail;
    for (std::uint64_t i = 0; i < hosts; ++i) {
      if (!lives(i)) continue;
      if ((changing && random_() % 4 == 0) || !tables_[i].stamp_of(i)) publish(i);
      for (const peer_news& news : std::exchange(rumours_[i], {})) {
        for (int copy = 0; copy < 2; ++copy) mail.push_back({.to = somebody(), .news = news});
      }
      tables_[i].live(i, now_);
      if (random_() % 3 == 0) compare(i, somebody());
    }
    std::shuffle(mail.begin(), mail.end(), random_);
    for (const letter& l : mail) {
      if (lost() || !lives(l.to)) continue;
      const news_outcome outcome = tables_[l.to].take(l.news, now_);
      if (outcome == news_outcome::taken) rumours_[l.to].push_back(l.news);
      if (outcome != news_outcome::gap) continue;
      // It asks the sender's peer of whom it knows most: anybody who has the whole will do.
      compare(l.to, somebody());
    }
    for (peer_versions& table : tables_) table.expire(now_);
  }

  // Anti-entropy between two: signs of life, and what one has newer than the other.
  void compare(std::uint64_t a, std::uint64_t b) {
    if (a == b || !lives(a) || !lives(b) || lost()) return;
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      const auto entries = tables_[from].versions();
      for (const peer_entry& e : entries) tables_[to].take(e, now_);
      for (const std::uint64_t peer : tables_[to].difference(entries).newer_there) {
        const auto theirs = tables_[to].stamp_of(peer);
        const auto version = theirs ? std::optional(theirs->version) : std::nullopt;
        for (const peer_news& news : tables_[from].news_for(peer, version)) {
          EXPECT_EQ(tables_[to].take(news, now_), news_outcome::taken);
        }
      }
    }
  }

  std::vector<peer_versions> tables_;
  std::vector<blocked_filter> filters_;
  std::map<std::uint64_t, std::vector<peer_news>> rumours_;
  std::mt19937_64 random_{1};
  std::uint64_t now_ = 0;
  std::uint64_t epoch_ = 1;
  bool killed_ = false;
};

TEST(peer_versions, of_a_network_that_loses_messages_are_the_same_everywhere_in_the_end) {
  gossip network;
  network.run(40, true);
  network.restart();
  network.run(20, true);
  network.kill();
  network.run(20, true);
  network.run(120, false);
  for (std::uint64_t i = 0; i < gossip::hosts; ++i) {
    if (i == gossip::dead) continue;
    const peer_versions& table = network.tables()[i];
    EXPECT_FALSE(table.stamp_of(gossip::dead)) << i;
    EXPECT_EQ(table.versions().size(), gossip::hosts - 1) << i;
    for (const peer_entry& e : table.versions()) {
      EXPECT_EQ(e.stamp.version, network.tables()[e.peer].stamp_of(e.peer)->version)
          << "of " << e.peer << " at " << i;
      const auto whole = unpack(table.news_for(e.peer, std::nullopt)[0].bytes);
      EXPECT_TRUE(std::ranges::equal(whole.words.words(), network.filter(e.peer).words()));
    }
  }
}

}  // namespace
}  // namespace bloomery
