#include "bloomery/format/describe_plan.hpp"

#include <gtest/gtest.h>

#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/core/kinds.hpp"

namespace {

using namespace bloomery;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(describe_plan, a_row_for_every_kind_that_holds_a_set) {
  const std::string text = plan_as_json({.asked = {.keys = 1000, .fpr = 0.01}});
  for (const filter_kind kind : all_kinds()) {
    const std::string row = R"({"kind":")" + std::string(kind_name(kind)) + '"';
    EXPECT_EQ(has(text, row), kind != filter_kind::top_k) << row;
  }
  EXPECT_TRUE(has(text, R"("keys":1000,"fpr":0.01,"rows":[{"kind":"blocked",)")) << text;
  EXPECT_TRUE(has(text, R"("bits_per_key":11.264,"bytes":1408,"probes":7)")) << text;
  EXPECT_TRUE(has(text, R"("lower_bound":{"bits_per_key":6.643856189774724,"bytes":831})")) << text;
  EXPECT_FALSE(has(text, "packed") || has(text, "guarded_lookup") || has(text, "universe"));
}

TEST(describe_plan, what_cannot_be_has_no_row_and_nothing_at_all_is_an_error) {
  // Below the rate that 64-bit hashes allow in a line, a blocked filter is refused; classic is not.
  const std::string text = plan_as_json({.asked = {.keys = 1000, .fpr = 1e-12}});
  EXPECT_FALSE(has(text, R"({"kind":"blocked")"));
  EXPECT_TRUE(has(text, R"({"kind":"classic")"));
  EXPECT_THROW(static_cast<void>(plan_as_json({.asked = {.keys = 1000, .fpr = 2}})), error);
  EXPECT_THROW(static_cast<void>(plan_as_json({.asked = {.keys = 0, .fpr = 0.01}})), error);
}

TEST(describe_plan, answers_that_are_asked_for) {
  const std::string text =
      plan_as_json({.asked = {.keys = 1000, .bits_per_key = 8},
                    .universe = 1e6,
                    .packed = 16,
                    .lookup = sizing::guarded_lookup{
                        .present = 1, .absent = 9, .filter_time = 0, .lookup_time = 1}});
  EXPECT_TRUE(has(text, R"("universe":1e+06)")) << text;
  EXPECT_TRUE(has(text, R"("packed":{"bits_per_key":)")) << text;
  EXPECT_TRUE(has(text, R"("times_faster":)")) << text;
  EXPECT_TRUE(has(text, R"("concentration":{"bits":)")) << text;
}

}  // namespace
