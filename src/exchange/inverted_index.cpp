#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/exchange/keyword_search.hpp"

namespace bloomery {

namespace {

// What a word takes beside its bytes, an entry of its list, and a document: nodes of trees of 32
// bytes, what they hold, and what the heap adds. An entry is also a place in a vector that doubles.
constexpr std::uint64_t word_overhead = 144;
constexpr std::uint64_t entry_bytes = 48 + 16;
constexpr std::uint64_t document_overhead = 112;

}  // namespace

void inverted_index::remove(std::uint64_t document) {
  const auto known = words_of_.find(document);
  if (known == words_of_.end()) return;
  for (const list_map::iterator word : known->second) {
    word->second.erase(document);
    bytes_ -= entry_bytes;
    if (!word->second.empty()) continue;
    bytes_ -= word->first.size() + word_overhead;
    lists_.erase(word);
  }
  words_of_.erase(known);
  bytes_ -= document_overhead;
}

void inverted_index::set(std::uint64_t document, std::span<const std::string_view> words) {
  remove(document);
  if (words.empty()) return;
  std::vector<std::string_view> different(words.begin(), words.end());
  std::ranges::sort(different);
  different.erase(std::unique(different.begin(), different.end()), different.end());
  std::vector<list_map::iterator>& mine = words_of_[document];
  bytes_ += document_overhead;
  for (const std::string_view word : different) {
    auto at = lists_.find(word);
    if (at == lists_.end()) {
      at = lists_.emplace(std::string(word), std::set<std::uint64_t>{}).first;
      bytes_ += word.size() + word_overhead;
    }
    at->second.insert(document);
    mine.push_back(at);
    bytes_ += entry_bytes;
  }
}

std::vector<std::uint64_t> inverted_index::documents(std::string_view word) const {
  const auto at = lists_.find(word);
  if (at == lists_.end()) return {};
  return {at->second.begin(), at->second.end()};
}

std::uint64_t inverted_index::count(std::string_view word) const {
  const auto at = lists_.find(word);
  return at == lists_.end() ? 0 : at->second.size();
}

std::uint64_t inverted_index::bytes_of(std::span<const std::string_view> words) noexcept {
  std::uint64_t bytes = document_overhead;
  for (const std::string_view word : words) bytes += word.size() + word_overhead + entry_bytes;
  return bytes;
}

}  // namespace bloomery
