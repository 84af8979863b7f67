// Errors name the value and the limit, in text that a person can read.
#include "bloomery/core/error.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

namespace bloomery {
namespace {

TEST(Error, CarriesItsCodeAndItsText) {
  const error e(errc::io, "disk on fire");
  EXPECT_EQ(e.code(), errc::io);
  EXPECT_STREQ(e.what(), "disk on fire");
}

TEST(Error, IsCaughtAsAStandardException) {
  EXPECT_THROW(throw error(errc::corrupt, "x"), std::runtime_error);
}

// The C API and the tool will hand these numbers out.
TEST(Error, CodesKeepTheirNumbers) {
  EXPECT_EQ(static_cast<int>(errc::bad_argument), 1);
  EXPECT_EQ(static_cast<int>(errc::unreachable), 2);
  EXPECT_EQ(static_cast<int>(errc::no_memory), 3);
  EXPECT_EQ(static_cast<int>(errc::io), 4);
  EXPECT_EQ(static_cast<int>(errc::not_bloomery), 5);
  EXPECT_EQ(static_cast<int>(errc::unsupported), 6);
  EXPECT_EQ(static_cast<int>(errc::corrupt), 7);
  EXPECT_EQ(static_cast<int>(errc::mismatch), 8);
}

TEST(Error, NumbersReadBackAsTheyWere) {
  EXPECT_EQ(detail::to_text(0.01), "0.01");
  EXPECT_EQ(detail::to_text(1e-7), "1e-07");
  EXPECT_EQ(detail::to_text(0.0), "0");
  for (const double value : {1.0 / 3.0, 0.1 + 0.2, 5e-324, 1.7976931348623157e308}) {
    EXPECT_EQ(std::strtod(detail::to_text(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(detail::to_text(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(Error, ABadArgumentIsASentence) {
  try {
    detail::throw_bad_argument("fpr", 1.5, "above 0 and below 1");
    FAIL() << "no error was thrown";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_argument);
    EXPECT_STREQ(e.what(), "fpr is 1.5, but it must be above 0 and below 1");
  }
}

}  // namespace
}  // namespace bloomery
