#include "bloomery/text/speller.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "format/files.hpp"

namespace bloomery {
namespace {

using bloomery_test::throws;
using words = std::vector<std::string>;

speller make(const words& list, const words& kept = {}) {
  dictionary_builder b({.fpr = 1e-7});
  for (const std::string& word : list) add_word(b, word);
  for (const std::string& word : kept) add_word(b, word, {.keep_case = true});
  return speller(dictionary_filter(b.build()));
}

words unknown(speller& s, std::string_view text) {
  words found;
  s.check(text, [&](std::string_view word) {
    EXPECT_TRUE(word.data() >= text.data() &&
                word.data() + word.size() <= text.data() + text.size());
    found.emplace_back(word);
  });
  return found;
}

TEST(speller, capitals_are_those_of_hunspell) {
  speller s = make({"the", "Paris", "iPod", "Straße", "NATO", "McDonald", "élan"}, {"km", "Hz"});
  for (const char* right :
       {"the", "The", "THE", "Paris", "PARIS", "iPod", "IPOD", "IPod", "STRASSE", "Straße", "NATO",
        "McDonald", "MCDONALD", "élan", "Élan", "ÉLAN", "km", "Hz"}) {
    EXPECT_TRUE(s.knows(right)) << right;
  }
  for (const char* wrong : {"tHe", "tHE", "paris", "PAris", "ipod", "Ipod", "strasse", "Strasse",
                            "nato", "Nato", "mcdonald", "Km", "KM", "HZ", ""}) {
    EXPECT_FALSE(s.knows(wrong)) << wrong;
  }
}

TEST(speller, words_are_those_of_unicode) {
  speller s = make({"don't", "l'eau", "well", "known", "vis-à-vis", "café", "e.g.", "a"});
  EXPECT_EQ(unknown(s, "don't don’t l’eau, L’EAU: 'don't' well-known (Well\xe2\x80\x91Known)"),
            words{});
  EXPECT_EQ(unknown(s, "vis-à-vis well-vis cafe\u0301 ca\u00adfé. e.g. a well_known--a"),
            words{"vis"});
  EXPECT_EQ(unknown(s, "12 1st x86 3.14 foo_12_a \u0663\u0664"), words{"foo"});
  EXPECT_EQ(
      unknown(
          s,
          "http://no.such/pqge me@no.where www.no.such (/no/such/path) a/b no@ @no (\"no\"/\"a\")"),
      (words{"b", "no", "no", "no"}));
}

TEST(speller, any_bytes_are_a_text) {
  speller s = make({"a", "good"});
  const std::string zero(3, '\0');
  EXPECT_EQ(unknown(s,
                    "good\xff"
                    "bad\xc3 " +
                        zero +
                        "good\xed\xa0\x80"
                        "a"),
            words{"bad"});
  EXPECT_EQ(unknown(s, ""), words{});
  EXPECT_EQ(s.check(std::string(3'000'000, 'x'), [](std::string_view) {}), 3U);
  EXPECT_EQ(s.check(std::string(3'000'000, '@'), [](std::string_view) {}), 0U);
}

TEST(speller, suggestions_have_the_capitals_of_the_word) {
  speller s = make({"the", "Paris", "brown"});
  EXPECT_EQ(s.suggest("teh"), words{"the"});
  EXPECT_EQ(s.suggest("Teh"), words{"The"});
  EXPECT_EQ(s.suggest("TEH"), words{"THE"});
  EXPECT_EQ(s.suggest("paris"), words{"Paris"});
  EXPECT_EQ(s.suggest("PARISS"), words{"PARIS"});
  EXPECT_EQ(s.suggest("xyz"), words{});
  EXPECT_EQ(s.suggest(std::string(2000, 'x')), words{});
}

TEST(speller, dictionaries_have_encodings) {
  dictionary_builder b({.fpr = 1e-7});
  add_hunspell(b, {"SET ISO8859-2\nTRY \xb3\nSFX \xb1 Y 1\nSFX \xb1 0 \xf3w .\n", "x.aff"},
               {"1\n\xb3uk/\xb1\n", "x.dic"});
  speller s(dictionary_filter(b.build()));
  EXPECT_TRUE(s.knows("łuk"));
  EXPECT_TRUE(s.knows("ŁukóW") || s.knows("Łuków"));
  EXPECT_EQ(s.suggest("luk"), words{"łuk"});
  EXPECT_EQ(to_utf8("\xc0", "microsoft-cp1251"), "А");
  EXPECT_TRUE(throws(errc::unsupported, "x.aff: the encoding 'KLINGON' is not known", [&] {
    add_hunspell(b, {"SET KLINGON\n", "x.aff"}, {"0\n", "x.dic"});
  }));
}

}  // namespace
}  // namespace bloomery
