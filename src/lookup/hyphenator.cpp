#include "bloomery/lookup/hyphenator.hpp"

#include <utility>

namespace bloomery {

namespace {

bool is_vowel(char c) { return std::string_view("aeiouyAEIOUY").find(c) != std::string_view::npos; }

bool is_pair(std::string_view two) {
  for (const std::string_view pair : {"ch", "gh", "ph", "sh", "th"}) {
    if (two == pair) return true;
  }
  return false;
}

}  // namespace

std::string simple_hyphens(std::string_view word) {
  std::string out;
  bool vowel_seen = false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    // A syllable begins at i with one consonant, or with two that are one sound.
    const std::size_t consonants = is_pair(word.substr(i, 2)) ? 2 : 1;
    const bool opens = !is_vowel(word[i]) && i + consonants < word.size() &&
                       is_vowel(word[i + consonants]) && !(i > 0 && is_pair(word.substr(i - 1, 2)));
    if (opens && vowel_seen && i >= 2 && word.size() - i >= 3) {
      out.push_back('-');
      vowel_seen = false;
    }
    out.push_back(word[i]);
    vowel_seen = vowel_seen || is_vowel(word[i]);
  }
  return out;
}

hyphenator::hyphenator(std::uint64_t exceptions, double fpr, list exact, rule simple)
    : exceptions_({.keys = exceptions, .fpr = fpr}),
      exact_(std::move(exact)),
      simple_(std::move(simple)) {}

std::string hyphenator::hyphenate(std::string_view word) {
  ++counts_.words;
  if (exceptions_.contains(word)) {
    ++counts_.lookups;
    if (std::optional<std::string> entry = exact_(word)) {
      ++counts_.exceptions;
      return *std::move(entry);
    }
  }
  return simple_(word);
}

}  // namespace bloomery
