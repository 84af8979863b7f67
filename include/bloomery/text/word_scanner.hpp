// Finds the words of a text for a text index: runs of letters and digits with their combining
// marks, without regard to case. "Don't re-use x_y" has the words don, t, re, use, x and y.
//
// Words are case-folded and in NFC (by ICU), so that STRASSE and Straße are the same word, and so
// are the two forms of é. Bytes that are not UTF-8 separate words. A run of more than longest_word
// bytes is cut into words of about that size, so that memory has a limit.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace bloomery {

class word_scanner {
 public:
  static constexpr std::size_t longest_word = 1024;
  using receiver = std::function<void(std::string_view word)>;

  // Takes the next bytes of a text, cut anywhere, and calls `each` with every complete word.
  void feed(std::string_view bytes, const receiver& each);
  // Ends the text. The scanner can then begin another one.
  void finish(const receiver& each);

 private:
  void scan(std::string_view text, const receiver& each);
  void take_character(std::string_view character, const receiver& each);
  void end_word(const receiver& each);

  std::string word_;  // the beginning of a word, its ASCII letters already small
  bool ascii_ = true;
  std::string rest_;  // the beginning of a character that the last piece cut
};

}  // namespace bloomery
