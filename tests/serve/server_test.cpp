#include "cli/serve/server.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace bloomery::cli {
namespace {

using std::chrono::seconds;

constexpr std::chrono::steady_clock::time_point begin{seconds{1'000'000}};

seconds left(const server_options& o, seconds after, std::uint64_t moved) {
  return std::chrono::duration_cast<seconds>(request_deadline(o, begin, begin + after, moved) -
                                             (begin + after));
}

TEST(request_deadline, bytes_earn_time) {
  const server_options o;
  EXPECT_EQ(left(o, seconds{0}, 0), seconds{30});
  EXPECT_EQ(left(o, seconds{20}, 0), seconds{10});
  EXPECT_EQ(left(o, seconds{20}, 100 * 4096), seconds{110});
  EXPECT_LT(left(o, seconds{131}, 100 * 4096), seconds{0});
}

// A gigabyte earns three days, in which nothing need move any more.
TEST(request_deadline, what_is_earned_is_not_for_silence) {
  server_options o;
  EXPECT_EQ(left(o, seconds{1}, std::uint64_t{1} << 30U), seconds{600});
  o.slack = seconds{3600};
  EXPECT_EQ(left(o, seconds{0}, std::uint64_t{1} << 30U), seconds{3600});
}

}  // namespace
}  // namespace bloomery::cli
