// The word forms of a hunspell dictionary: NAME.dic has stems with flags, NAME.aff says what each
// flag does to a stem. The two are expanded into plain words, which a filter can hold.
//
//     SFX D y ied [^aeiou]y      flag D: strip y, append ied, after a consonant and y
//     try/D                  ->  try, tried
//
// Supported are suffixes and prefixes with strip, condition and cross product; flags on affixes,
// one level deep (a suffix after a suffix, a prefix that a suffix permits and the other way round);
// the four forms of flags, and their aliases (AF); NEEDAFFIX, CIRCUMFIX, FORBIDDENWORD, KEEPCASE,
// NOSUGGEST, ONLYINCOMPOUND, FULLSTRIP. Not supported are compounds, of which there are infinitely
// many (their flags are ignored, so German compounds are unknown words), COMPLEXPREFIXES (refused),
// and everything that only serves suggestions or the conversion of text.
//
// Both texts are UTF-8 here; `encoding_of` tells that of the files, bloomery::text converts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomery {

struct word_traits {
  bool keep_case = false;      // right only as it is written, not with a capital
  bool no_suggestion = false;  // a right word that must not be suggested
};

// A hostile pair of files of 100 bytes could stand for more words than fit into memory.
struct affix_limits {
  std::uint64_t forms_of_word = 100'000;
  std::uint64_t forms = 200'000'000;
  std::uint64_t tries = 4'000'000'000;  // affixes looked at, whether they fit or not
};

class affix_rules {
 public:
  // The SET line, or ISO8859-1, which is what hunspell takes without one.
  [[nodiscard]] static std::string encoding_of(std::string_view aff);

  affix_rules() = default;  // no flags mean anything
  // `name` is for messages. Throws errc::corrupt and errc::unsupported with name and line.
  affix_rules(std::string_view aff, const std::string& name);

  using receiver = std::function<void(std::string_view form, const word_traits&)>;
  // Calls `each` with every form of every stem; the forms of one stem do not repeat.
  void expand(std::string_view dic, const std::string& name, const receiver& each,
              const affix_limits& limits = {}) const;

  // The letters to try in suggestions (TRY).
  [[nodiscard]] const std::string& letters() const noexcept { return letters_; }

 private:
  friend class affix_reader;
  friend class affix_expansion;

  using flag = std::uint64_t;  // a character, two, or a number
  using flag_set = std::vector<flag>;
  enum class flag_form : std::uint8_t { character, pair, number };
  // One character of a condition: any, one of these, or none of these.
  struct place {
    std::u32string characters;
    bool negated = false;
  };
  struct affix {
    flag name = 0;
    bool crosses = false;
    std::u32string strip;
    std::u32string append;
    flag_set flags;  // flags of the form that it makes
    std::vector<place> condition;
  };
  using affix_list = std::vector<affix>;

  [[nodiscard]] flag_set parse_flags(std::string_view text) const;

  std::map<flag, affix_list> suffixes_;
  std::map<flag, affix_list> prefixes_;
  std::vector<flag_set> aliases_;
  flag_form form_ = flag_form::character;
  bool full_strip_ = false;
  bool sharps_ = false;
  flag need_affix_ = 0;
  flag circumfix_ = 0;
  flag forbidden_ = 0;
  flag keep_case_ = 0;
  flag no_suggestion_ = 0;
  flag only_in_compound_ = 0;
  std::string letters_;
};

}  // namespace bloomery
