// Keys instead of hashes: every sort of key, ranges of them, and no allocation on the way.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <forward_list>
#include <list>
#include <new>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/filter/fuse.hpp"
#include "filter/samples.hpp"

#ifdef BLOOMERY_HAS_CRYPTO
#include "bloomery/crypto/digest.hpp"
#include "bloomery/crypto/siphash.hpp"
#endif

namespace {

std::atomic<std::size_t> allocations{0};

void* counted(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
  throw std::bad_alloc();
}

}  // namespace

// Not inlined, because a compiler that sees malloc in one and not in its partner warns.
[[gnu::noinline]] void* operator new(std::size_t size) { return counted(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return counted(size); }
// GoogleTest sorts its tests in memory from here, and a sanitizer sees who frees it.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace shop {

struct point {
  std::int32_t x;
  std::string_view y;
};

template <class Hasher>
std::uint64_t bloomery_hash(const point& p, const Hasher& hasher) {
  return bloomery::hash_fields(hasher, p.x, p.y);
}

}  // namespace shop

namespace {

using namespace bloomery;
using namespace bloomery_test;
using namespace std::string_view_literals;

filter small_filter() { return filter({.keys = 1000, .fpr = 1e-6}); }

std::vector<std::string> names(std::size_t count, const std::string& prefix = "key ") {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(prefix + std::to_string(i));
  return all;
}

// ---- one key ----------------------------------------------------------------------------------

TEST(keyed, does_what_the_readme_says) {
  filter f({.keys = 1'000'000, .fpr = 0.01});
  f.add("apples");
  EXPECT_TRUE(f.contains("apples"));
  EXPECT_FALSE(f.contains("mango"));
  EXPECT_EQ(f.keys(), 1U);
  EXPECT_GT(f.fpr(), 0.0);
  EXPECT_LT(f.fpr(), 0.01);
}

TEST(keyed, takes_all_forms_of_the_same_bytes_as_one_key) {
  const char* pointer = "apples";
  const std::array<std::byte, 6> bytes = {std::byte{'a'}, std::byte{'p'}, std::byte{'p'},
                                          std::byte{'l'}, std::byte{'e'}, std::byte{'s'}};
  const std::vector<unsigned char> octets = {'a', 'p', 'p', 'l', 'e', 's'};
  const auto check = [&](const auto& added) {
    filter f = small_filter();
    f.add(added);
    EXPECT_TRUE(f.contains("apples"));
    EXPECT_TRUE(f.contains("apples"sv));
    EXPECT_TRUE(f.contains(std::string("apples")));
    EXPECT_TRUE(f.contains(pointer));
    EXPECT_TRUE(f.contains(bytes));
    EXPECT_TRUE(f.contains(std::span<const std::byte>(bytes)));
    EXPECT_TRUE(f.contains(octets));
    EXPECT_TRUE(f.contains(u8"apples"sv));
    EXPECT_FALSE(f.contains("apple"));
    EXPECT_FALSE(f.contains("apples\0"sv)) << "a view may hold zeros";
  };
  check("apples");
  check(pointer);
  check("apples"sv);
  check(std::string("apples"));
  check(bytes);
  check(std::span<const std::byte>(bytes));
  check(octets);
}

TEST(keyed, takes_empty_keys) {
  filter f = small_filter();
  EXPECT_FALSE(f.contains(""));
  f.add("");
  EXPECT_TRUE(f.contains(std::string_view{}));
  EXPECT_TRUE(f.contains(std::span<const std::byte>{}));
}

TEST(keyed, takes_integers_of_one_value_as_one_key) {
  filter f = small_filter();
  f.add(42);
  EXPECT_TRUE(f.contains(std::uint8_t{42}));
  EXPECT_TRUE(f.contains(std::int16_t{42}));
  EXPECT_TRUE(f.contains(42U));
  EXPECT_TRUE(f.contains(std::uint64_t{42}));
  EXPECT_FALSE(f.contains(43));
  EXPECT_FALSE(f.contains("42")) << "text is another key";
  f.add(std::int8_t{-1});
  EXPECT_TRUE(f.contains(-1));
  EXPECT_TRUE(f.contains(UINT64_MAX));
  EXPECT_FALSE(f.contains(UINT32_MAX));
}

TEST(keyed, takes_types_with_a_hash_of_their_own) {
  filter f = small_filter();
  f.add(shop::point{.x = 3, .y = "y"});
  EXPECT_TRUE(f.contains(shop::point{.x = 3, .y = "y"}));
  EXPECT_FALSE(f.contains(shop::point{.x = 4, .y = "y"}));
  EXPECT_FALSE(f.contains(shop::point{.x = 3, .y = "z"}));
  const std::list<shop::point> points = {{.x = 3, .y = "y"}, {.x = 5, .y = ""}};
  EXPECT_EQ(f.contains_count(points), 1U);
}

// ---- made from keys ---------------------------------------------------------------------------

TEST(keyed, is_made_from_a_list_of_keys) {
  const filter fruit{"apples", "pears and plums"};
  EXPECT_EQ(fruit.keys(), 2U);
  EXPECT_TRUE(fruit.contains("apples") && fruit.contains("pears and plums"));
  const filter numbers({1, 2, 3}, 0.0001, 5);
  EXPECT_EQ(numbers.filter().planned().fpr_target, 0.0001);
  EXPECT_EQ(numbers.hash_function().spec().seed, 5U);
  EXPECT_EQ(numbers.contains_count(std::vector{1, 2, 3}), 3U);
  const filter copy{fruit};
  EXPECT_EQ(copy.keys(), 2U) << "a filter is no key";
}

TEST(keyed, takes_its_size_from_a_range) {
  const std::vector<std::string> words = names(5000);
  const filter f(words, 0.001);
  EXPECT_EQ(f.filter().shape(), filter({.keys = 5000, .fpr = 0.001}).filter().shape());
  EXPECT_EQ(f.contains_count(words), 5000U);
  const std::list<int> numbers = {1, 2, 3};
  EXPECT_EQ(filter(numbers).filter().planned().keys, 3U);
  EXPECT_EQ(filter(std::vector<int>()).keys(), 0U);
  const keyed<fuse_filter> archive(words, 0.001);
  EXPECT_EQ(archive.keys(), 5000U);
  EXPECT_EQ(archive.contains_count(words), 5000U);
  static_assert(!std::constructible_from<filter, std::string>);  // a range of characters
  static_assert(!std::constructible_from<filter, std::vector<double>>);
  static_assert(!std::constructible_from<filter_view, std::vector<int>>);
}

TEST(keyed, refuses_what_is_rarely_meant_as_a_key) {
  static_assert(key_for<int> && key_for<std::string> && key_for<const char*> && key_for<char[3]>);
  static_assert(key_for<std::vector<unsigned char>> && key_for<shop::point>);
  static_assert(key_for<bool> && !key_for<char> && !key_for<char32_t> && !key_for<double>);
  static_assert(!key_for<std::nullptr_t>);
  static_assert(!key_for<std::vector<int>> && !key_for<void*> && !key_for<std::vector<bool>>);
}

TEST(keyed, never_throws_for_one_key) {
  filter f = small_filter();
  static_assert(noexcept(f.add("a"))&& noexcept(f.contains("a")));
  static_assert(noexcept(f.add(1))&& noexcept(f.contains(1)));
  static_assert(noexcept(f.add(std::string()))&& noexcept(f.contains(shop::point{})));
}

TEST(keyed, never_allocates) {
  filter f = small_filter();
  const std::string long_key(10'000, 'x');
  const std::vector<std::string> keys = names(1000);
  std::vector<std::uint64_t> bitmap(16);
  std::vector<std::uint8_t> bytes(1000);
  std::vector<std::uint32_t> indexes(1000);
  const std::size_t before = allocations;
  f.add("apples");
  f.add(long_key);
  f.add(7);
  f.add(shop::point{.x = 1, .y = "y"});
  bool found = f.contains("a literal that is too long for the small string buffer");
  found |= f.contains(long_key) && f.contains(7);
  f.add_batch(keys);
  f.contains_bits(keys, bitmap);
  f.contains_bytes(keys, bytes);
  f.contains_indexes(keys, indexes);
  const std::size_t count = f.contains_count(keys);
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_TRUE(found);
  EXPECT_EQ(count, 1000U);
}

// ---- many keys --------------------------------------------------------------------------------

template <class Keys>
void expect_ranges_work(const Keys& keys) {
  filter one_by_one = small_filter();
  for (const auto& key : keys) one_by_one.add(key);
  filter batch = small_filter();
  batch.add_batch(keys);
  const auto size = static_cast<std::size_t>(std::ranges::distance(keys));
  EXPECT_EQ(words_of(batch.filter()), words_of(one_by_one.filter()));
  EXPECT_EQ(batch.keys(), size);
  EXPECT_EQ(batch.contains_count(keys), size);
}

TEST(keyed, takes_ranges_of_every_sort) {
  const std::vector<std::string> strings = names(600);
  std::vector<std::uint64_t> integers = sample_hashes(600);
  expect_ranges_work(strings);
  expect_ranges_work(std::list<std::string>(strings.begin(), strings.end()));
  expect_ranges_work(std::vector<std::string_view>(strings.begin(), strings.end()));
  expect_ranges_work(std::vector<const char*>{"a", "b", "c"});
  expect_ranges_work(std::vector<std::string>{});
  expect_ranges_work(std::span<std::uint64_t>(integers));
  expect_ranges_work(std::span<const std::uint64_t>(integers));
  expect_ranges_work(std::forward_list<int>{1, -2, 3});
}

TEST(keyed, answers_many_as_it_answers_one) {
  filter f({.keys = 500, .fpr = 0.1});
  const std::vector<std::string> all = names(1000);
  f.add_batch(std::span(all).first(500));
  for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 255U, 256U, 257U, 1000U}) {
    const std::list<std::string> keys(all.end() - static_cast<std::ptrdiff_t>(count), all.end());
    std::vector<std::uint8_t> expected;
    std::vector<std::uint32_t> expected_indexes;
    for (const std::string& key : keys) {
      if (f.contains(key)) expected_indexes.push_back(static_cast<std::uint32_t>(expected.size()));
      expected.push_back(f.contains(key) ? 1 : 0);
    }
    std::vector<std::uint64_t> bitmap((count + 63) / 64 + 1, 0xabcd);
    f.contains_bits(keys, bitmap);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ((bitmap[i / 64] >> (i % 64)) & 1U, expected[i]) << i;
    }
    EXPECT_EQ(bitmap.back(), 0xabcdU) << "behind the last";
    std::vector<std::uint8_t> bytes(count);
    f.contains_bytes(keys, bytes);
    EXPECT_EQ(bytes, expected);
    EXPECT_EQ(f.contains_count(keys), expected_indexes.size());
    std::vector<std::uint32_t> indexes(count);
    indexes.resize(f.contains_indexes(keys, indexes));
    EXPECT_EQ(indexes, expected_indexes);
  }
}

