// Work that is spread over threads, however many of them the system gives.
#include "bloomery/core/parallel.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace bloomery {
namespace {

TEST(Parallel, WorksOnEveryNumberOnce) {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    std::atomic<std::uint64_t> sum{0};
    detail::in_parallel({threads}, 1000, [&](std::uint64_t i) { sum += i; });
    EXPECT_EQ(sum, 999U * 1000 / 2) << threads;
  }
}

TEST(Parallel, PassesAnExceptionOn) {
  EXPECT_THROW(detail::in_parallel({4}, 100,
                                   [](std::uint64_t i) {
                                     if (i == 50) throw std::runtime_error("50");
                                   }),
               std::runtime_error);
}

#if defined(__GLIBC__)
// Every thread wants a stack that no process has room for.
class huge_stacks {
 public:
  huge_stacks() {
    pthread_attr_t huge;
    pthread_getattr_default_np(&before_);
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 60);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  huge_stacks(const huge_stacks&) = delete;
  huge_stacks& operator=(const huge_stacks&) = delete;
  ~huge_stacks() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_{};
};

TEST(Parallel, NeedsNoThreadThatCannotStart) {
  const huge_stacks none;
  std::uint64_t sum = 0;  // of this thread alone
  detail::in_parallel({8}, 1000, [&](std::uint64_t i) { sum += i; });
  EXPECT_EQ(sum, 999U * 1000 / 2);
}
#endif

}  // namespace
}  // namespace bloomery
