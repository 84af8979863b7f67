#include "bloomery/lists/dictionary.hpp"

#include <algorithm>
#include <utility>

#include "bloomery/core/error.hpp"
#include "characters.hpp"

namespace bloomery {

namespace {

constexpr char keeps_case = 1;
constexpr char capitals = 2;
constexpr char no_suggestion = 3;
constexpr char alphabet = 4;
constexpr char page = 5;
constexpr char feature = 6;

// The most strings for one word: as written, small, with one capital, keeping its case, and folded.
constexpr std::size_t most_spellings = 5;

// Longer words and larger alphabets get no suggestions: hostile text cannot make lookups huge.
constexpr std::size_t longest_to_mend = 64;
constexpr std::size_t most_letters = 1024;
constexpr char32_t end_of_unicode = 0x110000;

std::string marked(char mark, std::string_view text) {
  std::string out(1, mark);
  return out.append(text);
}

// The candidates for one word, with a cost for each edit. Common mistakes are cheap: exchanged
// neighbours and wrong doublings, mostly after the first letter. A wrong letter is rarest and dear.
class edits {
 public:
  edits(std::u32string_view word, std::u32string_view letters) : word_(word), letters_(letters) {
    for (std::size_t i = 0; i <= word_.size(); ++i) {
      insert_at(i);
      if (i == word_.size()) break;
      replace_at(i);
      remove_at(i);
      if (i + 1 < word_.size() && word_[i] != word_[i + 1]) exchange_at(i);
    }
  }
  std::vector<suggestion> take() { return std::move(all_); }

 private:
  bool doubles(std::size_t i, char32_t c) const {
    return (i > 0 && word_[i - 1] == c) || (i < word_.size() && word_[i] == c);
  }
  void insert_at(std::size_t i) {
    for (const char32_t c : letters_) {
      // Before or after an equal letter, an insertion gives the same word.
      if (i > 0 && word_[i - 1] == c) continue;
      keep(i, i, {&c, 1}, i, doubles(i, c) ? 1 : 2);
    }
  }
  void remove_at(std::size_t i) {
    if (i > 0 && word_[i - 1] == word_[i]) return;
    keep(i, i + 1, {}, i, i + 1 < word_.size() && word_[i + 1] == word_[i] ? 1 : 2);
  }
  void replace_at(std::size_t i) {
    for (const char32_t c : letters_) {
      if (c != word_[i]) keep(i, i + 1, {&c, 1}, i, 3);
    }
  }
  void exchange_at(std::size_t i) {
    const char32_t turned[] = {word_[i + 1], word_[i]};
    keep(i, i + 2, {turned, 2}, i, 0);
  }
  void keep(std::size_t begin, std::size_t end, std::u32string_view between, std::size_t place,
            std::uint32_t distance) {
    std::u32string made(word_.substr(0, begin));
    made.append(between).append(word_.substr(end));
    if (!made.empty()) all_.push_back({detail::to_text(made), distance + (place == 0 ? 2U : 0U)});
  }

