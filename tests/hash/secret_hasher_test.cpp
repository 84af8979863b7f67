// Keys that were made to have one hash under XXH3 have different ones under a secret.
#include "bloomery/hash/secret_hasher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "bloomery/filter/keyed.hpp"

namespace bloomery {
namespace {

// The first word of XXH3's public secret, as a key has it on every machine.
constexpr std::string_view public_word = "\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe";

std::string crafted(unsigned number) {
  std::string key(public_word);
  key += std::to_string(10'000'000 + number);
  return key + "0123456789abcdef";
}

TEST(secret_hasher, takes_keys_apart_that_have_one_hash_under_seed_0) {
  std::set<std::uint64_t> plain;
  std::set<std::uint64_t> secret;
  const secret_hasher hash(1);
  for (unsigned i = 0; i < 1000; ++i) {
    plain.insert(hash_key(xxh3_hasher(), crafted(i)));
    secret.insert(hash_key(hash, crafted(i)));
  }
  EXPECT_EQ(plain.size(), 1U);
  EXPECT_EQ(secret.size(), 1000U);
}

// XXH3 multiplies (a ^ (s + seed)) by (b ^ (t - seed)). The two keys have a and b exchanged and
// XORed with d, which is the XOR of the two sums for 2^-18 of all seeds: 8 of 2^21.
TEST(secret_hasher, has_no_pairs_that_meet_for_many_seeds) {
  constexpr std::size_t first = 2;                  // of the words at bytes 16 to 31
  constexpr std::uint64_t s = 0xdb979083e96dd4deU;  // of XXH3's public secret
  constexpr std::uint64_t t = 0x1f67b3b7a4a44072U;
  // The digits -1, 0, 1 of s + t + 1, of which as few as possible are not 0: the others are d.
  std::uint64_t rest = s + t + 1;
  std::uint64_t d = ~std::uint64_t{0};
  for (unsigned bit = 0; bit < 64; ++bit, rest >>= 1U) {
    if ((rest & 1U) == 0) continue;
    rest -= (rest & 3U) == 1 ? 1 : ~std::uint64_t{0};
    d &= ~(std::uint64_t{1} << bit);
  }
  std::array<std::uint64_t, 4> a = {1, 2, 3, 4};
  std::array<std::uint64_t, 4> b = a;
  b[first] = a[first + 1] ^ d;
  b[first + 1] = a[first] ^ d;
  for (std::uint64_t& word : a) word = detail::little_endian(word);
  for (std::uint64_t& word : b) word = detail::little_endian(word);
  unsigned met = 0;
  unsigned met_in_secret = 0;
  for (std::uint64_t i = 0; i < std::uint64_t{1} << 21U; ++i) {
    const std::uint64_t seed = splitmix64(i);
    const xxh3_hasher plain(seed);
    if (plain.bytes(a.data(), sizeof a) == plain.bytes(b.data(), sizeof b)) ++met;
    const secret_hasher secret(seed);
    if (secret.bytes(a.data(), sizeof a) == secret.bytes(b.data(), sizeof b)) ++met_in_secret;
  }
  EXPECT_GT(met, 0U);
  EXPECT_EQ(met_in_secret, 0U);
}

// Part of the file format. By libxxhash's XXH3_64bits_withSecret, called from Python.
TEST(secret_hasher, gives_frozen_vectors) {
  const std::string longer(300, 'x');
  EXPECT_EQ(hash_key(secret_hasher(0), ""), 0xa7d945e0b48fd464U);
  EXPECT_EQ(hash_key(secret_hasher(0), "bloom"), 0xde843397cef14f83U);
  EXPECT_EQ(hash_key(secret_hasher(7), crafted(0)), 0x43c2a25362a169e5U);
  EXPECT_EQ(hash_key(secret_hasher(~std::uint64_t{0}), longer), 0x73f44277328910d7U);
  EXPECT_EQ(hash_key(secret_hasher(7), 42), 0xb0583cdd6cf886c6U);
}

TEST(secret_hasher, says_what_a_file_must_store) {
  EXPECT_EQ(secret_hasher(7).spec(), (hash_spec{.id = hash_id::xxh3_secret, .seed = 7}));
  keyed<blocked_filter, secret_hasher> f({.keys = 1000, .seed = 7});
  f.add("a");
  EXPECT_TRUE(f.contains("a"));
  EXPECT_FALSE(f.contains("b"));
  EXPECT_EQ(f.hash_function().spec().seed, 7U);
}

TEST(secret_text_hash, is_one_function_in_a_process) {
  std::unordered_set<std::string, secret_text_hash, std::equal_to<>> texts = {"a", "b"};
  EXPECT_TRUE(texts.contains(std::string_view("a")));
  EXPECT_FALSE(texts.contains(std::string_view("c")));
  EXPECT_EQ(secret_text_hash{}("a"), secret_text_hash{}("a"));
  EXPECT_NE(secret_text_hash{}("a"), secret_hasher(0).bytes("a", 1));
}

// The numbers that std::hash would put into one bucket, whatever its container does to grow.
std::size_t fullest_bucket_of_multiples(std::size_t step, std::size_t buckets) {
  std::unordered_set<std::uint64_t, secret_number_hash> set(buckets);
  for (std::uint64_t i = 0; i < 10'000; ++i) set.insert(i * step * set.bucket_count());
  std::size_t most = 0;
  for (std::size_t b = 0; b < set.bucket_count(); ++b) most = std::max(most, set.bucket_size(b));
  return most;
}

// At one key a bucket the fullest of 10,000 buckets has more than 20 with a chance below 1e-14.
TEST(secret_number_hash, spreads_numbers_that_were_chosen) {
  EXPECT_LE(fullest_bucket_of_multiples(1, 12'000), 20U);
  EXPECT_LE(fullest_bucket_of_multiples(1U << 20U, 12'000), 20U);
}

}  // namespace
}  // namespace bloomery
