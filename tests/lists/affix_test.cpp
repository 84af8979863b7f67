#include "bloomery/lists/affix.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "format/files.hpp"

namespace bloomery {
namespace {

using bloomery_test::throws;
using words = std::vector<std::string>;

words expand(const std::string& aff, const std::string& dic, const affix_limits& limits = {}) {
  words forms;
  affix_rules(aff, "x.aff")
      .expand(
          dic, "x.dic",
          [&](std::string_view form, const word_traits&) { forms.emplace_back(form); }, limits);
  return forms;
}

const std::string english =
    "PFX U Y 1\nPFX U 0 un .\n"
    "SFX D Y 3\nSFX D 0 d e\nSFX D y ied [^aeiou]y\nSFX D 0 ed [^ey]\n"
    "SFX V N 1\nSFX V e ive e\n";

TEST(affix, strips_appends_and_crosses) {
  EXPECT_EQ(expand(english, "1\ntry/D\n"), (words{"tried", "try"}));
  EXPECT_EQ(expand(english, "1\nplay/D\n"), words{"play"});
  EXPECT_EQ(expand(english, "1\nlock/UD\n"), (words{"lock", "locked", "unlock", "unlocked"}));
  // V does not cross with prefixes.
  EXPECT_EQ(expand(english, "1\nabuse/UV\n"), (words{"abuse", "abusive", "unabuse"}));
  EXPECT_EQ(expand(english, "2\n\nand\\/or po:x\na b\tD\n"), (words{"and/or", "a b"}));
}

TEST(affix, a_condition_may_be_letters_of_any_alphabet) {
  const std::string aff = "SET UTF-8\nFLAG UTF-8\nSFX ö Y 2\nSFX ö é è é\nSFX ö 0 s [^éx].\n";
  EXPECT_EQ(expand(aff, "1\ncafé/ö\n"), (words{"cafè", "café", "cafés"}));
  EXPECT_EQ(expand(aff, "1\nlé/ö\n"), (words{"lè", "lé", "lés"}));
  EXPECT_EQ(expand(aff, "1\nxé/ö\n"), (words{"xè", "xé"}));
}

TEST(affix, an_affix_may_permit_another) {
  // Suffix after suffix, once; a prefix by leave of a suffix; a suffix by leave of a prefix.
  const std::string aff =
      "SFX A Y 1\nSFX A 0 a/BP .\nSFX B Y 1\nSFX B 0 b/B .\nPFX P Y 1\nPFX P 0 p .\n"
      "PFX Q Y 1\nPFX Q 0 q/B .\n";
  EXPECT_EQ(expand(aff, "1\nx/A\n"), (words{"pxa", "pxab", "x", "xa", "xab"}));
  EXPECT_EQ(expand(aff, "1\nx/Q\n"), (words{"qx", "qxb", "x"}));
}

TEST(affix, flags_have_four_forms_and_aliases) {
  EXPECT_EQ(expand("FLAG long\nSFX aa Y 1\nSFX aa 0 s .\n", "1\nx/bbaa\n"), (words{"x", "xs"}));
  EXPECT_EQ(expand("FLAG num\nSFX 12 Y 1\nSFX 12 0 s .\n", "1\nx/7,12\n"), (words{"x", "xs"}));
  EXPECT_EQ(expand("AF 2\nAF BC\nAF A\nSFX A Y 1\nSFX A 0 s .\n", "2\nx/1\ny/2\n"),
            (words{"x", "y", "ys"}));
}

TEST(affix, special_flags_make_no_words_of_what_is_none) {
  const std::string aff =
      "NEEDAFFIX n\nFORBIDDENWORD f\nONLYINCOMPOUND c\nCIRCUMFIX z\nKEEPCASE k\nNOSUGGEST !\n"
      "SFX S Y 1\nSFX S 0 s .\nPFX G Y 1\nPFX G 0 ge/z .\nSFX T Y 1\nSFX T 0 t/z .\n"
      "SFX N Y 1\nSFX N 0 n/nS .\n";
  EXPECT_EQ(expand(aff, "3\nx/nS\nys/f\ny/S\n"), (words{"xs", "y"}));
  EXPECT_EQ(expand(aff, "1\nx/cS\n"), words{});
  EXPECT_EQ(expand(aff, "1\nmach/GT\n"), (words{"gemacht", "mach"}));
  EXPECT_EQ(expand(aff, "1\nx/N\n"), (words{"x", "xns"}));
  affix_rules(aff, "x.aff").expand("1\nx/k!\n", "x.dic", [](std::string_view, word_traits t) {
    EXPECT_TRUE(t.keep_case && t.no_suggestion);
  });
}

TEST(affix, what_is_wrong_is_named_with_its_line) {
  const auto refuses = [](errc code, const std::string& text, const std::string& aff,
                          const std::string& dic) {
    return throws(code, text, [&] { (void)expand(aff, dic); });
  };
  EXPECT_TRUE(refuses(errc::corrupt, "x.aff:2: 'Z' is no number", "#\nSFX A Y Z\n", "0\n"));
  EXPECT_TRUE(refuses(errc::corrupt, "x.aff:1: SFX lacks a field", "SFX A Y", "0\n"));
  EXPECT_TRUE(refuses(errc::corrupt, "lacks a ]", "SFX A Y 1\nSFX A 0 x [ab\n", "0\n"));
  EXPECT_TRUE(refuses(errc::corrupt, "x.aff:2: 1 lines of another flag", "SFX A Y 1\nSFX B 0 x .\n",
                      "0\n"));
  EXPECT_TRUE(refuses(errc::corrupt, "2 lines of the last affix", "SFX A Y 2\n", "0\n"));
  EXPECT_TRUE(refuses(errc::unsupported, "x.aff:1: COMPLEXPREFIXES", "COMPLEXPREFIXES\n", "0\n"));
  EXPECT_TRUE(refuses(errc::corrupt, "x.dic:1: the first line", "", "word\n"));
  EXPECT_TRUE(refuses(errc::corrupt, "x.dic: it is empty", "", ""));
  EXPECT_TRUE(refuses(errc::corrupt, "x.dic:2: 'a' is no list of numbers", "FLAG num\n", "1\nx/a"));
  EXPECT_TRUE(refuses(errc::corrupt, "x.dic:2: the word begins with a control", "", "1\n\1x\n"));
  EXPECT_TRUE(refuses(errc::corrupt, "65537 bytes", "", "1\n" + std::string(65'537, 'x')));
}

TEST(affix, a_hostile_pair_has_an_end) {
  std::string aff = "SFX A Y 1000\n";
  for (int i = 0; i < 1000; ++i) aff += "SFX A 0 " + std::to_string(i) + "x/A .\n";
  EXPECT_TRUE(throws(errc::corrupt, "x.dic:2: the word has more than 100000 forms",
                     [&] { (void)expand(aff, "1\nx/A\n"); }));
  EXPECT_TRUE(throws(errc::corrupt, "x.dic:3: the words up to here have more than 3 forms",
                     [&] { (void)expand(english, "2\nlock/D\nlock/D\n", {.forms = 3}); }));
  EXPECT_TRUE(throws(errc::corrupt, "x.dic:2: more than 5 affixes were tried",
                     [&] { (void)expand(english, "1\nlock/UDV\n", {.tries = 5}); }));
}

}  // namespace
}  // namespace bloomery