// ---- hash functions and views -----------------------------------------------------------------

TEST(keyed, seeds_choose_the_hash_function) {
  const std::vector<std::string> keys = names(1000);
  filter zero({.keys = 1000});
  filter seven({.keys = 1000, .seed = 7});
  zero.add_batch(keys);
  seven.add_batch(keys);
  EXPECT_NE(words_of(zero.filter()), words_of(seven.filter()));
  EXPECT_EQ(seven.contains_count(keys), 1000U);
  EXPECT_EQ(seven.hash_function().spec(), (hash_spec{.id = hash_id::xxh3, .seed = 7}));
}

TEST(keyed, refuses_bad_options_with_the_value_in_the_text) {
  EXPECT_TRUE(throws(errc::bad_argument, "keys", [] { filter({.keys = 0}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "1.5", [] { filter({.keys = 10, .fpr = 1.5}); }));
  EXPECT_TRUE(throws(errc::unreachable, "1e-12", [] { filter({.keys = 10, .fpr = 1e-12}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "2^48", [] { filter({.keys = 100'000'000'000'000}); }));
}

TEST(keyed, wraps_views) {
  filter f({.keys = 1000, .seed = 7});
  f.add_batch(names(1000));
  const filter_view view(f.filter(), f.hash_function());
  EXPECT_TRUE(view.contains("key 17"));
  EXPECT_EQ(view.contains_count(names(1000)), 1000U);
  EXPECT_EQ(view.keys(), 1000U);
  EXPECT_EQ(view.fpr(), f.fpr());
}

TEST(keyed, wraps_every_kind) {
  keyed<classic_filter> classic({.keys = 100});
  keyed<partitioned_filter> partitioned({.keys = 100});
  classic.add_batch(names(100));
  partitioned.add_batch(names(100));
  EXPECT_EQ(classic.contains_count(names(100)), 100U);
  EXPECT_EQ(partitioned.contains_count(names(100)), 100U);
}

TEST(keyed, gives_out_the_filter_of_hashes) {
  filter f = small_filter();
  f.filter().add(hash_key(f.hash_function(), "apples"));
  EXPECT_TRUE(f.contains("apples"));
}

#ifdef BLOOMERY_HAS_CRYPTO

TEST(keyed, takes_a_secret_key) {
  siphash_hasher::key_type secret{};
  secret[0] = std::byte{1};
  using secret_filter = keyed<blocked_filter, siphash_hasher>;
  secret_filter f(blocked_filter(options{.keys = 1000}), siphash_hasher(secret));
  f.add_batch(names(1000));
  EXPECT_EQ(f.contains_count(names(1000)), 1000U);
  const secret_filter other(f.filter(), siphash_hasher(siphash_hasher::key_type{}));
  EXPECT_LT(other.contains_count(names(1000)), 50U) << "useless with another key";
}

TEST(keyed, takes_foreign_digests) {
  keyed<digest_filter, salted_sha1_hasher> sha1(digest_filter(options{.keys = 1000, .fpr = 1e-4}),
                                                salted_sha1_hasher(14));
  sha1.add_batch(names(1000));
  EXPECT_EQ(sha1.contains_count(names(1000)), 1000U);
  EXPECT_LT(sha1.contains_count(names(1000, "other ")), 5U);
}

// It has no seed; options would give it one.
TEST(keyed, is_not_made_from_options_without_a_seeded_hash) {
  static_assert(std::constructible_from<filter, options>);
  static_assert(!std::constructible_from<keyed<digest_filter, salted_sha1_hasher>, options>);
  static_assert(!std::constructible_from<keyed<blocked_filter, siphash_hasher>, options>);
}

TEST(keyed, refuses_a_digest_with_fewer_words_than_probes) {
  EXPECT_TRUE(throws(errc::mismatch, "makes 4 words, but the filter has 7 probes", [] {
    keyed<digest_filter, md5_hasher>{digest_filter(options{.keys = 1000, .fpr = 0.01})};
  }));
}

#endif

}  // namespace
