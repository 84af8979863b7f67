// Squid's digests: fields and bits where Squid has them, every field checked, to a filter and back.
#include "bloomery/exchange/cache_digest.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bloomery/core/sizing.hpp"
#include "filter/samples.hpp"

namespace bloomery {
namespace {

using bloomery_test::sample_hash;
using bloomery_test::throws;

using digest_bytes = std::vector<std::byte>;

cache_digest sample_digest(std::uint64_t capacity, std::uint64_t entries,
                           std::uint32_t bits = usual_bits_per_entry) {
  cache_digest d(capacity, bits);
  for (std::uint64_t i = 0; i < entries; ++i) d.add(sample_hash<digest>(i));
  return d;
}

digest_bytes changed_bytes(digest_bytes bytes, std::size_t at, int value) {
  bytes.at(at) = static_cast<std::byte>(value);
  return bytes;
}

TEST(cache_digest, has_its_fields_where_squid_has_them) {
  // As Squid 5.7 wrote it: capacity 552, 551 entries, a mask of 345 bytes.
  const digest_bytes bytes = sample_digest(552, 551).bytes();
  ASSERT_EQ(bytes.size(), 128U + 345U);
  const int expected[] = {0,    5, 0, 3, 0, 0, 2, 0x28, 0,    0, 2,
                          0x27, 0, 0, 0, 0, 0, 0, 1,    0x59, 5, 4};
  for (std::size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(std::to_integer<int>(bytes[i]), i < std::size(expected) ? expected[i] : 0) << i;
  }
}

TEST(cache_digest, has_bit_i_in_byte_i_div_8) {
  cache_digest d(12);  // 64 bits
  digest key;
  key.words[0] = 64 * 5 + 3;
  key.words[1] = 0xffffffffU;  // 2^32 - 1 is 63 modulo 64
  key.words[2] = 8;
  key.words[3] = 8;
  EXPECT_FALSE(d.contains(key));
  d.add(key);
  EXPECT_TRUE(d.contains(key));
  const digest_bytes bytes = d.bytes();
  const int expected[] = {0x08, 0x01, 0, 0, 0, 0, 0, 0x80};
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(std::to_integer<int>(bytes.at(128 + i)), expected[i]) << i;
  }
}

TEST(cache_digest, is_read_as_it_was_written) {
  for (const std::uint64_t capacity : {1U, 2U, 7U, 76U, 552U, 10'000U}) {
    for (const std::uint32_t bits : {1U, 5U, 8U, 31U, 127U}) {
      const cache_digest d = sample_digest(capacity, capacity, bits);
      const digest_bytes bytes = d.bytes();
      EXPECT_EQ(bytes.size(), 128 + (capacity * bits + 7) / 8);
      EXPECT_EQ(cache_digest::bytes_of(std::span(bytes).first(128)), bytes.size());
      const cache_digest again = cache_digest::parse(bytes);
      EXPECT_EQ(again.bytes(), bytes);
      EXPECT_EQ(again.capacity(), capacity);
      EXPECT_EQ(again.entries(), capacity);
      EXPECT_EQ(again.bits_per_entry(), bits);
      for (std::uint64_t i = 0; i < capacity; ++i) {
        ASSERT_TRUE(again.contains(sample_hash<digest>(i)));
      }
    }
  }
}

TEST(cache_digest, refuses_what_squid_refuses) {
  const digest_bytes good = sample_digest(552, 551).bytes();
  const auto refused = [](const digest_bytes& bytes, std::string_view why,
                          errc code = errc::corrupt) {
    return throws(code, why, [&] { static_cast<void>(cache_digest::parse(bytes)); });
  };
  EXPECT_TRUE(refused({}, "its length is 0"));
  EXPECT_TRUE(refused(digest_bytes(good.begin(), good.begin() + 127), "its length is 127"));
  EXPECT_TRUE(refused(digest_bytes(good.begin(), good.end() - 1), "it must be 473"));
  digest_bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_TRUE(refused(longer, "its length is 474"));
  EXPECT_TRUE(refused(changed_bytes(good, 3, 6), "version 6", errc::unsupported));
  EXPECT_TRUE(refused(changed_bytes(good, 1, 2), "its version is 2"));
  EXPECT_TRUE(refused(changed_bytes(good, 0, 0x80), "its version is 32773"));  // below 0 as i16
  EXPECT_TRUE(refused(changed_bytes(good, 21, 7), "hash functions is 7"));
  EXPECT_TRUE(refused(changed_bytes(good, 20, 0), "bits an entry is 0"));
  EXPECT_TRUE(refused(changed_bytes(good, 20, 128), "bits an entry is 128"));
  EXPECT_TRUE(refused(changed_bytes(good, 20, 255), "bits an entry is 255"));
  EXPECT_TRUE(refused(changed_bytes(good, 20, 6), "it must be 414 by its capacity"));
  EXPECT_TRUE(refused(changed_bytes(good, 4, 0x80), "its capacity is"));
  EXPECT_TRUE(refused(changed_bytes(good, 4, 0x7f), "its capacity is"));
  EXPECT_TRUE(refused(changed_bytes(good, 8, 0x80), "number of entries is"));
  EXPECT_TRUE(refused(changed_bytes(good, 12, 0xff), "deleted entries is"));
  EXPECT_TRUE(refused(changed_bytes(good, 19, 0x5a), "the length of its mask is 346"));
  digest_bytes empty = changed_bytes(changed_bytes(good, 6, 0), 7, 0);
  EXPECT_TRUE(refused(empty, "its capacity is 0"));
  // Newer ones that version 5 can read, and the bytes that they may use.
  EXPECT_EQ(cache_digest::parse(changed_bytes(changed_bytes(good, 1, 9), 60, 1)).version(), 9U);
  EXPECT_EQ(cache_digest::parse(changed_bytes(good, 15, 40)).deleted(), 40U);
}

TEST(cache_digest, may_hold_more_than_its_capacity_but_not_more_than_65_percent_ones) {
  // 4 of 5n bits an entry: 1 - e^(-4/5) is 55 %, with 1.3 times the capacity 64.7 %.
  EXPECT_TRUE(sample_digest(5000, 6000).usable());
  EXPECT_FALSE(sample_digest(5000, 7000).usable());
  EXPECT_EQ(cache_digest::parse(sample_digest(76, 81).bytes()).entries(), 81U);
}

TEST(cache_digest, is_made_for_numbers_that_fit) {
  EXPECT_TRUE(throws(errc::bad_argument, "the capacity is 0", [] { cache_digest d(0); }));
  EXPECT_TRUE(throws(errc::bad_argument, "bits an entry is 0", [] { cache_digest d(10, 0); }));
  EXPECT_TRUE(throws(errc::bad_argument, "bits an entry is 128", [] { cache_digest d(10, 128); }));
  EXPECT_TRUE(throws(errc::bad_argument, "from 1 to 429496728", [] { cache_digest d(429496729); }));
  EXPECT_TRUE(throws(errc::bad_argument, "the capacity", [] { cache_digest d(UINT64_MAX); }));
}

TEST(cache_digest, becomes_a_filter_and_a_digest_again) {
  for (const std::uint64_t capacity : {1U, 3U, 76U, 552U, 1001U}) {
    for (const std::uint32_t bits : {1U, 5U, 9U, 16U, 127U}) {
      const cache_digest d = sample_digest(capacity, capacity, bits);
      const cache_digest again(d.filter());
      EXPECT_EQ(again.capacity(), capacity);
      EXPECT_EQ(again.filter(), d.filter());
      EXPECT_EQ(again.entries(), d.entries());
      // Of few entries several numbers of bits lead to the same mask.
      if (capacity > 8 || bits == 5) {
        EXPECT_EQ(again.bytes(), d.bytes());
      }
      EXPECT_EQ(cache_digest::parse(again.bytes()).filter(), d.filter());
    }
  }
}

TEST(cache_digest, takes_any_filter_of_whole_bytes) {
  plan p;
  p.shape = {.kind = filter_kind::classic, .scheme = probe_scheme::modulo, .probes = 4, .bits = 8};
  for (std::uint64_t keys = 0; keys < 300; keys += 7) {
    for (p.shape.bits = 8; p.shape.bits < 4000; p.shape.bits += 8) {
      p.keys = keys;
      const cache_digest d{digest_filter(p)};
      ASSERT_EQ(d.mask_bytes() * 8, p.shape.bits);
      ASSERT_EQ(cache_digest::parse(d.bytes()).capacity(), d.capacity());
    }
  }
  p.shape.bits = 100;
  EXPECT_TRUE(
      throws(errc::mismatch, "the filter has 100 bits", [&] { cache_digest d{digest_filter(p)}; }));
  p.shape.bits = 104;
  p.shape.probes = 3;
  EXPECT_TRUE(throws(errc::mismatch, "has 4 probes, but the filter has 3",
                     [&] { cache_digest d{digest_filter(p)}; }));
}

TEST(cache_digest, is_wrong_at_the_rate_of_the_theory) {
  constexpr std::uint64_t keys = 20'000;
  const cache_digest d = sample_digest(keys, keys);
  const double theory = sizing::classic_fpr_approx(5.0, 4);
  EXPECT_NEAR(theory, 0.0920, 0.0001);
  // The share of ones has a standard deviation below sqrt(1 / 4m), 0.3 % of it; of its fourth power
  // 1.2 %. Five of these.
  EXPECT_NEAR(d.filter().fpr(), theory, 5 * 0.012 * theory);
  constexpr std::uint64_t asked = 50'000;
  double found = 0;
  for (std::uint64_t i = 0; i < asked; ++i) found += d.contains(sample_hash<digest>(i, 2)) ? 1 : 0;
  const double rate = d.filter().fpr();
  EXPECT_NEAR(found / asked, rate, 5 * std::sqrt(rate * (1 - rate) / asked));
}

}  // namespace
}  // namespace bloomery
