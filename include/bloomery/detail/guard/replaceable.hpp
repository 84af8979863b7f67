// A value that many threads read while one of them may replace it. Readers never wait and take no
// lock; the thread that replaces the value waits until nobody reads the old one any more (the two
// phases of Ramalhete and Correia 2013, "Left-Right").
//
// A reader increments a counter, then loads the pointer. The writer exchanges the pointer and then
// waits until each counter has been 0 once. There are two counters, and new readers use the other
// one, so that a stream of readers cannot make the writer wait for ever. Few threads or one share a
// cache line of counters. std::atomic<std::shared_ptr> would be shorter, but it locks inside, and
// the readers of all threads would change one reference count.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

namespace bloomery::detail {

inline constexpr std::size_t thread_stripes = 16;

// Threads are numbered in turn, so that the first 16 share no counters.
[[nodiscard]] inline std::size_t thread_stripe() noexcept {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t mine =
      threads.fetch_add(1, std::memory_order_relaxed) % thread_stripes;
  return mine;
}

template <class T>
class replaceable {
 public:
  explicit replaceable(std::unique_ptr<T> first) noexcept : current_(first.release()) {}
  replaceable(const replaceable&) = delete;
  replaceable& operator=(const replaceable&) = delete;
  ~replaceable() { delete current_.load(); }

  // Calls use(value); any number of threads may. All memory orders are sequentially consistent,
  // because the counter must change before the pointer is read.
  template <class Use>
  decltype(auto) read(Use use) const noexcept(noexcept(use(std::declval<T&>()))) {
    const presence here(stripes_[thread_stripe()].readers[phase_.load()]);
    return use(*current_.load());
  }

  // The value itself. The caller makes sure that no other thread calls exchange() meanwhile.
  [[nodiscard]] T& current() const noexcept { return *current_.load(); }
  // Later readers get `next`. The old value may be in use until await_readers() has returned.
  [[nodiscard]] std::unique_ptr<T> exchange(std::unique_ptr<T> next) noexcept {
    return std::unique_ptr<T>(current_.exchange(next.release()));
  }
  // Only one thread at a time may call this.
  void await_readers() noexcept {
    const std::uint32_t other = 1 - phase_.load();
    await(other);
    phase_.store(other);
    await(1 - other);
  }

 private:
  using counter = std::atomic<std::uint64_t>;
  struct alignas(64) stripe {
    std::array<counter, 2> readers{};
  };

  class presence {
   public:
    explicit presence(counter& c) noexcept : counter_(c) { counter_.fetch_add(1); }
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;
    ~presence() { counter_.fetch_sub(1); }

   private:
    counter& counter_;
  };

  void await(std::uint32_t phase) const noexcept {
    for (const stripe& s : stripes_) {
      while (s.readers[phase].load() != 0) std::this_thread::yield();
    }
  }

  mutable std::array<stripe, thread_stripes> stripes_{};
  std::atomic<std::uint32_t> phase_{0};
  std::atomic<T*> current_;
};

}  // namespace bloomery::detail
