#include "bloomery/lists/dictionary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "format/files.hpp"

namespace bloomery {
namespace {

using bloomery_test::temporary_directory;
using bloomery_test::throws;

std::vector<std::string> near(dictionary_filter& f, std::string_view word) {
  std::vector<std::string> found;
  for (const suggestion& s : f.near(word)) found.push_back(s.word);
  return found;
}

TEST(dictionary, knows_its_words_and_their_traits) {
  dictionary_builder b({.fpr = 1e-6});
  b.add("the");
  b.add("km", {.keep_case = true});
  b.add_capitals("ipod");
  dictionary_filter f(b.build());
  EXPECT_EQ(b.words(), 2U);
  EXPECT_TRUE(f.contains("the"));
  EXPECT_TRUE(f.contains_free("the"));
  EXPECT_TRUE(f.contains("km"));
  EXPECT_FALSE(f.contains_free("km"));
  EXPECT_TRUE(f.contains_capitals("ipod"));
  EXPECT_FALSE(f.contains("ipod"));
  EXPECT_FALSE(f.contains_capitals("the"));
}

TEST(dictionary, finds_words_one_edit_away_best_first) {
  dictionary_builder b({.fpr = 1e-7});
  for (const char* word : {"brown", "crown", "brow", "browns", "brawn", "déjà", "ab"}) b.add(word);
  b.add("bron", {.keep_case = false, .no_suggestion = true});
  b.add("browN", {.keep_case = true});
  dictionary_filter f(b.build());
  using list = std::vector<std::string>;
  EXPECT_EQ(near(f, "brwon"), list{"brown"});
  EXPECT_EQ(near(f, "brown"), (list{"brow", "browns", "brawn", "browN", "crown"}));
  EXPECT_EQ(near(f, "deja"), list{});  // two edits
  EXPECT_EQ(near(f, "déja"), list{"déjà"});
  EXPECT_EQ(near(f, "abb"), list{"ab"});
  EXPECT_EQ(near(f, ""), list{});
  EXPECT_EQ(near(f, std::string(65, 'a')), list{});
}

TEST(dictionary, remembers_its_letters_and_those_to_try) {
  dictionary_builder b({.fpr = 1e-7});
  b.add("añb1");
  b.add_letters("z€\xff");
  b.add("hidden", {.keep_case = false, .no_suggestion = true});
  dictionary_filter f(b.build());
  EXPECT_EQ(f.letters(), U"abzñ€");
}

TEST(dictionary, wrong_words_slip_through_at_the_rate) {
  const double fpr = 1e-2;
  dictionary_builder b({.fpr = fpr});
  for (int i = 0; i < 20'000; ++i) b.add("w" + std::to_string(i));
  b.add("km", {.keep_case = true});
  b.add_capitals("x");
  const dictionary_filter f(b.build());
  const int trials = 100'000;
  int slipped = 0;
  for (int i = 0; i < trials; ++i) {
    const std::string x = "x" + std::to_string(i);
    // All that a word in capitals is asked for as.
    slipped += f.contains(x) || f.contains_free("y" + x) || f.contains_free("z" + x) ||
                       f.contains_capitals("y" + x)
                   ? 1
                   : 0;
  }
  // Four standard deviations of a binomial count.
  EXPECT_LT(slipped, trials * fpr + 4 * std::sqrt(trials * fpr));
  EXPECT_GT(slipped, trials * fpr / 3);
}

TEST(dictionary, a_file_keeps_its_rule) {
  const temporary_directory folder;
  dictionary_builder b({.fpr = 1e-6, .seed = 7});
  b.add("word");
  b.build().save(folder / "words");
  EXPECT_TRUE(dictionary_filter::open(folder / "words").contains("word"));
  any_filter(sizing::make_plan({.keys = 10, .fpr = 0.01}), erase(xxh3_hasher()))
      .save(folder / "other");
  EXPECT_TRUE(throws(errc::mismatch, "other: it is a filter of plain keys, not of words",
                     [&] { (void)dictionary_filter::open(folder / "other"); }));
  EXPECT_TRUE(throws(errc::bad_argument, "control character", [&] { b.add("\1x"); }));
  EXPECT_TRUE(throws(errc::bad_argument, "empty", [&] { b.add(""); }));
  EXPECT_TRUE(throws(errc::bad_argument, "fpr", [] { dictionary_builder({.fpr = 1}); }));
}

}  // namespace
}  // namespace bloomery
