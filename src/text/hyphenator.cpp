#include "bloomery/text/hyphenator.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "bloomery/core/error.hpp"
#include "lists/characters.hpp"
#include "lists/numbered_lines.hpp"

namespace bloomery {

namespace {

struct pattern {
  std::u32string letters;
  std::vector<std::uint8_t> digits = {0};
};

// "hy3ph" is the letters hyph with 3 before the third one.
pattern parse_pattern(std::string_view text) {
  pattern p;
  for (const char32_t c : detail::to_characters(text)) {
    if (c >= U'0' && c <= U'9') {
      p.digits.back() = static_cast<std::uint8_t>(c - U'0');
    } else {
      p.letters.push_back(c);
      p.digits.push_back(0);
    }
  }
  return p;
}

// The number in a line such as "LEFTHYPHENMIN 2".
std::size_t option_number(const detail::numbered_lines& lines, std::string_view text) {
  std::size_t number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc{} || end != text.data() + text.size() || number > 100) {
    lines.fail(errc::corrupt, "a number from 0 to 100 is missing");
  }
  return number;
}

}  // namespace

hyphen_patterns::hyphen_patterns(std::string_view text, const std::string& name,
                                 std::size_t longest) {
  detail::numbered_lines lines(text, name);
  if (!lines.next() || lines.line() != "UTF-8") {
    throw error(errc::unsupported,
                name + ":1: the first line is not UTF-8, the only encoding here");
  }
  while (lines.next()) {
    const std::vector<std::string_view> fields = detail::fields_of(lines.line());
    if (fields.empty() || fields[0].find_first_of("%#/") != std::string_view::npos) continue;
    if (fields[0] == "LEFTHYPHENMIN" || fields[0] == "RIGHTHYPHENMIN") {
      const std::size_t number = option_number(lines, fields.size() > 1 ? fields[1] : "");
      (fields[0] == "LEFTHYPHENMIN" ? least_before_ : least_after_) = number;
      continue;
    }
    if (fields[0][0] >= 'A' && fields[0][0] <= 'Z') continue;  // options of compounds
    pattern p = parse_pattern(fields[0]);
    if (p.letters.empty() || p.letters.size() > longest_pattern) {
      lines.fail(errc::corrupt, "a pattern of " + std::to_string(p.letters.size()) +
                                    " letters; 1 to " + std::to_string(longest_pattern) +
                                    " are allowed");
    }
    if (p.letters.size() > longest) continue;
    longest_ = std::max(longest_, p.letters.size());
    patterns_[std::move(p.letters)] = std::move(p.digits);
  }
}

std::string hyphen_patterns::hyphenate(std::string_view word) const {
  const std::u32string letters = detail::to_characters(word);
  const std::u32string framed = U"." + letters + U".";
  std::vector<std::uint8_t> digits(framed.size() + 1);
  for (std::size_t i = 0; i < framed.size(); ++i) {
    for (std::size_t n = 1; n <= std::min(longest_, framed.size() - i); ++n) {
      const auto found = patterns_.find(framed.substr(i, n));
      if (found == patterns_.end()) continue;
      for (std::size_t k = 0; k <= n; ++k) {
        digits[i + k] = std::max(digits[i + k], found->second[k]);
      }
    }
  }
  std::string out;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const bool inside = i > 0 && i >= least_before_ && letters.size() - i >= least_after_;
    if (inside && digits[i + 1] % 2 != 0) out.push_back('-');
    detail::append_character(out, letters[i]);
  }
  return out;
}

hyphenator::hyphenator(std::uint64_t exceptions, double fpr, rules simple, list exact)
    : exceptions_({.keys = exceptions, .fpr = fpr}),
      simple_(std::move(simple)),
      exact_(std::move(exact)) {}

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
