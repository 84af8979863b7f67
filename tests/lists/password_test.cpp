#include "bloomery/lists/password.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/utf8.hpp"
#include "format/files.hpp"

namespace bloomery {
namespace {

using bloomery_test::temporary_directory;
using bloomery_test::throws;

using text = std::vector<std::string>;  // of characters

std::string join(const text& characters) {
  std::string joined;
  for (const std::string& c : characters) joined += c;
  return joined;
}

// By the definition: the characters of the longer, with one left out or exchanged.
bool within_one_edit(const text& a, const text& b) {
  if (a.size() > b.size()) return within_one_edit(b, a);
  if (b.size() - a.size() > 1) return false;
  std::size_t same = 0;
  while (same < a.size() && a[same] == b[same]) ++same;
  const auto rest = static_cast<std::ptrdiff_t>(same + (a.size() == b.size() ? 1 : 0));
  if (same == a.size()) return true;
  return std::equal(a.begin() + rest, a.end(), b.begin() + static_cast<std::ptrdiff_t>(same) + 1,
                    b.end());
}

// All texts over an alphabet with characters of one, two and three bytes.
std::vector<text> all_texts(std::size_t longest) {
  const text alphabet = {"a", "b", "é", "€"};
  std::vector<text> all = {{}};
  for (std::size_t begin = 0, length = 1; length <= longest; ++length) {
    const std::size_t end = all.size();
    for (; begin < end; ++begin) {
      for (const std::string& c : alphabet) {
        all.push_back(all[begin]);
        all.back().push_back(c);
      }
    }
  }
  return all;
}

any_filter build(const std::vector<text>& words, const password_options& o) {
  password_builder b(o);
  for (const text& w : words) b.add(join(w));
  return b.build();
}

TEST(password, finds_everything_within_one_edit_and_hardly_anything_else) {
  const double fpr = 1e-3;
  const std::vector<text> all = all_texts(6);
  std::vector<text> words;
  for (std::size_t i = 0; i < all.size(); i += 397) words.push_back(all[i]);
  password_filter f(build(words, {.rule = key_rule::near_password, .fpr = fpr}));
  std::size_t far = 0;
  std::size_t false_alarms = 0;
  for (const text& candidate : all_texts(7)) {
    const bool near = std::any_of(words.begin(), words.end(),
                                  [&](const text& w) { return within_one_edit(candidate, w); });
    const bool found = f.contains(join(candidate));
    ASSERT_TRUE(found || !near) << join(candidate);
    far += near ? 0U : 1U;
    false_alarms += found && !near ? 1U : 0U;
  }
  // Four standard deviations of a binomial count above what was asked for.
  const double expected = fpr * static_cast<double>(far);
  EXPECT_GT(far, 10'000U);
  EXPECT_LT(static_cast<double>(false_alarms), expected + 4 * std::sqrt(expected));
}

TEST(password, takes_bytes_that_are_no_text_one_by_one) {
  password_builder b({.rule = key_rule::near_password, .fpr = 1e-6});
  b.add(
      "a\xff\xfe"
      "b");
  b.add("\xe2\x82");  // a euro sign, cut off
  password_filter f(b.build());
  EXPECT_TRUE(
      f.contains("a\xff"
                 "b"));
  EXPECT_TRUE(
      f.contains("a\xff\xfd"
                 "b"));
  EXPECT_TRUE(f.contains("\x82"));
  EXPECT_FALSE(f.contains("ab"));
}

TEST(password, empty_words_and_empty_lists_are_fine) {
  password_filter none(build({}, {.rule = key_rule::near_password}));
  EXPECT_FALSE(none.contains(""));
  EXPECT_FALSE(none.contains("a"));
  password_filter empty(build({{}}, {.rule = key_rule::near_password, .fpr = 1e-6}));
  EXPECT_TRUE(empty.contains(""));
  EXPECT_TRUE(empty.contains("a"));
  EXPECT_TRUE(empty.contains("€"));
  EXPECT_FALSE(empty.contains("ab"));
}

TEST(password, plain_lists_and_digests_are_exact_in_what_they_hold) {
  password_filter plain(build({{"a"}, {"b"}}, {.fpr = 1e-6}));
  EXPECT_TRUE(plain.contains("a"));
  EXPECT_FALSE(plain.contains("ab"));
  password_builder b({.rule = key_rule::password_digest, .fpr = 1e-6});
  b.add(std::string(20, 'x'));
  EXPECT_TRUE(throws(errc::bad_argument, "19 bytes", [&] { b.add(std::string(19, 'x')); }));
  password_filter digests(b.build());
  EXPECT_TRUE(digests.contains(std::string(20, 'x')));
  EXPECT_FALSE(digests.contains(std::string(20, 'y')));
}

TEST(password, a_file_keeps_its_rule) {
  const temporary_directory folder;
  build({{"a", "b", "é"}}, {.rule = key_rule::near_password, .fpr = 1e-6, .seed = 7})
      .save(folder / "near");
  password_filter f = password_filter::open(folder / "near");
  EXPECT_EQ(f.rule(), key_rule::near_password);
  EXPECT_TRUE(f.contains("ab"));
  EXPECT_TRUE(f.contains("a€é"));
  EXPECT_FALSE(f.contains("a"));
  any_filter(sizing::make_plan({.keys = 10, .fpr = 0.01}), erase(xxh3_hasher()))
      .save(folder / "other");
  EXPECT_TRUE(throws(errc::mismatch, "other: it is a filter of plain keys, not of passwords",
                     [&] { (void)password_filter::open(folder / "other"); }));
  EXPECT_TRUE(throws(errc::bad_argument, "none of passwords",
                     [] { password_builder({.rule = key_rule::word}); }));
  EXPECT_TRUE(throws(errc::bad_argument, "rate", [] { password_builder({.fpr = 0}); }));
}

TEST(code_points, are_those_of_rfc_3629_and_single_bytes_else) {
  const auto lengths = [](std::string_view s) {
    std::vector<std::size_t> starts = detail::code_point_starts(s);
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) starts[i] = starts[i + 1] - starts[i];
    starts.pop_back();
    return starts;
  };
  using list = std::vector<std::size_t>;
  EXPECT_EQ(lengths("aé€\xf0\x9f\x98\x80"), (list{1, 2, 3, 4}));
  EXPECT_EQ(lengths("\xc0\x80"), (list{1, 1}));         // overlong
  EXPECT_EQ(lengths("\xe0\x80\x80"), (list{1, 1, 1}));  // overlong
  EXPECT_EQ(lengths("\xed\xa0\x80"), (list{1, 1, 1}));  // a surrogate
  EXPECT_EQ(lengths("\xf4\x90\x80\x80"), (list{1, 1, 1, 1}));
  EXPECT_EQ(lengths("\xf0\x90"), (list{1, 1}));  // cut off
  EXPECT_EQ(lengths(""), list{});
}

}  // namespace
}  // namespace bloomery
