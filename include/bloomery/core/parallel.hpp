// Several threads for one call.
//
//     f.add_batch(keys, bloomery::parallel{});               one thread for each core
//     f.contains_bits(keys, bitmap, bloomery::parallel{4});
//
// The bits and the answers are those of one thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace bloomery {

struct parallel {
  unsigned threads = 0;  // 0: one for each core

  [[nodiscard]] unsigned count() const noexcept;
};

namespace detail {

// What one thread does: takes numbers from `next` until there are no more.
using thread_loop = void (*)(void* context, std::atomic<std::uint64_t>& next);

// Runs the loop in several threads, this one among them. The first exception ends all and is thrown
// again here.
void run_threads(parallel p, std::uint64_t count, thread_loop loop, void* context);

// Calls work(state, i) for every i below `count`, in any order, with a state for each thread.
template <class MakeState, class Work>
void in_parallel(parallel p, std::uint64_t count, MakeState make_state, Work work) {
  auto loop = [&](std::atomic<std::uint64_t>& next) {
    auto state = make_state();
    for (std::uint64_t i = next++; i < count; i = next++) work(state, i);
  };
  using context_type = decltype(loop);
  run_threads(
      p, count,
      [](void* context, std::atomic<std::uint64_t>& next) {
        (*static_cast<context_type*>(context))(next);
      },
      &loop);
}

template <class Work>
void in_parallel(parallel p, std::uint64_t count, Work work) {
  in_parallel(
      p, count, [] { return 0; }, [&](int, std::uint64_t i) { work(i); });
}

}  // namespace detail

}  // namespace bloomery
