// Checks the spelling of texts with a filter of words (lists/dictionary.hpp), by means of ICU:
// where words begin and end (UAX 29), which spellings are equivalent (NFC), and capitals.
//
// The rules for capitals are those of hunspell. A word of the dictionary is right
//
//     as it is                 paris Paris iPod
//     with a capital first     the -> The
//     in capitals              the -> THE   Paris -> PARIS   iPod -> IPOD   Straße -> STRASSE
//
// so "paris" is wrong where the list has only "Paris". Words that must keep their case are right
// only as the list has them.
//
// A word consists of letters, with apostrophes inside (don't, l’eau; the typographic apostrophe
// equals the other). Parts between hyphens, dots or underscores are checked separately, unless the
// whole is in the dictionary. Parts with digits are skipped, and so is everything up to the next
// blank that looks like the address of a page or a mailbox or the path of a file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/lists/dictionary.hpp"

namespace bloomery {

// From an encoding named as in dictionaries (ISO8859-15, KOI8-R); errc::unsupported if unknown.
[[nodiscard]] std::string to_utf8(std::string_view bytes, const std::string& encoding);

// Adds a word in the form in which `speller` looks it up, and its forms in capitals.
void add_word(dictionary_builder& to, std::string_view word, const word_traits& traits = {});

// The contents of a file, and its name for messages.
struct named_text {
  std::string_view bytes;
  std::string name;
};
// Adds all forms of all words of a hunspell dictionary, and its letters for suggestions.
void add_hunspell(dictionary_builder& to, const named_text& aff, const named_text& dic,
                  const affix_limits& limits = {});

// Not safe to use from several threads at once; each should have its own.
class speller {
 public:
  explicit speller(dictionary_filter words);
  speller(speller&&) noexcept;
  speller& operator=(speller&&) noexcept;
  ~speller();

  using receiver = std::function<void(std::string_view unknown)>;
  // Calls `each` with the unknown words of a text, in order, as views into it. The text may be any
  // bytes. Returns the number of all words.
  std::uint64_t check(std::string_view text, const receiver& each);

  [[nodiscard]] bool knows(std::string_view word) const;
  // Words one edit away, best first, capitalised like the unknown one.
  [[nodiscard]] std::vector<std::string> suggest(std::string_view unknown, std::size_t most = 10);

  [[nodiscard]] const dictionary_filter& words() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace bloomery
