// The words of a text by Unicode's rules (UAX 29), as ICU's iterator finds them in UTF-8.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace bloomery {

struct word_run {  // words that are separated by hyphens only: "jack-in-the-box"
  std::vector<std::string_view> words;

  [[nodiscard]] std::string_view whole() const {
    const char* begin = words.front().data();
    return {begin, static_cast<std::size_t>(words.back().data() + words.back().size() - begin)};
  }
};

class word_finder {
 public:
  word_finder();
  word_finder(const word_finder&) = delete;
  word_finder& operator=(const word_finder&) = delete;
  ~word_finder();

  // Finds the words, but not those in addresses and file paths. Runs above 1 MiB are cut anywhere.
  void find(std::string_view text, const std::function<void(const word_run&)>& each);

 private:
  void find_in_piece(std::string_view piece, const std::function<void(const word_run&)>& each);
  void find_addresses(std::string_view piece);

  struct iterator;
  std::unique_ptr<iterator> iterator_;
  std::vector<std::string_view> addresses_;  // addresses in the piece, in order
};

[[nodiscard]] bool has_digit(std::string_view word);

// Calls `each` with the parts of a word between dots and the like, without apostrophes at the ends.
void for_each_part(std::string_view word, const std::function<void(std::string_view)>& each);

}  // namespace bloomery
