// Noisy sets: their rate together, keys for each recipient, the overlap of address books, and what
// an eavesdropper learns, by formula and by doing it.
#include "bloomery/exchange/noisy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "bloomery/crypto/key_derivation.hpp"

namespace bloomery {
namespace {

master_key counting_master() {
  master_key key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  return key;
}

std::string address(int number) { return "user" + std::to_string(number) + "@example.org"; }

using noisy = noisy_set<siphash_hasher>;

noisy address_book(int from, int to, const std::vector<siphash_hasher>& hashers) {
  noisy set({.keys = 1000}, hashers);
  for (int i = from; i < to; ++i) set.add(address(i));
  return set;
}

int wrong_among(std::span<const noisy::filter_type> filters, int from, int to) {
  int wrong = 0;
  for (int i = from; i < to; ++i) wrong += in_all_of(filters, address(i)) ? 1 : 0;
  return wrong;
}

TEST(NoisySet, five_filters_at_half_are_wrong_for_three_percent) {
  const noisy book = address_book(0, 1000, derive_hashers(counting_master(), "bert", 5));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(book.contains(address(i)));
  // 1,000 keys in 1,443 bits leave half of them empty, with a variance of 1443 (q - q^2 (1 + ln 2))
  // at q = 1/2 (balls in bins): the standard deviation of the fill is 1.5 % of it, of the product
  // of five 3.3 %. Five of these.
  EXPECT_NEAR(book.fpr(), 1.0 / 32, 5 * 0.033 / 32);
  constexpr int trials = 40'000;
  for (std::size_t j = 1; j <= 5; ++j) {
    double rate = 1;
    for (const auto& f : book.filters().first(j)) rate *= f.fpr();
    const double wrong = wrong_among(book.filters().first(j), 1000, 1000 + trials);
    // Bernoulli, five standard deviations.
    EXPECT_NEAR(wrong / trials, rate, 5 * std::sqrt(rate * (1 - rate) / trials)) << j;
  }
}

// Computed with Python's hashlib.blake2b(digest_size=16, key=bytes(range(32))). Filters are in
// others' hands, so it never changes.
TEST(NoisySet, keys_are_frozen) {
  const auto hex = [](const siphash_hasher::key_type& key) {
    std::string text;
    for (const std::byte b : key) {
      constexpr char digits[] = "0123456789abcdef";
      text += digits[std::to_integer<unsigned>(b) >> 4U];
      text += digits[std::to_integer<unsigned>(b) & 15U];
    }
    return text;
  };
  EXPECT_EQ(hex(derive_key(counting_master(), "bert", 0)), "80a0909c9ad64660d597cc1c881525e3");
  EXPECT_EQ(hex(derive_key(counting_master(), "bert", 1)), "6cbdc465dd388a3b81691bd95cdd09d9");
  EXPECT_EQ(hex(derive_key(counting_master(), "", 7)), "055df0b4da6457874c2ea39aaef011da");
}

TEST(NoisySet, every_recipient_and_filter_has_a_key_of_its_own) {
  std::set<std::uint64_t> ids;
  for (const char* name : {"bert", "clara", "bert ", ""}) {
    for (const siphash_hasher& h : derive_hashers(counting_master(), name, 5)) {
      ids.insert(h.spec().key_id);
    }
  }
  for (const siphash_hasher& h : derive_hashers(random_master_key(), "bert", 5)) {
    ids.insert(h.spec().key_id);
  }
  EXPECT_EQ(ids.size(), 25U);
}

TEST(NoisySet, overlap_of_two_address_books) {
  const auto agreed = derive_hashers(counting_master(), "anna and bert", 5);
  const noisy a = address_book(0, 1000, agreed);
  const noisy b = address_book(700, 1700, agreed);  // 300 in common
  const comparison c = compare_noisy(a.filters(), b.filters());
  const comparison one = compare(a.filters()[0], b.filters()[0]);
  EXPECT_NEAR(c.keys_intersection.value, 300, 4 * c.keys_intersection.standard_error);
  EXPECT_NEAR(c.keys_union.value, 1700, 4 * c.keys_union.standard_error);
  EXPECT_NEAR(c.jaccard.value, 300.0 / 1700, 4 * c.jaccard.standard_error);
  // Five say it more exactly than one, by the root of five, and exactly enough to be of use.
  EXPECT_NEAR(c.keys_intersection.standard_error,
              one.keys_intersection.standard_error / std::sqrt(5),
              0.1 * c.keys_intersection.standard_error);
  EXPECT_LT(c.keys_intersection.standard_error, 30);
  const noisy other = address_book(0, 1000, derive_hashers(counting_master(), "clara", 5));
  EXPECT_THROW(static_cast<void>(compare_noisy(a.filters(), other.filters())), error);
  EXPECT_THROW(static_cast<void>(compare_noisy(a.filters(), b.filters().first(4))), error);
  EXPECT_THROW(noisy({.keys = 10}, {}), error);
}

TEST(NoisySet, what_an_eavesdropper_learns) {
  EXPECT_DOUBLE_EQ((eavesdropper{.filters = 0, .prior = 0.2}.posterior()), 0.2);
  EXPECT_DOUBLE_EQ((eavesdropper{.filters = 1, .prior = 0.5}.posterior()), 2.0 / 3);
  EXPECT_DOUBLE_EQ((eavesdropper{.filters = 5, .prior = 0.5}.posterior()), 32.0 / 33);
  EXPECT_DOUBLE_EQ((eavesdropper{.filters = 5, .prior = 0}.posterior()), 0);
  EXPECT_DOUBLE_EQ((eavesdropper{.filters = 0}.learned_bits()), 0);
  EXPECT_NEAR((eavesdropper{.filters = 100}.learned_bits()), 1, 1e-12);
  // The Z channel at one half: H(3/4) - 1/2.
  EXPECT_NEAR((eavesdropper{.filters = 1}.learned_bits()), 0.811278124459133 - 0.5, 1e-12);
  EXPECT_DOUBLE_EQ((eavesdropper{.filters = 2}.false_candidates(10'000, 400)), 2400);
  EXPECT_THROW(static_cast<void>(eavesdropper{.filters = 1, .fpr = 1.1}.posterior()), error);
  EXPECT_THROW(static_cast<void>(eavesdropper{.prior = -1}.learned_bits()), error);
  EXPECT_THROW(static_cast<void>(eavesdropper{}.false_candidates(1, 2)), error);
}

// The warning, demonstrated: a member is one of 10,000 numbers, and whoever has the keys asks about
// all of them.
TEST(NoisySet, whoever_has_the_keys_recovers_all_members_of_a_small_world) {
  constexpr int world = 10'000;
  noisy set({.keys = 200}, derive_hashers(counting_master(), "bert", 5));
  std::set<int> members;
  for (int i = 0; i < 200; ++i) members.insert((i * 7919 + 13) % world);
  ASSERT_EQ(members.size(), 200U);
  for (const int member : members) set.add(address(member));
  const auto attack = [&](std::span<const noisy::filter_type> filters) {
    std::set<int> taken;
    for (int i = 0; i < world; ++i) {
      if (in_all_of(filters, address(i))) taken.insert(i);
    }
    return taken;
  };
  for (std::uint32_t j = 1; j <= 5; ++j) {
    const std::set<int> taken = attack(set.filters().first(j));
    for (const int member : members) ASSERT_TRUE(taken.contains(member));
    double rate = 1;
    for (const auto& f : set.filters().first(j)) rate *= f.fpr();
    const eavesdropper e{.filters = 1, .fpr = rate};
    const double expected = e.false_candidates(world, members.size());
    EXPECT_NEAR(static_cast<double>(taken.size() - members.size()), expected,
                5 * std::sqrt(expected * (1 - rate)) + 1);
  }
  // With the bits but without the keys, he sees no member more often than others.
  std::vector<noisy::filter_type> without;
  const auto wrong_keys = derive_hashers(counting_master(), "eve", 5);
  for (std::size_t i = 0; i < 5; ++i) {
    without.emplace_back(set.filters()[i].filter(), wrong_keys[i]);
  }
  int seen = 0;
  for (const int member : members) {
    seen += in_all_of(std::span<const noisy::filter_type>(without), address(member)) ? 1 : 0;
  }
  EXPECT_LE(seen, 20);  // 6 expected; 20 is over five standard deviations more
}

}  // namespace
}  // namespace bloomery