  std::u32string_view word_;
  std::u32string_view letters_;
  std::vector<suggestion> all_;
};

}  // namespace

dictionary_builder::dictionary_builder(const dictionary_options& o)
    : options_(o), keys_(key_rule::word, o.directory, o.seed) {
  if (!(o.fpr > 0.0 && o.fpr < 1.0)) {
    detail::throw_bad_argument("fpr", o.fpr, "above 0 and below 1");
  }
}

void dictionary_builder::add_marked(char mark, std::string_view text) {
  marked_ = marked(mark, text);
  keys_.add(marked_);
}

void dictionary_builder::add(std::string_view word, const word_traits& traits) {
  if (word.empty() || static_cast<unsigned char>(word[0]) < ' ') {
    throw error(errc::bad_argument, "a word is empty or begins with a control character");
  }
  ++words_;
  if (traits.keep_case) {
    keeps_case_ = true;
    add_marked(keeps_case, word);
  } else {
    keys_.add(word);
  }
  if (traits.no_suggestion) {
    add_marked(no_suggestion, word);
  } else {
    add_letters(word);
  }
}

void dictionary_builder::add_capitals(std::string_view folded) {
  has_capitals_ = true;
  add_marked(capitals, folded);
}

void dictionary_builder::add_letters(std::string_view letters) {
  for (const char32_t c : detail::to_characters(letters)) {
    const bool digit = c >= U'0' && c <= U'9';  // there are no words with digits to suggest
    if (c < end_of_unicode && !digit) letters_.insert(c);
  }
}

any_filter dictionary_builder::build() {
  std::set<char32_t> pages;
  for (const char32_t c : std::exchange(letters_, {})) {
    pages.insert(c / 256);
    add_marked(alphabet, detail::to_text({&c, 1}));
  }
  for (const char32_t p : pages) add_marked(page, std::to_string(static_cast<std::uint32_t>(p)));
  if (keeps_case_) add_marked(feature, std::string(1, keeps_case));
  if (has_capitals_) add_marked(feature, std::string(1, capitals));
  return keys_.build(options_.fpr, most_spellings);
}

dictionary_filter::dictionary_filter(any_filter f) : filter_(std::move(f)) {
  if (filter_.hasher() == nullptr) filter_.use(derived_hasher(filter_.header(), key_rule::word));
  if (filter_.hash().rule != key_rule::word) {
    throw error(errc::mismatch, "it is a filter of " + std::string(rule_name(filter_.hash().rule)) +
                                    ", not of " + std::string(rule_name(key_rule::word)));
  }
  keeps_case_ = contains_marked(feature, std::string(1, keeps_case));
  has_capitals_ = contains_marked(feature, std::string(1, capitals));
}

dictionary_filter dictionary_filter::open(const std::filesystem::path& path, const opening& how) {
  try {
    return dictionary_filter(any_filter::open(path, nullptr, how));
  } catch (const error& e) {
    if (e.code() != errc::mismatch) throw;
    throw error(e.code(), path.string() + ": " + e.what());
  }
}

bool dictionary_filter::contains_marked(char mark, std::string_view text) const {
  return filter_.contains(marked(mark, text));
}

bool dictionary_filter::contains(std::string_view word) const {
  return filter_.contains(word) || (keeps_case_ && contains_marked(keeps_case, word));
}

bool dictionary_filter::contains_capitals(std::string_view folded) const {
  return has_capitals_ && contains_marked(capitals, folded);
}

const std::u32string& dictionary_filter::letters() {
  if (std::exchange(letters_known_, true)) return letters_;
  for (char32_t p = 0; p < end_of_unicode / 256; ++p) {
    if (!contains_marked(page, std::to_string(static_cast<std::uint32_t>(p)))) continue;
    for (char32_t c = 256 * p; c < 256 * (p + 1) && letters_.size() < most_letters; ++c) {
      if (contains_marked(alphabet, detail::to_text({&c, 1}))) letters_.push_back(c);
    }
  }
  return letters_;
}

std::vector<suggestion> dictionary_filter::near(std::string_view word) {
  const std::u32string characters = detail::to_characters(word);
  if (characters.empty() || characters.size() > longest_to_mend) return {};
  std::vector<suggestion> candidates = edits(characters, letters()).take();
  std::vector<std::string_view> keys;
  keys.reserve(candidates.size());
  for (const suggestion& c : candidates) keys.push_back(c.word);
  std::vector<std::uint64_t> found((keys.size() + 63) / 64);
  filter_.contains_bits(keys, found);
  std::vector<suggestion> good;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool free = (found[i / 64] >> (i % 64) & 1U) != 0;
    if (!free && !(keeps_case_ && contains_marked(keeps_case, keys[i]))) continue;
    if (!contains_marked(no_suggestion, keys[i])) good.push_back(std::move(candidates[i]));
  }
  std::stable_sort(good.begin(), good.end(), [](const suggestion& a, const suggestion& b) {
    return a.distance < b.distance;
  });
  return good;
}

}  // namespace bloomery
