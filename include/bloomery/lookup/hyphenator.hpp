// Hyphens by a simple rule, with a list of exceptions that is slow to read: what Bloom's filter was made for (Bloom
// 1970; Broder and Mitzenmacher 2004, section 3.1). The rule is right for most words. The filter holds those for which
// it is wrong, and only words that the filter finds are looked up in the list.
//
//     word -> filter -> surely no exception: the rule
//                    -> perhaps one: the list -> its entry, or the rule after all
//
// So the list is read for each exception and for a share `fpr` of all other words.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "bloomery/filter/keyed.hpp"

namespace bloomery {

// Words of ASCII letters, with hyphens where they may be broken: before a consonant that a vowel follows, so that no
// part lacks a vowel; two letters at least before a hyphen and three after it. English consonants that are one sound
// (ch, gh, ph, sh, th) stay together.
[[nodiscard]] std::string simple_hyphens(std::string_view word);

struct hyphenator_counts {
  std::uint64_t words = 0;
  std::uint64_t lookups = 0;     // in the list
  std::uint64_t exceptions = 0;  // that were there
};

class hyphenator {
 public:
  using rule = std::function<std::string(std::string_view word)>;
  // The entry of a word, or nothing. May be as slow as a disk.
  using list = std::function<std::optional<std::string>(std::string_view word)>;

  // For so many exceptions, to be added before the first question.
  hyphenator(std::uint64_t exceptions, double fpr, list exact, rule simple = simple_hyphens);

  void add_exception(std::string_view word) { exceptions_.add(word); }
  [[nodiscard]] std::string hyphenate(std::string_view word);
  [[nodiscard]] const hyphenator_counts& counts() const noexcept { return counts_; }

 private:
  filter exceptions_;
  list exact_;
  rule simple_;
  hyphenator_counts counts_;
};

}  // namespace bloomery
