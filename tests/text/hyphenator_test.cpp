#include "bloomery/text/hyphenator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "format/files.hpp"

namespace bloomery {
namespace {

using bloomery_test::throws;

std::string contents(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Every eighth word of small letters: all would take a second.
std::vector<std::string> some_words() {
  std::ifstream file("/usr/share/dict/words");
  std::vector<std::string> words;
  int number = 0;
  for (std::string word; std::getline(file, word);) {
    const bool small =
        std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if (small && ++number % 8 == 0) words.push_back(word);
  }
  return words;
}

TEST(hyphenator, patterns_break_words_as_liang_has_it) {
  const std::string text =
      "UTF-8\nLEFTHYPHENMIN 2\nRIGHTHYPHENMIN 3\n% a remark\nNEXTLEVEL\n"
      "hy3ph\nhe2n\nhena4\nhen5at\n1na\nn2at\n1tio\n2io\no2n\n";
  EXPECT_EQ(hyphen_patterns(text, "x").hyphenate("hyphenation"), "hy-phen-ation");
  EXPECT_EQ(hyphen_patterns(text, "x").hyphenate(""), "");
  EXPECT_EQ(hyphen_patterns("UTF-8\né1à\n", "x").hyphenate("déàn"), "dé-àn");
  EXPECT_TRUE(throws(errc::unsupported, "x:1:", [] { hyphen_patterns("ISO8859-1\n", "x"); }));
  EXPECT_TRUE(throws(errc::corrupt, "x:2: a pattern of 65 letters",
                     [] { hyphen_patterns("UTF-8\n" + std::string(65, 'a'), "x"); }));
  EXPECT_TRUE(throws(errc::corrupt, "x:2: a number",
                     [] { hyphen_patterns("UTF-8\nLEFTHYPHENMIN\n", "x"); }));
}

// Bloom's example: simple rules for most words, and a list for the tenth or so that they get wrong.
TEST(hyphenator, reads_the_list_for_exceptions_and_hardly_for_other_words) {
  const std::string text = contents("/usr/share/hyphen/hyph_en_US.dic");
  const hyphen_patterns all(text, "hyph_en_US.dic");
  const hyphen_patterns simple(text, "hyph_en_US.dic", 4);
  const std::vector<std::string> words = some_words();
  std::map<std::string, std::string, std::less<>> exceptions;
  for (const std::string& word : words) {
    std::string right = all.hyphenate(word);
    if (simple.hyphenate(word) != right) exceptions[word] = std::move(right);
  }
  const double share = static_cast<double>(exceptions.size()) / static_cast<double>(words.size());
  EXPECT_GT(share, 0.05);
  EXPECT_LT(share, 0.2);

  const double fpr = 0.02;
  std::uint64_t reads = 0;
  hyphenator h(
      exceptions.size(), fpr, [&](std::string_view word) { return simple.hyphenate(word); },
      [&](std::string_view word) -> std::optional<std::string> {
        ++reads;
        const auto entry = exceptions.find(word);
        if (entry == exceptions.end()) return std::nullopt;
        return entry->second;
      });
  for (const auto& [word, right] : exceptions) h.add_exception(word);
  for (const std::string& word : words) ASSERT_EQ(h.hyphenate(word), all.hyphenate(word));
  EXPECT_EQ(h.counts().words, words.size());
  EXPECT_EQ(h.counts().lookups, reads);
  EXPECT_EQ(h.counts().exceptions, exceptions.size());
  const double expected = fpr * static_cast<double>(words.size() - exceptions.size());
  EXPECT_LT(static_cast<double>(reads - exceptions.size()), expected + 4 * std::sqrt(expected));
}

TEST(hyphenator, takes_its_list_where_it_is_and_keeps_all_of_a_text_but_the_hyphens) {
  const std::string entries =
      "\xef\xbb\xbf"
      "a-bcb\r\n\n  Éd-BC \nnever";
  const hyphen_list list(entries, "x");
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(list.find("abcb"), "a-bcb");
  EXPECT_EQ(list.find("édbc"), "éd-bc");
  EXPECT_EQ(list.find("a-bcb"), std::nullopt);
  for (const char* bad : {"-ab", "ab-", "two words", "x1", "\xff"}) {
    EXPECT_TRUE(throws(errc::corrupt, "y:2:", [&] { hyphen_list("ab\n" + std::string(bad), "y"); }))
        << bad;
  }
  const hyphen_patterns patterns("UTF-8\nLEFTHYPHENMIN 1\nRIGHTHYPHENMIN 1\nb1c\né1d\nne1v\n", "x");
  hyphenator words(
      list.size(), 0.01, [&](std::string_view word) { return patterns.hyphenate(word); },
      [&](std::string_view word) { return list.find(word); });
  list.for_each([&](std::string_view word) { words.add_exception(word); });
  EXPECT_EQ(hyphenate_text("Abcb ABC'bc; ÉDBC, é\xff! \xc3 never\r\n", words, "="),
            "A=bcb AB=C'b=c; ÉD=BC, é\xff! \xc3 never\r\n");
  EXPECT_EQ(hyphenate_text("", words), "");
  EXPECT_EQ(words.counts().words, 6U);
  EXPECT_EQ(words.counts().exceptions, 3U);
}

}  // namespace
}  // namespace bloomery
