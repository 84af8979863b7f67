// A cache's digest as it lives: published at a share of change, followed by deltas, never without a
// document that was there when it was published, and wrong at the rates of the paper.
#include "bloomery/exchange/live_digest.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "bloomery/core/sizing.hpp"
#include "filter/samples.hpp"

namespace bloomery {
namespace {

using bloomery_test::sample_hash;
using bloomery_test::throws;

TEST(live_digest, is_wrong_at_the_rates_of_the_paper) {
  struct row {
    std::uint32_t bits;
    double rate;
  };
  // Fan and others 2000, and (1 - e^(-4/b))^4.
  for (const row& r : {row{8, .0240}, row{16, .0024}, row{32, .00019}}) {
    constexpr std::uint64_t keys = 20'000;
    live_digest d({.keys = keys, .bits_per_key = r.bits});
    for (std::uint64_t i = 0; i < keys; ++i) d.add(sample_hash(i));
    // Others come and go, and leave nothing behind.
    for (std::uint64_t i = 0; i < 5000; ++i) d.add(sample_hash(i, 2));
    for (std::uint64_t i = 0; i < 5000; ++i) ASSERT_TRUE(d.remove(sample_hash(i, 2)));
    followed_digest other;
    other.take(d.publish());
    for (std::uint64_t i = 0; i < keys; ++i) ASSERT_TRUE(other.contains(sample_hash(i)));

    const double theory = sizing::classic_fpr_approx(r.bits, 4);
    EXPECT_NEAR(theory, r.rate, 0.005 * r.rate + 1e-6);
    // The number of ones has a variance of m (q - q^2 (1 + 4/b)) with q = e^(-4/b) (balls in bins);
    // four times its relative deviation is that of the rate. Five of these.
    const double m = static_cast<double>(keys) * r.bits;
    const double q = std::exp(-4.0 / r.bits);
    const double deviation = std::sqrt(q - q * q * (1 + 4.0 / r.bits)) / std::sqrt(m) / (1 - q);
    const double rate = d.filter().fpr();
    EXPECT_NEAR(rate, theory, 5 * 4 * deviation * theory) << r.bits;
    constexpr std::uint64_t asked = 100'000;
    double found = 0;
    for (std::uint64_t i = 0; i < asked; ++i) found += other.contains(sample_hash(i, 3)) ? 1 : 0;
    // Bernoulli, five standard deviations.
    EXPECT_NEAR(found / asked, rate, 5 * std::sqrt(rate / asked)) << r.bits;
  }
}

TEST(live_digest, is_due_at_a_share_of_change) {
  live_digest d({.keys = 1000, .publish_share = 0.02});
  EXPECT_TRUE(d.due());  // nobody has a version yet
  for (std::uint64_t i = 0; i < 1000; ++i) d.add(sample_hash(i));
  static_cast<void>(d.publish());
  EXPECT_EQ(d.changed(), 0);
  EXPECT_FALSE(d.due());
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_FALSE(d.due()) << i;
    d.add(sample_hash(1000 + i));
    ASSERT_TRUE(d.remove(sample_hash(i)));
  }
  EXPECT_DOUBLE_EQ(d.changed(), 0.02);
  EXPECT_TRUE(d.due());
  static_cast<void>(d.publish());
  EXPECT_FALSE(d.due());
  EXPECT_EQ(d.versions(), 2U);
  EXPECT_FALSE(d.remove(sample_hash(7, 9)));  // was never there
  EXPECT_EQ(d.changed(), 0);
  for (std::uint64_t i = 20; i < 1020; ++i) ASSERT_TRUE(d.remove(sample_hash(i)));
  EXPECT_EQ(d.keys(), 0U);
  EXPECT_EQ(d.changed(), 1);
  EXPECT_EQ(d.filter().bits_set(), 0U);
}

// A full cache, first in first out: each version has all documents of its time, and travels as a
// change that is far smaller than the whole.
TEST(live_digest, is_followed_by_deltas) {
  constexpr std::uint64_t keys = 5000;
  live_digest d({.keys = keys, .hash = {.id = hash_id::xxh3}});
  std::deque<std::uint64_t> cached;
  std::uint64_t next = 0;
  const auto fetch = [&] {
    cached.push_back(sample_hash(next++));
    d.add(cached.back());
    if (cached.size() <= keys) return;
    EXPECT_TRUE(d.remove(cached.front()));
    cached.pop_front();
  };
  while (cached.size() < keys) fetch();
  followed_digest other;
  EXPECT_FALSE(other.known());
  EXPECT_FALSE(other.contains(cached.front()));
  EXPECT_FALSE(other.version());
  other.take(d.publish());
  const std::vector<std::byte> stale = d.whole();
  for (int version = 1; version < 20; ++version) {
    do fetch();
    while (!d.due());
    const std::vector<std::byte> bytes = d.publish();
    EXPECT_TRUE(is_delta(bytes));
    EXPECT_LT(bytes.size(), d.whole().size() / 8);
    other.take(bytes);
    for (const std::uint64_t hash : cached) ASSERT_TRUE(other.contains(hash));
    EXPECT_EQ(image_name(other.version()->header, other.version()->words),
              image_name(d.published().header, d.published().words));
  }
  EXPECT_EQ(other.version()->header.hash.id, hash_id::xxh3);
  // One that comes late takes the whole; one that missed a version is told so and stays as it is.
  fetch();
  const std::vector<std::byte> change = d.publish();
  followed_digest late;
  EXPECT_TRUE(throws(errc::mismatch, "not here", [&] { late.take(change); }));
  late.take(stale);
  EXPECT_TRUE(throws(errc::mismatch, "", [&] { late.take(change); }));
  EXPECT_TRUE(late.contains(sample_hash(0)));
  late.take(d.whole());
  EXPECT_TRUE(late.contains(cached.back()));
  // When all is new, the whole is what travels: no more than a packed filter and some bytes.
  for (std::uint64_t i = 0; i < 2 * keys; ++i) fetch();
  const std::vector<std::byte> all = d.publish();
  EXPECT_LT(all.size(), d.whole().size() + 64);
  late.take(all);
  for (const std::uint64_t hash : cached) ASSERT_TRUE(late.contains(hash));
}

TEST(live_digest, refuses_what_is_none) {
  EXPECT_TRUE(throws(errc::bad_argument, "documents is 0", [] { live_digest d({.keys = 0}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "bits a key is 65",
                     [] { live_digest d({.keys = 1, .bits_per_key = 65}); }));
  EXPECT_TRUE(
      throws(errc::bad_argument, "probes is 0", [] { live_digest d({.keys = 1, .probes = 0}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "from 0 to 1",
                     [] { live_digest d({.keys = 1, .publish_share = 1.5}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "documents is 18446744073709551615",
                     [] { live_digest d({.keys = UINT64_MAX}); }));
  live_digest d({.keys = 10});
  EXPECT_TRUE(throws(errc::bad_argument, "no version", [&] { static_cast<void>(d.whole()); }));

  followed_digest other;
  const std::vector<std::byte> nothing(10);
  EXPECT_TRUE(throws(errc::not_bloomery, "", [&] { other.take(nothing); }));
  const blocked_filter blocked({.keys = 100});
  EXPECT_TRUE(throws(errc::unsupported, "blocked", [&] {
    other.take(pack({.planned = blocked.planned(), .hash = {}, .keys = 0}, blocked.words()));
  }));
  followed_digest small(1000);  // bytes
  live_digest large({.keys = 1'000'000});
  EXPECT_TRUE(throws(errc::no_memory, "", [&] { small.take(large.publish()); }));
  EXPECT_FALSE(small.known());
}

}  // namespace
}  // namespace bloomery
