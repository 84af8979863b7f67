// Several threads that really run at the same time.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace bloomery_test {

inline constexpr std::size_t thread_count = 4;

// Runs work(thread number) in every thread, once all of them are there: a short job would otherwise
// be done before the next thread is made.
template <class Work>
void in_threads(Work work) {
  std::atomic<std::size_t> ready{0};
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < thread_count; ++t) {
    threads.emplace_back([&ready, &work, t] {
      for (++ready; ready < thread_count;) std::this_thread::yield();
      work(t);
    });
  }
}

}  // namespace bloomery_test
