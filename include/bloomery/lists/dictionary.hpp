// The words of a language in a filter: a spelling list for little memory (McIlroy 1982). A word not
// in the filter is surely not in the list; a wrong word passes at the rate that was asked for.
//
// What else must be known about the words is added as strings that begin with a control character:
//
//     word                a word
//     01 word             a word that must not get a capital
//     02 folded           small letters that are right only if all are capitals: "ipod", "strasse"
//     03 word             a right word that is not to be suggested
//     04 character        one that words are made of,
//     05 number / 256     and its page of Unicode, so that 4,352 lookups find all pages
//     06 01 or 06 02      whether there are strings of that sort
//
// Strings are compared as they are; text/speller.hpp splits texts, handles capitals and normalises.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/detail/lists/derived_keys.hpp"
#include "bloomery/format/any_filter.hpp"
#include "bloomery/lists/affix.hpp"

namespace bloomery {

struct dictionary_options {
  double fpr = 1e-4;  // for a word, whatever the number of strings in its lookup
  std::uint64_t seed = 0;
  std::filesystem::path directory = ".";  // where a long list may be spooled
};

class dictionary_builder {
 public:
  explicit dictionary_builder(const dictionary_options& o = {});

  void add(std::string_view word, const word_traits& traits = {});
  // The word is right in a text if it is written in capitals only.
  void add_capitals(std::string_view folded);
  // Characters to try in suggestions, besides those of the words.
  void add_letters(std::string_view letters);

  [[nodiscard]] std::uint64_t words() const noexcept { return words_; }
  [[nodiscard]] any_filter build();

 private:
  void add_marked(char mark, std::string_view text);

  dictionary_options options_;
  derived_keys keys_;
  std::set<char32_t> letters_;
  std::string marked_;
  std::uint64_t words_ = 0;
  bool keeps_case_ = false;
  bool has_capitals_ = false;
};

// A word that may have been meant, and its cost: a smaller one is likelier.
struct suggestion {
  std::string word;
  std::uint32_t distance = 0;
};

// Not safe to use from several threads at once; each should have its own.
class dictionary_filter {
 public:
  // A filter that dictionary_builder made. Throws errc::mismatch for any other.
  explicit dictionary_filter(any_filter f);
  [[nodiscard]] static dictionary_filter open(const std::filesystem::path& path,
                                              const opening& how = {});

  [[nodiscard]] const any_filter& filter() const noexcept { return filter_; }

  // Whether the word is right exactly as it is written.
  [[nodiscard]] bool contains(std::string_view word) const;
  // Whether the word is in the dictionary and may also be written with other capitals.
  [[nodiscard]] bool contains_free(std::string_view word) const { return filter_.contains(word); }
  [[nodiscard]] bool contains_capitals(std::string_view folded) const;

  // Words one edit away, best first: a character inserted, deleted or replaced, or two neighbours
  // exchanged (Damerau 1964). Each of the hundreds of strings tried may be a false positive.
  [[nodiscard]] std::vector<suggestion> near(std::string_view word);
  // The characters that occur in the words, in the order of Unicode.
  [[nodiscard]] const std::u32string& letters();

 private:
  [[nodiscard]] bool contains_marked(char mark, std::string_view text) const;

  any_filter filter_;
  bool keeps_case_ = false;
  bool has_capitals_ = false;
  bool letters_known_ = false;
  std::u32string letters_;
};

}  // namespace bloomery
