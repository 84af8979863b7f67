#include "bloomery/lists/password.hpp"

#include <algorithm>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/utf8.hpp"

namespace bloomery {

namespace {

// Derived strings begin with a position, or with one of these, which are larger than any.
constexpr std::uint32_t whole = UINT32_MAX;
constexpr std::uint32_t length_of_a_word = UINT32_MAX - 1;
// Longer words are compared only as a whole: hostile lists cannot make lookups of any size.
constexpr std::size_t longest_near_word = 1024;

void derive(std::string& out, std::uint32_t number, std::string_view text) {
  out.clear();
  for (unsigned shift = 0; shift < 32; shift += 8) {
    out.push_back(static_cast<char>((number >> shift) & 0xffU));
  }
  out.append(text);
}

void derive_without(std::string& out, std::uint32_t number, std::string_view text,
                    std::size_t begin, std::size_t end) {
  derive(out, number, text.substr(0, begin));
  out.append(text.substr(end));
}

void derive_length(std::string& out, std::size_t length) {
  derive(out, length_of_a_word, std::to_string(length));
}

// The strings that a lookup of this length asks for, and three for the lengths of matching words.
std::size_t most_strings(std::size_t length) { return 3 * length + 2 + 3; }

bool is_password_rule(key_rule rule) {
  return rule == key_rule::password || rule == key_rule::near_password ||
         rule == key_rule::password_digest;
}

}  // namespace

password_builder::password_builder(const password_options& o)
    : options_(o), keys_(o.rule, o.directory, o.seed) {
  if (!is_password_rule(o.rule)) {
    throw error(errc::bad_argument,
                "a filter of " + std::string(rule_name(o.rule)) + " is none of passwords");
  }
  if (!(o.fpr > 0.0 && o.fpr < 1.0)) {
    throw error(errc::bad_argument,
                "the rate is " + std::to_string(o.fpr) + ", but must be above 0 and below 1");
  }
}

void password_builder::add(std::string_view word) {
  if (options_.rule == key_rule::password_digest && word.size() != password_digest_bytes) {
    throw error(errc::bad_argument,
                "a digest has " + std::to_string(word.size()) + " bytes, not 20");
  }
  ++words_;
  if (options_.rule != key_rule::near_password) return keys_.add(word);
  const std::vector<std::size_t> starts = detail::code_point_starts(word);
  const std::size_t length = starts.size() - 1;
  std::string derived;
  derive(derived, whole, word);
  keys_.add(derived);
  if (length > longest_near_word) return;
  if (lengths_.size() <= length) lengths_.resize(length + 1);
  if (!lengths_[length]) {
    lengths_[length] = true;
    derive_length(derived, length);
    keys_.add(derived);
  }
  for (std::size_t i = 0; i < length; ++i) {
    derive_without(derived, static_cast<std::uint32_t>(i), word, starts[i], starts[i + 1]);
    keys_.add(derived);
  }
}

any_filter password_builder::build() {
  if (options_.rule != key_rule::near_password) return keys_.build(options_.fpr, 1);
  // The longest candidate that is looked up in full is one character longer than the longest word.
  return keys_.build(options_.fpr, most_strings(lengths_.size()));
}

password_filter::password_filter(any_filter f) : filter_(std::move(f)) {
  if (!is_password_rule(rule())) {
    throw error(errc::mismatch,
                "it is a filter of " + std::string(rule_name(rule())) + ", not of passwords");
  }
  if (filter_.hasher() == nullptr) filter_.use(derived_hasher(filter_.header(), rule()));
}

password_filter password_filter::open(const std::filesystem::path& path, const opening& how) {
  try {
    return password_filter(any_filter::open(path, nullptr, how));
  } catch (const error& e) {
    if (e.code() != errc::mismatch) throw;
    throw error(e.code(), path.string() + ": " + e.what());
  }
}

bool password_filter::has_length(std::size_t length) {
  derive_length(derived_, length);
  return filter_.contains(derived_);
}

void password_filter::ask_neighbours(std::string_view candidate) {
  const std::vector<std::size_t> starts = detail::code_point_starts(candidate);
  const std::size_t length = starts.size() - 1;
  if (length > longest_near_word + 1) return;
  const auto ask = [&] { question_.add(derived_); };
  const bool same = has_length(length);
  const bool shorter = length > 0 && has_length(length - 1);
  for (std::size_t i = 0; i < length && (same || shorter); ++i) {
    derive_without(derived_, static_cast<std::uint32_t>(i), candidate, starts[i], starts[i + 1]);
    if (same) ask();
    derive_without(derived_, whole, candidate, starts[i], starts[i + 1]);
    if (shorter) ask();
  }
  if (!has_length(length + 1)) return;
  for (std::size_t i = 0; i <= length; ++i) {
    derive(derived_, static_cast<std::uint32_t>(i), candidate);
    ask();
  }
}

bool password_filter::contains(std::string_view candidate) {
  if (rule() != key_rule::near_password) return filter_.contains(candidate);
  question_.clear();
  derive(derived_, whole, candidate);
  question_.add(derived_);
  ask_neighbours(candidate);
  return question_.first_in(filter_) != question_.size();
}

}  // namespace bloomery
