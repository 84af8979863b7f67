// The documents' own hash schemes: vectors, and filters made with them.
#include "bloomery/crypto/digest.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/hash/any_hasher.hpp"

namespace bloomery {
namespace {

using words = std::vector<std::uint32_t>;

words first_words(const digest& d, std::size_t count) {
  return {d.words.begin(), d.words.begin() + static_cast<std::ptrdiff_t>(count)};
}

// ---- vectors ----------------------------------------------------------------------------------

// d41d8cd98f00b204e9800998ecf8427e and 900150983cd24fb0d6963f7d28e17f72 (RFC 1321).
TEST(Md5, WordsAreThoseOfTheDigest) {
  const md5_hasher h;
  EXPECT_EQ(first_words(hash_key(h, ""), 4),
            (words{0xd41d8cd9, 0x8f00b204, 0xe9800998, 0xecf8427e}));
  EXPECT_EQ(first_words(hash_key(h, "abc"), 4),
            (words{0x90015098, 0x3cd24fb0, 0xd6963f7d, 0x28e17f72}));
}

TEST(Md5, AnIntegerIsItsEightBytesLittleEndian) {
  // hashlib.md5(struct.pack("<Q", 42)): e8bdc34458096e6d18755f4c86df8b95
  EXPECT_EQ(first_words(hash_key(md5_hasher(), 42), 4),
            (words{0xe8bdc344, 0x58096e6d, 0x18755f4c, 0x86df8b95}));
}

// Squid's keys are MD5 digests already.
TEST(Md5, WordsOfADigestThatIsThereAlready) {
  std::array<std::byte, 16> md5{};
  for (std::size_t i = 0; i < md5.size(); ++i) md5[i] = static_cast<std::byte>(0xf0 + i);
  EXPECT_EQ(first_words(md5_words(md5.data()), 4),
            (words{0xf0f1f2f3, 0xf4f5f6f7, 0xf8f9fafb, 0xfcfdfeff}));
}

// The first 32 bits, big-endian, of hashlib.sha1(b"1" + key), b"2" + key, ...
TEST(SaltedSha1, GivesFrozenVectors) {
  EXPECT_EQ(first_words(hash_key(salted_sha1_hasher(5), ""), 5),
            (words{0x356a192b, 0xda4b9237, 0x77de68da, 0x1b645389, 0xac3478d6}));
  EXPECT_EQ(first_words(hash_key(salted_sha1_hasher(5), "apples"), 5),
            (words{0x7fb9a7ca, 0x57a4ada1, 0x2f077404, 0xbddecf8e, 0xd495a11c}));
  EXPECT_EQ(first_words(hash_key(salted_sha1_hasher(2), 42), 2), (words{0x6e6c03c7, 0xc8182d1c}));
}

// All five words of the same digests, XORed; by Python's hashlib.
TEST(FoldedSha1, GivesFrozenVectors) {
  EXPECT_EQ(first_words(hash_key(folded_sha1_hasher(5), ""), 5),
            (words{0xe3f78a32, 0x7ebeeb14, 0x2c5352d7, 0x91e5bbfc, 0x2c268aee}));
  EXPECT_EQ(first_words(hash_key(folded_sha1_hasher(5), "apples"), 5),
            (words{0x05227687, 0xbc448c12, 0xd7391dd9, 0x66d17949, 0xf498b5a2}));
  EXPECT_EQ(first_words(hash_key(folded_sha1_hasher(2), 42), 2), (words{0x81cf82ed, 0x50c0ec8a}));
}

TEST(SaltedSha1, SaltsAreDecimalToTheLastProbe) {
  const digest d = hash_key(salted_sha1_hasher(64), "abc");
  EXPECT_EQ(d.words[0], 0x61ad43d7U);
  EXPECT_EQ(d.words[9], 0x3169ebd4U);   // sha1("10abc")
  EXPECT_EQ(d.words[63], 0x0e9fc09fU);  // sha1("64abc")
}

TEST(SaltedSha1, MakesAsManyWordsAsAskedFor) {
  EXPECT_EQ(salted_sha1_hasher(7).probes(), 7U);
  const digest d = hash_key(salted_sha1_hasher(3), "abc");
  EXPECT_NE(d.words[2], 0U);
  EXPECT_EQ(d.words[3], 0U);
}

TEST(SaltedSha1, RefusesNumbersOfProbesThatNoFilterHas) {
  for (const std::uint32_t probes : {0U, 65U}) {
    try {
      const salted_sha1_hasher h(probes);
      FAIL() << "made " << h.probes() << " words";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::bad_argument);
      const std::string text = e.what();
      EXPECT_NE(text.find(std::to_string(probes)), std::string::npos) << text;
      EXPECT_NE(text.find("from 1 to 64"), std::string::npos) << text;
    }
  }
}

TEST(DigestHashers, SayWhatAFileMustStore) {
  EXPECT_EQ(md5_hasher().spec(), (hash_spec{.id = hash_id::md5}));
  EXPECT_EQ(salted_sha1_hasher(7).spec(), (hash_spec{.id = hash_id::salted_sha1}));
  static_assert(hasher<md5_hasher> && hasher<salted_sha1_hasher>);
  static_assert(md5_hasher::probes() == 4);
}

// The contexts of OpenSSL are kept for each thread.
TEST(DigestHashers, MayBeUsedFromManyThreads) {
  std::vector<std::thread> threads;
  std::array<words, 4> results;
  for (std::size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&results, t] {
      for (int i = 0; i < 1000; ++i) results[t] = first_words(hash_key(md5_hasher(), "abc"), 4);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const words& result : results) EXPECT_EQ(result[0], 0x90015098U);
}

// ---- filters ----------------------------------------------------------------------------------

plan digest_plan(std::uint64_t keys, double bits_per_key, std::uint32_t probes) {
  plan p = sizing::make_plan(
      {.kind = filter_kind::classic, .keys = keys, .bits_per_key = bits_per_key, .probes = probes});
  p.shape.scheme = probe_scheme::modulo;
  return p;
}

// No false negatives, and the rate of the theory: 20,000 keys, 200,000 questions. The count is a
// sum of independent answers of probability f for given bits, so its deviation is sqrt(200,000 f),
// to which the filter adds 1 % of itself; 5 of those are allowed.
template <class Hasher>
void expect_a_sound_filter(std::uint32_t probes, double bits_per_key, const Hasher& hasher) {
  const plan p = digest_plan(20'000, bits_per_key, probes);
  keyed<digest_filter, Hasher> f(digest_filter(p), hasher);
  for (int i = 0; i < 20'000; ++i) f.add("key " + std::to_string(i));
  for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(f.contains("key " + std::to_string(i)));
  double found = 0;
  for (int i = 0; i < 200'000; ++i) found += f.contains("other " + std::to_string(i)) ? 1 : 0;
  const double expected = 200'000 * p.fpr;
  EXPECT_NEAR(found, expected, 5 * (std::sqrt(expected) + 0.01 * expected)) << probes << " probes";
  EXPECT_NEAR(f.fpr() / p.fpr, 1.0, 0.05);
}

TEST(DigestFilter, WithMd5AsInSquid) {
  expect_a_sound_filter(4, 8, md5_hasher());  // .0240
}

TEST(DigestFilter, WithSaltedSha1AsInTheArticle) {
  expect_a_sound_filter(7, 9.6, salted_sha1_hasher(7));
}

TEST(DigestFilter, WithFewerProbesThanWords) { expect_a_sound_filter(3, 5, md5_hasher()); }

// Digest j decides bit words[j] mod m, and nothing else: another program finds them there.
TEST(DigestFilter, SetsTheBitsThatTheWordsName) {
  keyed<digest_filter, md5_hasher> f(digest_filter(digest_plan(100, 10, 4)), md5_hasher());
  f.add("abc");
  const std::uint64_t bits = f.filter().shape().bits;
  std::vector<bool> expected(bits);
  for (const std::uint64_t word : {0x90015098U, 0x3cd24fb0U, 0xd6963f7dU, 0x28e17f72U}) {
    expected[word % bits] = true;
  }
  for (std::uint64_t position = 0; position < bits; ++position) {
    EXPECT_EQ(detail::test_bit(f.filter().words().data(), position), expected[position]);
  }
}

// ---- refusals ---------------------------------------------------------------------------------

TEST(DigestFilter, WithMoreProbesThanWordsIsRefused) {
  try {
    const keyed<digest_filter, md5_hasher> f(digest_filter(digest_plan(100, 10, 5)), md5_hasher());
    FAIL() << "made a filter of " << f.filter().shape().probes << " probes";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::mismatch);
    const std::string text = e.what();
    EXPECT_NE(text.find("4 words"), std::string::npos) << text;
    EXPECT_NE(text.find("5 probes"), std::string::npos) << text;
  }
}

TEST(DigestFilter, WithASha1HasherOfFewerProbesIsRefused) {
  using filter_of_sha1 = keyed<digest_filter, salted_sha1_hasher>;
  EXPECT_THROW(filter_of_sha1(digest_filter(digest_plan(100, 10, 7)), salted_sha1_hasher(6)),
               error);
  EXPECT_NO_THROW(filter_of_sha1(digest_filter(digest_plan(100, 10, 7)), salted_sha1_hasher(7)));
}

// The scheme has no seed. Were the options' seed taken for its number of probes, a filter for 1 %
// with seed 3 would set and test three bits of seven, find 1.9 % and say 0.01 %.
TEST(DigestFilter, TheSeedOfTheOptionsIsNoNumberOfProbes) {
  EXPECT_FALSE((std::constructible_from<keyed<digest_filter, salted_sha1_hasher>, const options&>));
}

TEST(DigestFilter, BeyondThe32BitsOfAWordIsRefused) {
  EXPECT_THROW(digest_filter(options{.keys = 1'000'000'000, .fpr = 0.01}), error);
}

TEST(DigestFilter, TakesConcurrentAdds) {
  const plan p = sizing::make_plan(
      {.kind = filter_kind::classic, .keys = 100, .bits_per_key = 10.0, .probes = 4});
  plan digests = p;
  digests.shape.scheme = probe_scheme::modulo;
  keyed<digest_filter, md5_hasher> f{digest_filter(digests), md5_hasher()};
  f.concurrent().add("abc");
  EXPECT_TRUE(f.contains("abc"));
  EXPECT_EQ(f.keys(), 1U);
}

TEST(DigestHashers, DoNotGive64BitHashes) {
  const auto erased = erase(md5_hasher());
  const std::array<std::string_view, 1> keys = {"abc"};
  std::array<digest, 1> digests{};
  erased->hash(keys, digests);
  EXPECT_EQ(digests[0].words[0], 0x90015098U);
  std::array<std::uint64_t, 1> hashes{};
  EXPECT_THROW(erased->hash(keys, hashes), error);
}

}  // namespace
}  // namespace bloomery
