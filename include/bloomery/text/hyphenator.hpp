// Hyphenation by simple rules, with a list of exceptions that is slow to read: the problem for
// which Bloom invented his filter (Bloom 1970; Broder and Mitzenmacher 2004, section 3.1). The
// rules are right for most words. The filter holds the words for which they are wrong, and only
// words that are in the filter are looked up in the list.
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
#include "bloomery/hash/secret_hasher.hpp"

namespace bloomery {

// Patterns of letters that tell where a word may be broken (Liang 1983, "Word hy-phen-a-tion by
// com-put-er"), as in files hyph_*.dic. Those of up to four characters, less than half of the
// English ones, are simple rules that are right for seven words of eight.
class hyphen_patterns {
 public:
  static constexpr std::size_t longest_pattern = 64;

  // Takes the patterns of at most `longest` characters from the text of a file. Throws
  // errc::corrupt with name and line, and errc::unsupported for a text that is not UTF-8.
  hyphen_patterns(std::string_view text, const std::string& name,
                  std::size_t longest = longest_pattern);

  // The word, which must be in small letters, with hyphens where it may be broken.
  [[nodiscard]] std::string hyphenate(std::string_view word) const;
  [[nodiscard]] std::size_t size() const noexcept { return patterns_.size(); }

 private:
  // The digits of each pattern: before each letter, and after the last.
  struct letters_hash {
    std::size_t operator()(const std::u32string& letters) const {
      return secret_text_hash()(
          {reinterpret_cast<const char*>(letters.data()), letters.size() * sizeof(char32_t)});
    }
  };
  std::unordered_map<std::u32string, std::vector<std::uint8_t>, letters_hash> patterns_;
  std::size_t longest_ = 0;
  std::size_t least_before_ = 2;
  std::size_t least_after_ = 2;
};

struct hyphenator_counts {
  std::uint64_t words = 0;
  std::uint64_t lookups = 0;     // in the list
  std::uint64_t exceptions = 0;  // lookups that found an exception
};

class hyphenator {
 public:
  using rules = std::function<std::string(std::string_view word)>;
  // Returns the entry of a word, or nothing. It may be slow, such as a read from disk.
  using list = std::function<std::optional<std::string>(std::string_view word)>;

  // `exceptions` is how many will be added, all before the first call of hyphenate.
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

// A list of hyphenated words, one a line ("ta-ble"), that is looked up where it is, such as in a
// mapped file: memory has 16 bytes for each word. Case makes no difference.
class hyphen_list {
 public:
  // The text must outlive the list. Throws errc::corrupt, with name and line, for a line that has
  // anything but letters and hyphens, and where a hyphen is at an end.
  hyphen_list(std::string_view text, const std::string& name);

  // The entry of a word in small letters.
  [[nodiscard]] std::optional<std::string> find(std::string_view word) const;
  [[nodiscard]] std::uint64_t size() const noexcept { return places_.size(); }
  // Calls `each` with every word, in small letters and without hyphens.
  void for_each(const std::function<void(std::string_view word)>& each) const;

 private:
  struct place {
    std::uint64_t hash;
    std::uint64_t begin;
  };
  [[nodiscard]] std::string_view line_at(std::uint64_t begin) const;

  std::string_view text_;
  std::vector<place> places_;  // by hash
};

// The text with hyphens in its words, which are runs of letters: an apostrophe ends one, as in TeX,
// so that "isn't" is not broken. Capitals stay; words are asked for in small letters. The text may
// be any bytes.
[[nodiscard]] std::string hyphenate_text(std::string_view text, hyphenator& words,
                                         std::string_view hyphen = "-");

}  // namespace bloomery
