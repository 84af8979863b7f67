#include "bloomery/format/codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "bloomery/core/sizing.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/format/delta.hpp"

namespace bloomery {
namespace {

double entropy_bytes(double bits, double fill) {
  if (fill <= 0 || fill >= 1) return 0;
  return bits * -(fill * std::log2(fill) + (1 - fill) * std::log2(1 - fill)) / 8;
}

struct bits_with_fill {
  image_header header;
  std::vector<std::uint64_t> words;
  double fill;

  bits_with_fill(std::uint64_t bits, double p, std::uint64_t seed) {
    header.planned.shape = {.kind = filter_kind::classic, .probes = 3, .bits = bits};
    header.hash.id = hash_id::xxh3;
    words.resize((bits + 63) / 64);
    std::mt19937_64 random(seed);
    for (std::uint64_t i = 0; i < bits; ++i) {
      if (static_cast<double>(random() >> 11U) * 0x1p-53 < p) detail::set_bit(words.data(), i);
    }
    fill = static_cast<double>(count_bits(words)) / static_cast<double>(bits);
  }
};

errc code_of(const auto& work) {
  try {
    work();
  } catch (const error& e) {
    return e.code();
  }
  ADD_FAILURE() << "nothing thrown";
  return errc::io;
}

TEST(pack, is_close_to_the_entropy_at_every_fill_and_comes_back) {
  for (const double p : {0.0, 0.0001, 0.001, 0.004, 0.01, 0.03, 0.041, 0.042, 0.06, 0.1, 0.2, 0.3,
                         0.4, 0.45, 0.48, 0.5, 0.6, 0.9, 0.999}) {
    for (const std::uint64_t bits : {std::uint64_t{1} << 20U, (std::uint64_t{1} << 23U) + 4099}) {
      const bits_with_fill f(bits, p, 1);
      const auto packed = pack(f.header, f.words);
      const double bound = entropy_bytes(static_cast<double>(bits), f.fill);
      EXPECT_LE(static_cast<double>(packed.size()), 1.005 * bound + 128) << p << ' ' << bits;
      EXPECT_LE(packed.size(), f.words.size() * 8 + 64) << p << ' ' << bits;
      const unpacked_filter back = unpack(packed);
      ASSERT_TRUE(std::ranges::equal(back.words.words(), f.words)) << p << ' ' << bits;
      EXPECT_EQ(back.header.planned.shape, f.header.planned.shape);
    }
  }
}

TEST(pack, never_costs_more_than_64_bytes) {
  for (const std::uint64_t bits : {1U, 63U, 64U, 65U, 512U, 1000U, 5000U}) {
    for (const double p : {0.0, 0.1, 0.5, 1.0}) {
      const bits_with_fill f(bits, p, bits);
      const auto packed = pack(f.header, f.words);
      EXPECT_LE(packed.size(), f.words.size() * 8 + 64) << bits << ' ' << p;
      EXPECT_TRUE(std::ranges::equal(unpack(packed).words.words(), f.words)) << bits << ' ' << p;
    }
  }
}

// Both tables of Mitzenmacher 2001 as the survey prints them: array bits a key, probes, bits a key
// sent, fpr.
struct published {
  double bits_per_key;
  std::uint32_t probes;
  double sent;
  double fpr;
};
constexpr std::array<published, 6> tables = {{{16, 11, 16, 0.000459},
                                              {28, 4, 15.846, 0.000314},
                                              {48, 3, 15.829, 0.000222},
                                              {8, 6, 8, 0.0216},
                                              {14, 2, 7.923, 0.0177},
                                              {92, 1, 7.923, 0.0108}}};

TEST(pack, reproduces_the_published_tables) {
  constexpr std::uint64_t n = 200'000;
  for (const published& row : tables) {
    // The tables give 16 and 8 for the uncompressed filters; their entropy is within 0.3 % of that.
    EXPECT_NEAR(sizing::sent_bits_per_key(row.bits_per_key, row.probes), row.sent,
                0.003 * row.sent);
    plan p;
    p.shape = {.kind = filter_kind::classic,
               .probes = row.probes,
               .bits = static_cast<std::uint64_t>(row.bits_per_key * n)};
    keyed<classic_filter> f{classic_filter(p)};
    for (std::uint64_t key = 0; key < n; ++key) f.add(key);
    const auto packed =
        pack({.planned = p, .hash = f.hash_function().spec(), .keys = n}, f.filter().words());
    EXPECT_NEAR(static_cast<double>(packed.size()) * 8 / n, row.sent, 0.006 * row.sent);
    // fpr() scatters by the fill: k times its relative deviation, below 0.2 % here; the table has
    // three digits.
    EXPECT_NEAR(f.fpr(), row.fpr, 0.02 * row.fpr);
    // Measured: 5 standard errors of 2 million queries.
    std::uint64_t passed = 0;
    for (std::uint64_t key = n; key < n + 2'000'000; ++key) passed += f.contains(key) ? 1U : 0U;
    EXPECT_NEAR(static_cast<double>(passed) / 2e6, f.fpr(), 5 * std::sqrt(f.fpr() / 2e6));
  }
}

TEST(best_packed, beats_the_filter_that_is_not_compressed) {
  const sizing::packed_choice choice = sizing::best_packed(16, 48);
  EXPECT_EQ(choice.probes, 3U);
  EXPECT_LE(choice.sent_bits_per_key, 16);
  EXPECT_LE(choice.bits_per_key, 48);
  EXPECT_LT(choice.fpr, 0.000225);
  // Without room for a larger array nothing is gained.
  EXPECT_NEAR(sizing::best_packed(16, 16).fpr, 0.000459, 2e-6);
  EXPECT_THROW((void)sizing::best_packed(0, 10), error);
}

TEST(unpack, refuses_every_truncation_and_every_flipped_byte) {
  for (const double p : {0.01, 0.3, 0.5}) {
    const bits_with_fill f(3000, p, 9);
    const auto packed = pack(f.header, f.words);
    for (std::size_t size = 0; size < packed.size(); ++size) {
      EXPECT_THROW((void)unpack(std::span(packed).first(size)), error) << size;
    }
    for (std::size_t at = 0; at < packed.size(); ++at) {
      auto bad = packed;
      bad[at] ^= std::byte{0x41};
      EXPECT_THROW((void)unpack(bad), error) << at;
    }
    auto longer = packed;
    longer.push_back(std::byte{0});
    EXPECT_THROW((void)unpack(longer), error);
  }
}

TEST(unpack, refuses_more_than_the_limit) {
  const bits_with_fill f(1U << 20U, 0.0, 1);
  const auto packed = pack(f.header, f.words);
  EXPECT_EQ(code_of([&] { (void)unpack(packed, {.memory = (1U << 17U) - 1}); }), errc::no_memory);
  EXPECT_NO_THROW((void)unpack(packed, {.memory = 1U << 17U}));
}

// ---- deltas -----------------------------------------------------------------------------------

filter_version version_of(const bits_with_fill& f) {
  return {.header = f.header, .words = f.words};
}

double log2_choose(double n, double k) {
  return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / std::log(2.0);
}

TEST(diff, is_close_to_the_bound_and_leads_to_the_new_version) {
  const bits_with_fill old(std::uint64_t{10} << 20U, 0.45, 5);
  for (const double share : {0.0001, 0.001, 0.01, 0.1}) {
    bits_with_fill now = old;
    now.header.keys = 77;
    std::mt19937_64 random(6);
    const auto changes = static_cast<std::uint64_t>(share * 6e6);
    for (std::uint64_t i = 0; i < changes; ++i) {
      const std::uint64_t at = random() % (std::uint64_t{10} << 20U);
      now.words[at / 64] |= detail::bit_mask(at);
      if (i % 3 == 0) {
        const std::uint64_t gone = random() % (std::uint64_t{10} << 20U);
        now.words[gone / 64] &= ~detail::bit_mask(gone);
      }
    }
    double set = 0;
    double cleared = 0;
    for (std::size_t w = 0; w < now.words.size(); ++w) {
      set += std::popcount(now.words[w] & ~old.words[w]);
      cleared += std::popcount(old.words[w] & ~now.words[w]);
    }
    const auto bits = static_cast<double>(old.header.planned.shape.bits);
    const double ones = old.fill * bits;
    const double bound = (log2_choose(bits - ones, set) + log2_choose(ones, cleared)) / 8;
    const auto delta = diff(version_of(old), version_of(now));
    EXPECT_LE(static_cast<double>(delta.size()), 1.01 * bound + 128) << share;
    const unpacked_filter back = patch(version_of(old), delta);
    EXPECT_TRUE(std::ranges::equal(back.words.words(), now.words)) << share;
    EXPECT_EQ(back.header.keys, 77U);
  }
}

TEST(diff, falls_back_to_the_packed_version) {
  const bits_with_fill a(1U << 20U, 0.3, 1);
  const bits_with_fill b(1U << 20U, 0.01, 2);
  const bits_with_fill other_shape((1U << 20U) + 64, 0.01, 2);
  for (const bits_with_fill* to : {&b, &other_shape}) {
    const auto delta = diff(version_of(a), version_of(*to));
    EXPECT_LE(delta.size(), pack(to->header, to->words).size() + 64);
    EXPECT_TRUE(std::ranges::equal(patch(version_of(a), delta).words.words(), to->words));
  }
}

TEST(patch, is_refused_on_any_other_version) {
  const bits_with_fill a(5000, 0.3, 1);
  const bits_with_fill b(5000, 0.35, 2);
  const auto delta = diff(version_of(a), version_of(b));
  EXPECT_EQ(code_of([&] { (void)patch(version_of(b), delta); }), errc::mismatch);
  bits_with_fill recounted = a;
  recounted.header.keys = 1;
  EXPECT_EQ(code_of([&] { (void)patch(version_of(recounted), delta); }), errc::mismatch);
  EXPECT_THROW((void)patch(version_of(a), pack(b.header, b.words)), error);
}

TEST(patch, refuses_every_truncation_and_every_flipped_byte) {
  const bits_with_fill a(3000, 0.3, 1);
  bits_with_fill b = a;
  for (std::size_t w = 0; w < b.words.size(); w += 5) b.words[w] ^= 0x10U;
  const auto delta = diff(version_of(a), version_of(b));
  for (std::size_t size = 0; size < delta.size(); ++size) {
    EXPECT_THROW((void)patch(version_of(a), std::span(delta).first(size)), error) << size;
  }
  for (std::size_t at = 0; at < delta.size(); ++at) {
    auto bad = delta;
    bad[at] ^= std::byte{0x41};
    EXPECT_THROW((void)patch(version_of(a), bad), error) << at;
  }
}

}  // namespace
}  // namespace bloomery
