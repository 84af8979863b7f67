// Passwords that nobody should choose: a dictionary that everybody may have, since it cannot be
// listed (Spafford 1992). It can also reject all that is one edit away (Manber and Wu 1994).
//
// One edit inserts, deletes or replaces a character. A word of n characters has some 200 n such
// neighbours in ASCII alone. Instead of these, a word w is added together with what is left of it
// without its character i, for each i:
//
//     "whole" w                           1 string
//     i, w without character i            n strings
//
// and a lookup of a candidate c asks for
//
//     "whole" c                           the word itself
//     "whole" c without character i       a word with one character more than w:  n strings
//     i, c without character i            another character at i:                 n strings
//     i, c                                a word that lacks character i of w:     n + 1 strings
//
// The position i keeps words two edits away from matching. Characters are Unicode code points.
//
// The filter also stores which lengths its words have, and a lookup asks only for those. The
// false-positive rate holds for a whole candidate of any length.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "bloomery/detail/lists/derived_keys.hpp"
#include "bloomery/format/any_filter.hpp"

namespace bloomery {

// The bytes of SHA-1, as in published lists of breached passwords; bloomery::crypto has it.
inline constexpr std::size_t password_digest_bytes = 20;

struct password_options {
  // password: the list holds passwords. near_password: candidates one edit away are rejected, too.
  // password_digest: the list holds digests.
  key_rule rule = key_rule::password;
  double fpr = 1e-3;  // of a candidate
  std::uint64_t seed = 0;
  std::filesystem::path directory = ".";  // where a long list may be spooled
};

class password_builder {
 public:
  explicit password_builder(const password_options& o);

  // Adds a password or a digest of 20 bytes; errc::bad_argument for a digest of another length.
  void add(std::string_view word);
  [[nodiscard]] std::uint64_t words() const noexcept { return words_; }
  [[nodiscard]] any_filter build();

 private:
  password_options options_;
  derived_keys keys_;
  std::vector<bool> lengths_;
  std::uint64_t words_ = 0;
};

// Not safe to use from several threads at once; each should have its own.
class password_filter {
 public:
  // A filter that password_builder made. Throws errc::mismatch for any other.
  explicit password_filter(any_filter f);
  [[nodiscard]] static password_filter open(const std::filesystem::path& path,
                                            const opening& how = {});

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
