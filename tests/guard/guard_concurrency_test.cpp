// Threads that ask, threads that add, and rebuilds one after the other: no key that was added is
// ever missed.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

#include "bloomery/filter/keyed.hpp"
#include "bloomery/guard/guard.hpp"

namespace bloomery {
namespace {

filter empty_filter() { return filter({.keys = 20'000, .fpr = 1e-4}); }

// A store with a lock. Its scan sees what was there when it began, and takes its time.
class slow_store {
 public:
  void put(std::uint64_t key) {
    const std::lock_guard lock(mutex_);
    keys_.push_back(key);
  }
  filter scan() const {
    std::unique_lock lock(mutex_);
    const std::vector<std::uint64_t> snapshot = keys_;
    lock.unlock();
    filter f = empty_filter();
    for (const std::uint64_t key : snapshot) {
      if (key % 64 == 0) std::this_thread::yield();
      f.add(key);
    }
    return f;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> keys_;
};

TEST(guard, a_key_that_is_added_after_the_scan_is_in_the_new_filter) {
  guard g(empty_filter(), [](std::uint64_t) { return true; });
  std::binary_semaphore scanned(0);
  std::binary_semaphore added(0);
  ASSERT_TRUE(g.rebuild([&] {
    filter f = empty_filter();
    scanned.release();
    added.acquire();
    return f;
  }));
  scanned.acquire();
  for (std::uint64_t key = 0; key < 1000; ++key) g.add(key);
  EXPECT_FALSE(g.rebuild(empty_filter));  // one at a time
  added.release();
  g.wait();
  for (std::uint64_t key = 0; key < 1000; ++key) ASSERT_TRUE(g(key)) << key;
}

TEST(guard, misses_no_key_while_it_is_rebuilt) {
  constexpr std::uint64_t per_writer = 8'000;
  constexpr std::size_t writers = 2;
  slow_store store;
  guard g(empty_filter(), [](std::uint64_t) { return true; });  // what passes is found
  std::vector<std::atomic<std::uint64_t>> written(writers);
  std::atomic<std::uint64_t> missed{0};
  std::atomic<bool> writing{true};
  {
    std::vector<std::jthread> readers;
    for (std::size_t r = 0; r < writers; ++r) {
      readers.emplace_back([&, r] {
        for (std::uint64_t i = 0; writing; ++i) {
          const std::uint64_t there = written[r].load(std::memory_order_acquire);
          // The newest key, and an older one.
          if (there > 0 && !g((there - 1) * writers + r)) ++missed;
          if (there > 0 && !g(i % there * writers + r)) ++missed;
        }
      });
    }
    std::jthread rebuilder([&] {
      while (writing) g.rebuild([&] { return store.scan(); });
    });
    std::vector<std::jthread> adders;
    for (std::size_t w = 0; w < writers; ++w) {
      adders.emplace_back([&, w] {
        for (std::uint64_t i = 0; i < per_writer; ++i) {
          store.put(i * writers + w);
          g.add(i * writers + w);
          written[w].store(i + 1, std::memory_order_release);
        }
      });
    }
    adders.clear();
    writing = false;
  }
  g.wait();
  EXPECT_EQ(missed, 0U);
  for (std::uint64_t key = 0; key < writers * per_writer; ++key) ASSERT_TRUE(g(key)) << key;
  EXPECT_EQ(g.report().wasted, 0U);
}

TEST(guard, counts_every_call_of_every_thread) {
  guard g(filter({.keys = 100}), [](std::uint64_t) { return true; }, {.sample_every = 3});
  g.add(7);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) (void)g(7);
      });
    }
    for (int i = 0; i < 100; ++i) {
      const guard_report r = g.report();
      EXPECT_EQ(r.asked(), r.hit);
    }
  }
  EXPECT_EQ(g.report().hit, 40'000U);
}

}  // namespace
}  // namespace bloomery
