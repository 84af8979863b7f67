// Hyphens by simple rules, with a list of exceptions that is slow to read: what Bloom's filter was
// made for (Bloom 1970; Broder and Mitzenmacher 2004, section 3.1). The rules are right for most
// words. The filter holds those for which they are wrong, and only words that the filter finds are
// looked up in the list.
//
//     word -> filter -> surely no exception: the rules
//                    -> perhaps one: the list -> its entry, or the rules after all
//
// So the list is read for each exception and for a share `fpr` of all other words.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bloomery/filter/keyed.hpp"

namespace bloomery {

// Patterns of letters that say where a word may be broken and where not (Liang 1983, "Word
// hy-phen-a-tion by com-put-er"), in the form of the files hyph_*.dic. The short ones alone are
// simple rules: those of up to four characters are less than half of the patterns for English, and
// right for seven words of eight.
class hyphen_patterns {
 public:
  static constexpr std::size_t longest_pattern = 64;

  // Takes the patterns of at most `longest` characters from the text of a file; `name` is for
  // messages. Throws errc::corrupt with name and line, and errc::unsupported for a text that is not
  // in UTF-8.
  hyphen_patterns(std::string_view text, const std::string& name,
                  std::size_t longest = longest_pattern);

  // A word of small letters, with hyphens where it may be broken.
  [[nodiscard]] std::string hyphenate(std::string_view word) const;
  [[nodiscard]] std::size_t size() const noexcept { return patterns_.size(); }

 private:
  // The digits before each letter and after the last.
  std::unordered_map<std::u32string, std::vector<std::uint8_t>> patterns_;
  std::size_t longest_ = 0;
  std::size_t least_before_ = 2;
  std::size_t least_after_ = 2;
};

struct hyphenator_counts {
  std::uint64_t words = 0;
  std::uint64_t lookups = 0;     // in the list
  std::uint64_t exceptions = 0;  // that were there
};

class hyphenator {
 public:
  using rules = std::function<std::string(std::string_view word)>;
  // The entry of a word, or nothing. May be as slow as a disk.
  using list = std::function<std::optional<std::string>(std::string_view word)>;

  // For so many exceptions, to be added before the first question.
  hyphenator(std::uint64_t exceptions, double fpr, rules simple, list exact);

  void add_exception(std::string_view word) { exceptions_.add(word); }
  [[nodiscard]] std::string hyphenate(std::string_view word);
  [[nodiscard]] const hyphenator_counts& counts() const noexcept { return counts_; }

 private:
  filter exceptions_;
  rules simple_;
  list exact_;
  hyphenator_counts counts_;
};

}  // namespace bloomery
