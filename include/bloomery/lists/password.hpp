// Passwords that nobody should choose: a dictionary that everybody may copy, since it cannot be
// listed (Spafford 1992, "OPUS: preventing weak password choices"), and, if wanted, all that one
// edit makes of its words (Manber and Wu 1994).
//
// One edit is one character too many, too few or another. A list of n characters a word has some
// 200 n such neighbours in ASCII alone. Instead a word w goes in with what is left of it without
// its character i, for each i:
//
//     "whole" w                           1 string
//     i, w without character i            n strings
//
// and a candidate c is asked for as
//
//     "whole" c                           the word itself
//     "whole" c without character i       a word with one character more than w:  n strings
//     i, c without character i            another character at i:                 n strings
//     i, c                                a word that lacks character i of w:     n + 1 strings
//
// The position keeps words out that are two edits away. Characters are Unicode code points.
//
// The filter also remembers which lengths its words have. A candidate is asked for only what a word
// of such a length can be, and the rate of false alarms that was asked for holds for a candidate of
// any length, whatever it takes to ask.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "bloomery/detail/lists/derived_keys.hpp"
#include "bloomery/format/any_filter.hpp"

namespace bloomery {

// SHA-1, as published lists of breached passwords have it. The library's core does not compute it;
// bloomery::crypto does.
inline constexpr std::size_t password_digest_bytes = 20;

struct password_options {
  // password: the list holds passwords. near_password: and one edit away is too near.
  // password_digest: it holds digests.
  key_rule rule = key_rule::password;
  double fpr = 1e-3;  // of a candidate
  std::uint64_t seed = 0;
  std::filesystem::path directory = ".";  // where a long list may be spooled
};

class password_builder {
 public:
  explicit password_builder(const password_options& o);

  // A password, or the 20 bytes of a digest; throws errc::bad_argument when it is of another
  // length.
  void add(std::string_view word);
  [[nodiscard]] std::uint64_t words() const noexcept { return words_; }
  [[nodiscard]] any_filter build();

 private:
  password_options options_;
  derived_keys keys_;
  std::vector<bool> lengths_;
  std::uint64_t words_ = 0;
};

// Not safe to use in several threads at once: each takes one of its own.
class password_filter {
 public:
  // A filter that password_builder made. Throws errc::mismatch for any other.
  explicit password_filter(any_filter f);
  [[nodiscard]] static password_filter open(const std::filesystem::path& path);

  [[nodiscard]] key_rule rule() const noexcept { return filter_.hash().rule; }
  [[nodiscard]] const any_filter& filter() const noexcept { return filter_; }

  // Whether the candidate, or its digest, is on the list, or perhaps one edit away from it.
  [[nodiscard]] bool contains(std::string_view candidate);

 private:
  [[nodiscard]] bool has_length(std::size_t length);
  void ask_neighbours(std::string_view candidate);

  any_filter filter_;
  derived_question question_;
  std::string derived_;
};

}  // namespace bloomery
