#include "cli/serve/http.hpp"

#include <gtest/gtest.h>

namespace bloomery::cli {
namespace {

TEST(http_target, decoding_is_strict) {
  EXPECT_EQ(percent_decoded("a%20b%2Fc"), "a b/c");
  EXPECT_EQ(percent_decoded("a+b"), "a+b");
  EXPECT_EQ(percent_decoded("a+b%2B", true), "a b+");
  for (const char* bad : {"%", "%4", "%zz", "a%+1", "%-1"}) {
    EXPECT_THROW(percent_decoded(bad), http_error) << bad;
  }
  const std::string every = [] {
    std::string s;
    for (int c = 0; c < 256; ++c) s.push_back(static_cast<char>(c));
    return s;
  }();
  EXPECT_EQ(percent_decoded(percent_encoded(every)), every);
}

TEST(http_target, parameters) {
  EXPECT_EQ(query_value("key=a%26b&x=1", "key"), "a&b");
  EXPECT_EQ(query_value("a=1&key", "key"), "");
  EXPECT_EQ(query_value("akey=1", "key"), std::nullopt);
  EXPECT_THROW(static_cast<void>(query_value("key=1&key=2", "key")), http_error);
  EXPECT_EQ(split_target("/a?b?c#d").path, "/a");
  EXPECT_EQ(split_target("/a?b?c#d").query, "b?c");
}

TEST(http_accept, the_closest_range_decides) {
  const auto choose = [](std::string_view accept) {
    return preferred_type(accept, {"text/plain", "application/json"});
  };
  EXPECT_EQ(choose(""), 0U);
  EXPECT_EQ(choose("*/*"), 0U);
  EXPECT_EQ(choose("application/json"), 1U);
  EXPECT_EQ(choose("Application/*, text/*;q=0.5"), 1U);
  EXPECT_EQ(choose("text/plain;q=0, */*"), 1U);
  EXPECT_EQ(choose("text/plain; q=0.2, application/json; charset=x; q=0.3"), 1U);
  EXPECT_EQ(choose("image/png"), std::nullopt);
  EXPECT_EQ(choose("text/plain;q=2"), std::nullopt);
}

TEST(http_range, one_range_or_the_whole) {
  const auto part = [](std::string_view text) {
    const auto [kind, r] = parse_range(text, 100);
    return std::tuple(kind, r.from, r.bytes);
  };
  EXPECT_EQ(part("bytes=0-9"), std::tuple(range_kind::part, 0U, 10U));
  EXPECT_EQ(part("bytes=90-"), std::tuple(range_kind::part, 90U, 10U));
  EXPECT_EQ(part("bytes=-7"), std::tuple(range_kind::part, 93U, 7U));
  EXPECT_EQ(part("bytes=-700"), std::tuple(range_kind::part, 0U, 100U));
  EXPECT_EQ(part("bytes=50-99999999999999999999999"), std::tuple(range_kind::part, 50U, 50U));
  for (const char* all :
       {"bytes=0-1,5-6", "lines=1-2", "bytes=9-8", "bytes=x-", "bytes=", "bytes=-"}) {
    EXPECT_EQ(std::get<0>(part(all)), range_kind::whole) << all;
  }
  EXPECT_EQ(std::get<0>(part("bytes=100-")), range_kind::unsatisfiable);
  EXPECT_EQ(std::get<0>(part("bytes=-0")), range_kind::unsatisfiable);
  EXPECT_EQ(parse_range("bytes=-5", 0).first, range_kind::unsatisfiable);
}

TEST(http_tags, weak_and_lists) {
  EXPECT_TRUE(matches_etag("\"a\", W/\"b\"", "\"b\""));
  EXPECT_TRUE(matches_etag("*", "\"b\""));
  EXPECT_FALSE(matches_etag("\"b-packed\"", "\"b\""));
  EXPECT_FALSE(matches_etag("", "\"b\""));
}

TEST(http_secrets, all_of_it_counts) {
  EXPECT_TRUE(same_secret("token", "token"));
  EXPECT_FALSE(same_secret("tokem", "token"));
  EXPECT_FALSE(same_secret("token", "tokentoken"));
  EXPECT_FALSE(same_secret("tokentoken", "token"));
  EXPECT_FALSE(same_secret("", "token"));
  EXPECT_FALSE(same_secret("token", ""));
}

TEST(http_date_text, is_of_the_form_that_http_wants) {
  EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
}

}  // namespace
}  // namespace bloomery::cli
