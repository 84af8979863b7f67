// The words of an index: what separates them, what makes them the same, and texts in pieces.
#include "bloomery/text/word_scanner.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bloomery {
namespace {

using strings = std::vector<std::string>;

strings words_of(std::string_view text, std::size_t piece = SIZE_MAX) {
  strings all;
  const word_scanner::receiver each = [&](std::string_view word) { all.emplace_back(word); };
  word_scanner scanner;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    scanner.feed(text.substr(0, piece), each);
  }
  scanner.finish(each);
  return all;
}

TEST(WordScanner, letters_and_digits) {
  EXPECT_EQ(words_of("Don't re-use x_Y 3.14"),
            (strings{"don", "t", "re", "use", "x", "y", "3", "14"}));
  EXPECT_EQ(words_of(""), strings{});
  EXPECT_EQ(words_of(" .,-_ \n"), strings{});
  EXPECT_EQ(words_of("a"), strings{"a"});
}

TEST(WordScanner, one_form_for_each_word) {
  EXPECT_EQ(words_of("STRASSE Straße"), (strings{"strasse", "strasse"}));
  EXPECT_EQ(words_of("É e\u0301 é"), (strings{"é", "é", "é"}));
  EXPECT_EQ(words_of("Ελλάδα ПРИВЕТ 日本語"), (strings{"ελλάδα", "привет", "日本語"}));
  EXPECT_EQ(words_of("\u0301x"), strings{"x"});  // a mark on nothing
}

TEST(WordScanner, what_is_no_utf8_separates) {
  EXPECT_EQ(words_of("a\xff"
                     "b\xc3"
                     "c\xc3\xa9\xe2\x82"),
            (strings{"a", "b", "cé"}));
  EXPECT_EQ(words_of(std::string_view("a\0b", 3)), (strings{"a", "b"}));
}

TEST(WordScanner, pieces_make_no_difference) {
  const std::string text = "Naïve café, ÜBER\xff\xe2\x82 𝒳𝒴 日本語 x\xf0\x9f";
  const strings whole = words_of(text);
  for (std::size_t piece = 1; piece < 9; ++piece) EXPECT_EQ(words_of(text, piece), whole) << piece;
}

TEST(WordScanner, endless_words_are_cut) {
  const std::string endless(10'000, 'A');
  const strings words = words_of(endless, 777);
  ASSERT_EQ(words.size(), 10U);
  EXPECT_EQ(words[0], std::string(word_scanner::longest_word, 'a'));
  EXPECT_EQ(words[9].size(), 10'000 - 9 * word_scanner::longest_word);
}

}  // namespace
}  // namespace bloomery
