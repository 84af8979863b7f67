// Several threads for one call.
//
//     f.add_batch(keys, bloomery::parallel{});               one thread for each core
//     f.contains_bits(keys, bitmap, bloomery::parallel{4});
//
// The bits and the answers are those of one thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace bloomery {

struct parallel {
  unsigned threads = 0;  // 0: one for each core

  [[nodiscard]] unsigned count() const noexcept {
    return threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  }
};

namespace detail {

// Calls work(state, i) for every i below `count`, in any order, with a state for each thread. The
// first exception ends all and is thrown again here.
template <class MakeState, class Work>
void in_parallel(parallel p, std::uint64_t count, MakeState make_state, Work work) {
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto loop = [&] {
    try {
      auto state = make_state();
      for (std::uint64_t i = next++; i < count; i = next++) work(state, i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::uint64_t wanted = std::min<std::uint64_t>(p.count(), count);
    for (std::uint64_t t = 1; t < wanted; ++t) helpers.emplace_back(loop);
    loop();
  }
  if (failure) std::rethrow_exception(failure);
}

// The same without a state.
template <class Work>
void in_parallel(parallel p, std::uint64_t count, Work work) {
  in_parallel(
      p, count, [] { return 0; }, [&](int, std::uint64_t i) { work(i); });
}

}  // namespace detail

}  // namespace bloomery
