// Spelling of texts, by a filter of words (lists/dictionary.hpp). What language has to do with it
// is here and comes from ICU: where words begin and end (UAX 29), which of them are the same (NFC),
// and capitals.
//
// Capitals as in hunspell. A word of the dictionary is right
//
//     as it is                 paris Paris iPod
//     with a capital first     the -> The
//     in capitals              the -> THE   Paris -> PARIS   iPod -> IPOD   Straße -> STRASSE
//
// so "paris" is wrong where the list has only "Paris". Words that must keep their case are right
// only as they are.
//
// What a word is: letters with apostrophes inside (don't, l’eau; the typographic one is the same as
// the other). Parts between hyphens, dots or underscores count for themselves, unless the whole is
// in the dictionary. Parts with digits are skipped, and so is what looks like the address of a page
// or a mailbox or the path of a file, up to the next blank.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/lists/dictionary.hpp"

namespace bloomery {

// Text in an encoding as files of dictionaries name it (ISO8859-15, KOI8-R). Throws
// errc::unsupported when ICU does not know it.
[[nodiscard]] std::string to_utf8(std::string_view bytes, const std::string& encoding);

// Adds a word in the form in which `speller` asks for it, and what capitals make of it.
void add_word(dictionary_builder& to, std::string_view word, const word_traits& traits = {});

// The contents of a file, and what messages call it.
struct named_text {
  std::string_view bytes;
  std::string name;
};
// Adds all forms of all words of a dictionary of hunspell, and the letters that it wants to be
// tried.
void add_hunspell(dictionary_builder& to, const named_text& aff, const named_text& dic,
                  const affix_limits& limits = {});

// Not safe to use in several threads at once: each takes one of its own.
class speller {
 public:
  explicit speller(dictionary_filter words);
  speller(speller&&) noexcept;
  speller& operator=(speller&&) noexcept;
  ~speller();

  using receiver = std::function<void(std::string_view unknown)>;
  // Calls `each` with the unknown words of a text, in order; they are parts of it. Any bytes are a
  // text. Returns how many words there were.
  std::uint64_t check(std::string_view text, const receiver& each);

  [[nodiscard]] bool knows(std::string_view word) const;
  // Words one edit away, best first, with the capitals of the unknown one.
  [[nodiscard]] std::vector<std::string> suggest(std::string_view unknown, std::size_t most = 10);

  [[nodiscard]] const dictionary_filter& words() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace bloomery
