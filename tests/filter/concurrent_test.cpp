// Adding and asking from several threads at once, without locks. The thread sanitizer runs these
// too.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "filter/samples.hpp"
#include "filter/threads.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

template <class Filter>
class concurrent_filter : public testing::Test {};
using filters = testing::Types<blocked_filter, split_block_filter, classic_filter,
                               partitioned_filter, digest_filter>;
TYPED_TEST_SUITE(concurrent_filter, filters, );

TYPED_TEST(concurrent_filter, gets_the_bits_of_the_sequential_one) {
  // Small, so that the threads meet in the same words all the time.
  constexpr std::size_t keys = 40000;
  const auto hashes = sample_hashes<typename TypeParam::hash_type>(keys);
  TypeParam sequential(options{.keys = keys, .fpr = 0.01});
  sequential.add_batch(hashes);

  TypeParam shared(options{.keys = keys, .fpr = 0.01});
  shared.add(hashes[0]);  // once more, and not by a handle
  std::atomic<std::size_t> missed{0};
  in_threads([&](std::size_t t) {
    auto handle = shared.concurrent();
    for (std::size_t i = t; i < keys; i += thread_count) {
      handle.add(hashes[i]);
      if (!handle.contains(hashes[i])) ++missed;
    }
  });
  EXPECT_EQ(missed, 0U) << "a thread finds what it added itself";
  EXPECT_EQ(words_of(shared), words_of(sequential));
  EXPECT_EQ(shared.keys(), keys + 1);
  EXPECT_EQ(shared.contains_count(hashes), keys);
}

TYPED_TEST(concurrent_filter, gets_the_same_bits_from_batches) {
  constexpr std::size_t part = 10000;
  const auto hashes = sample_hashes<typename TypeParam::hash_type>(thread_count * part);
  TypeParam sequential(options{.keys = hashes.size(), .fpr = 0.01});
  sequential.add_batch(hashes);

  TypeParam shared(options{.keys = hashes.size(), .fpr = 0.01});
  std::atomic<std::size_t> found{0};
  in_threads([&](std::size_t t) {
    auto handle = shared.concurrent();
    const auto own = std::span(hashes).subspan(t * part, part);
    for (std::size_t from = 0; from < part; from += 2500) {
      handle.add_batch(own.subspan(from, 2500));
      std::vector<std::uint64_t> bitmap((part + 63) / 64);
      handle.contains_bits(own, bitmap);
      if (from + 2500 == part) found += count_bits(bitmap);
    }
  });
  EXPECT_EQ(found, hashes.size());
  EXPECT_EQ(words_of(shared), words_of(sequential));
  EXPECT_EQ(shared.keys(), hashes.size());
}

TYPED_TEST(concurrent_filter, shows_a_key_to_whoever_learnt_of_it) {
  constexpr std::size_t keys = 20000;
  const auto hashes = sample_hashes<typename TypeParam::hash_type>(keys);
  TypeParam shared(options{.keys = keys, .fpr = 0.01});
  std::atomic<std::size_t> published{0};
  std::atomic<std::size_t> missed{0};
  in_threads([&](std::size_t t) {
    auto handle = shared.concurrent();
    if (t == 0) {
      for (std::size_t i = 0; i < keys; ++i) {
        handle.add(hashes[i]);
        published.store(i + 1, std::memory_order_release);
      }
      return;
    }
    for (std::size_t seen = 0; seen < keys;) {
      const std::size_t now = published.load(std::memory_order_acquire);
      if (now == seen) std::this_thread::yield();
      for (; seen < now; ++seen) missed += handle.contains(hashes[seen]) ? 0 : 1;
    }
  });
  EXPECT_EQ(missed, 0U);
}

TEST(concurrent_handle, counts_its_keys_once_when_moved) {
  blocked_filter f(options{.keys = 10});
  {
    auto first = f.concurrent();
    first.add(sample_hash(0));
    auto second = std::move(first);
    second.add(sample_hash(1));
  }
  EXPECT_EQ(f.keys(), 2U);
}

TEST(concurrent_keyed, takes_keys_from_every_thread) {
  std::vector<std::string> keys;
  for (int i = 0; i < 20000; ++i) keys.push_back("key " + std::to_string(i));
  filter sequential({.keys = keys.size(), .fpr = 0.01, .seed = 3});
  sequential.add_batch(keys);

  filter shared({.keys = keys.size(), .fpr = 0.01, .seed = 3});
  std::atomic<std::size_t> found{0};
  in_threads([&](std::size_t t) {
    auto handle = shared.concurrent();
    const auto own = std::span(keys).subspan(t * 5000, 5000);
    handle.add_batch(own.first(4000));
    for (const std::string& key : own.last(1000)) handle.add(key);
    found += handle.contains_count(own);
  });
  EXPECT_EQ(found, keys.size());
  EXPECT_EQ(words_of(shared.filter()), words_of(sequential.filter()));
  EXPECT_EQ(shared.keys(), keys.size());
}

TEST(concurrent_keyed, takes_foreign_digests) {
  const plan p{
      .shape = {
          .kind = filter_kind::classic, .scheme = probe_scheme::modulo, .probes = 4, .bits = 1000}};
  keyed<digest_filter, toy_digest_hasher> f(digest_filter{p});
  auto handle = f.concurrent();
  handle.add("apples");
  EXPECT_TRUE(handle.contains("apples"));
}

// Without adds, the plain calls are for any number of threads.
TEST(concurrent_filter_readers, need_no_handles) {
  blocked_filter f(options{.keys = 5000});
  const auto hashes = sample_hashes(5000);
  f.add_batch(hashes);
  std::atomic<std::size_t> found{0};
  in_threads([&](std::size_t) { found += f.contains_count(hashes); });
  EXPECT_EQ(found, thread_count * hashes.size());
}

}  // namespace
