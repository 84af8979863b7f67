// What the keys of a filter were before they were hashed, where the filter knows it.
//
// The number 42, the line "42" and the byte 0x42 are three keys with three hashes. A filter that
// does not know which of them it holds answers "surely not" to the wrong question, so files name
// the form, and whoever asks in another one is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bloomery {

// Part of the file format; a number never changes its meaning.
enum class key_type : std::uint8_t {
  unknown = 0,   // any, or several: the program that adds and asks takes care of it
  text = 1,      // strings as they stand in a text: lines, a column, a field
  integers = 2,  // 64-bit integers, hashed as such
  binary = 3,    // bytes that a text can only spell, such as digests
  kmers = 4,     // canonical k-mers: the lesser of a piece of DNA and its reverse complement
};

struct key_form {
  key_type type = key_type::unknown;
  std::uint16_t length = 0;  // the bases of a k-mer

  constexpr key_form() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a type alone says everything but of k-mers
  constexpr key_form(key_type t, std::uint16_t bases = 0) noexcept : type(t), length(bases) {}

  [[nodiscard]] constexpr bool known() const noexcept { return type != key_type::unknown; }
  friend bool operator==(const key_form&, const key_form&) = default;
};

inline constexpr std::uint16_t max_kmer_bases = 1024;

// Whether keys of one form may be asked for, or added to a filter, of the other.
[[nodiscard]] constexpr bool agree(const key_form& a, const key_form& b) noexcept {
  return !a.known() || !b.known() || a == b;
}
// The form of a set that has keys of both.
[[nodiscard]] constexpr key_form common_form(const key_form& a, const key_form& b) noexcept {
  return a == b ? a : key_form{};
}

// As in "its keys are ...": "text", "integers", "k-mers of 31 bases".
[[nodiscard]] std::string form_name(const key_form& form);
// The form of this name; unknown for all others.
[[nodiscard]] key_form form_from_name(std::string_view name);

}  // namespace bloomery
