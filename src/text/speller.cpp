#include "bloomery/text/speller.hpp"

#include <algorithm>
#include <utility>

#include "bloomery/core/error.hpp"
#include "icu.hpp"
#include "words.hpp"

namespace bloomery {

namespace {

// Longer words are in no dictionary, and are not looked up.
constexpr std::size_t longest_word = 1024;

// Whether a lookup of the word in capitals finds it by the rules of `knows`.
bool found_by_capitals(const std::string& word, const std::string& capitals) {
  return word == capitals || word == icu::lower(capitals) || word == icu::title(capitals);
}

}  // namespace

void add_word(dictionary_builder& to, std::string_view word, const word_traits& traits) {
  const std::string normal = icu::normal(word);
  if (normal.empty() && !word.empty()) return;  // it was soft hyphens
  to.add(normal, traits);
  const icu::capital_form form = icu::capital_form_of(normal);
  const bool simple = form != icu::capital_form::mixed && form != icu::capital_form::mixed_titled;
  if (traits.keep_case || (simple && icu::is_ascii(normal))) return;
  const std::string capitals = icu::upper(normal);
  if (!found_by_capitals(normal, capitals)) to.add_capitals(icu::lower(capitals));
}

void add_hunspell(dictionary_builder& to, const named_text& aff, const named_text& dic,
                  const affix_limits& limits) {
  const std::string encoding = affix_rules::encoding_of(aff.bytes);
  const auto decoded = [&](const named_text& text) {
    try {
      return to_utf8(text.bytes, encoding);
    } catch (const error& e) {
      throw error(e.code(), text.name + ": " + e.what());
    }
  };
  const affix_rules rules(decoded(aff), aff.name);
  to.add_letters(icu::normal(rules.letters()));
  rules.expand(
      decoded(dic), dic.name,
      [&](std::string_view form, const word_traits& traits) { add_word(to, form, traits); },
      limits);
}

struct speller::state {
  explicit state(dictionary_filter f) : words(std::move(f)) {}

  bool knows(const std::string& word) const {
    if (words.contains(word)) return true;
    switch (icu::capital_form_of(word)) {
      case icu::capital_form::titled: return words.contains_free(icu::lower(word));
      case icu::capital_form::capitals: {
        const std::string folded = icu::lower(word);
        return words.contains_free(folded) || words.contains_free(icu::title(word)) ||
               words.contains_capitals(folded);
      }
      case icu::capital_form::mixed_titled: return words.contains_free(icu::small_first(word));
      case icu::capital_form::small:
      case icu::capital_form::mixed: break;
    }
    return false;
  }

  bool knows_written(std::string_view written) const {
    return written.size() <= longest_word && knows(icu::normal(written));
  }

  // The dictionary may have an abbreviation with its dot.
  bool knows_at(std::string_view written, const char* end_of_text) const {
    if (knows_written(written)) return true;
    const bool dot =
        written.data() + written.size() != end_of_text && *(written.data() + written.size()) == '.';
    return dot && knows_written({written.data(), written.size() + 1});
  }

  // Writes the unknown parts of a word to `unknown`: none if the whole word is known.
  void check_word(std::string_view written, const char* end_of_text) {
    const bool number = has_digit(written);
    if (!number && knows_at(written, end_of_text)) return;
    for_each_part(written, [&](std::string_view part) {
      if (number && has_digit(part)) return;
      if (part.size() == written.size() || !knows_at(part, end_of_text)) unknown.push_back(part);
    });
  }

  // Checks words with hyphens between them.
  void check_run(const word_run& run, const char* end_of_text, const receiver& each) {
    unknown.clear();
    for (const std::string_view word : run.words) check_word(word, end_of_text);
    if (unknown.empty() || (run.words.size() > 1 && knows_written(run.whole()))) return;
    for (const std::string_view word : unknown) each(word);
  }

  dictionary_filter words;
  word_finder finder;
  std::vector<std::string_view> unknown;
};

speller::speller(dictionary_filter words) : state_(std::make_unique<state>(std::move(words))) {}
speller::speller(speller&&) noexcept = default;
speller& speller::operator=(speller&&) noexcept = default;
speller::~speller() = default;

const dictionary_filter& speller::words() const noexcept { return state_->words; }

std::uint64_t speller::check(std::string_view text, const receiver& each) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  state_->finder.find(text, [&](const word_run& run) {
    number += run.words.size();
    state_->check_run(run, end, each);
  });
  return number;
}

bool speller::knows(std::string_view word) const { return state_->knows_written(word); }

std::vector<std::string> speller::suggest(std::string_view unknown, std::size_t most) {
  if (unknown.size() > longest_word) return {};
  const std::string word = icu::normal(unknown);
  const icu::capital_form form = icu::capital_form_of(word);
  std::vector<suggestion> all;
  // The word may be a name without its capital.
  if (const std::string name = icu::title(word); state_->words.contains(name))
    all.push_back({name});
  for (suggestion& s : state_->words.near(word)) all.push_back(std::move(s));
  const auto add = [&](const std::string& base, std::string (*restore)(std::string_view)) {
    for (suggestion& s : state_->words.near(base)) {
      s.word = restore(s.word);
      all.push_back(std::move(s));
    }
  };
  if (form == icu::capital_form::titled) {
    add(icu::lower(word), [](std::string_view s) {
      return icu::capital_form_of(s) == icu::capital_form::small ? icu::title(s) : std::string(s);
    });
  } else if (form == icu::capital_form::capitals) {
    add(icu::lower(word), icu::upper);
    add(icu::title(word), icu::upper);
  }
  std::stable_sort(all.begin(), all.end(), [](const suggestion& a, const suggestion& b) {
    return a.distance < b.distance;
  });
  std::vector<std::string> best;
  for (suggestion& s : all) {
    if (best.size() == most) break;
    if (s.word != word && std::find(best.begin(), best.end(), s.word) == best.end()) {
      best.push_back(std::move(s.word));
    }
  }
  return best;
}

}  // namespace bloomery
