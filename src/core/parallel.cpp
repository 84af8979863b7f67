#include "bloomery/core/parallel.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace bloomery {

#if defined(__wasm__)  // one thread, whatever is asked for, and errors leave as they come

unsigned parallel::count() const noexcept { return 1; }

void detail::run_threads(parallel /*p*/, std::uint64_t /*count*/, thread_loop loop, void* context) {
  std::atomic<std::uint64_t> next{0};
  loop(context, next);
}

#else

unsigned parallel::count() const noexcept {
  return threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

namespace detail {

void run_threads(parallel p, std::uint64_t count, thread_loop loop, void* context) {
  std::atomic<std::uint64_t> next{0};
#if defined(__cpp_exceptions)
  std::mutex mutex;
  std::exception_ptr failure;
  const auto guarded = [&] {
    try {
      loop(context, next);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
#else
  const auto guarded = [&] { loop(context, next); };
#endif
  {
    std::vector<std::jthread> helpers;
    const std::uint64_t wanted = std::min<std::uint64_t>(p.count(), count);
    for (std::uint64_t t = 1; t < wanted; ++t) {
#if defined(__cpp_exceptions)
      // Where no more can start, those that are there do the work.
      try {
        helpers.emplace_back(guarded);
      } catch (const std::system_error&) {
        break;
      }
#else
      helpers.emplace_back(guarded);
#endif
    }
    guarded();
  }
#if defined(__cpp_exceptions)
  if (failure) std::rethrow_exception(failure);
#endif
}

}  // namespace detail

#endif

}  // namespace bloomery
