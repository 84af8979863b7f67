// A map from keys to strings, for values that repeat: a country for each address, an owner for each
// file. A Bloomier filter (filter/bloomier.hpp) gives each key the number of a string, and a table
// holds each different string once:
//
//     key -> hash -> bloomier: number of its string -> ends, bytes: the string
//
// So a key takes the bits of a number and a few more, however long the strings are. The keys are
// not in it: an absent key has one of the strings by chance, with the probability fpr().
//
// The file (docs/format.md, "Maps of strings") has the whole image of the filter inside, aligned,
// so that a mapped file is asked as it is. Like the filters, these classes take hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bloomery/filter/bloomier.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/image.hpp"
#include "bloomery/hash/secret_hasher.hpp"

namespace bloomery {

// Different strings, numbered in the order in which they came.
class string_table {
 public:
  string_table() = default;
  string_table(string_table&&) noexcept = default;
  string_table& operator=(string_table&&) noexcept = default;
  string_table(const string_table&) = delete;  // the numbers view the strings of this table
  string_table& operator=(const string_table&) = delete;
  ~string_table() = default;

  // The number of the string, which is added unless it is there.
  std::uint64_t number_of(std::string_view text);
  [[nodiscard]] std::string_view operator[](std::uint64_t number) const {
    return texts_[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return texts_.size(); }
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view text) const;

 private:
  std::deque<std::string> texts_;  // they stay where they are, so that the numbers can view them
  std::unordered_map<std::string_view, std::uint64_t, secret_text_hash> numbers_;
};

// A map in borrowed bytes. Opening reads the header and the directory of the filter, and verifies
// a table of up to 1 MiB; what a question reads of a larger one is checked then.
class string_map_view {
 public:
  // Throws errc::not_bloomery, unsupported, corrupt; bad_argument unless aligned for 64-bit words.
  explicit string_map_view(std::span<const std::byte> bytes);

  // The string of a key; nothing for an absent one, except with probability fpr(). Throws
  // errc::corrupt when the table turns out to be damaged.
  [[nodiscard]] std::optional<std::string_view> value(std::uint64_t hash) const {
    const std::optional<std::uint64_t> number = numbers_.value(hash);
    if (!number || *number >= strings_) return std::nullopt;
    return string(*number);
  }
  // The string with this number, below strings().
  [[nodiscard]] std::string_view string(std::uint64_t number) const;

  [[nodiscard]] std::uint64_t strings() const noexcept { return strings_; }
  [[nodiscard]] std::uint64_t string_bytes() const noexcept { return texts_.size(); }
  [[nodiscard]] const image_view& image() const noexcept { return image_; }  // of the filter
  [[nodiscard]] const bloomier_view& filter() const noexcept { return numbers_; }
  [[nodiscard]] double fpr() const noexcept { return numbers_.fpr(); }

  // Throws errc::corrupt unless every checksum holds and every string lies in the table.
  void verify(unsigned threads = 0) const;

 private:
  void verify_table() const;

  image_view image_;
  bloomier_view numbers_;
  std::uint64_t strings_ = 0;
  std::span<const std::byte> ends_;
  std::string_view texts_;
  std::span<const std::byte> table_;  // both, their padding and the checksum
};

struct string_map_options {
  double fpr = 0.01;             // how often an absent key may have a string
  std::uint32_t value_bits = 0;  // of a number; 0: as few as the strings need
  unsigned threads = 1;          // 0: one for each core
};

// A map in memory, to be made and changed.
class string_map {
 public:
  // The map from hashes[i] to the string numbers[i] of the table. `hash` is the function that the
  // hashes come from. The order of the keys and strings makes no difference to the file. Throws
  // errc::bad_argument for a key with two strings and for too few value bits.
  string_map(const hash_spec& hash, std::span<const std::uint64_t> hashes,
             std::span<const std::uint64_t> numbers, const string_table& strings,
             const string_map_options& o = {});
  // A copy, every checksum of which is verified.
  explicit string_map(const string_map_view& from);

  [[nodiscard]] std::optional<std::string_view> value(std::uint64_t hash) const;
  // Gives a key another string; false, and nothing changed, for a key that is absent. An absent key
  // that is taken for a present one overwrites the string of that. Throws errc::full when the bits
  // of a number are too few for another different string: strings are never taken out.
  bool update(std::uint64_t hash, std::string_view text);

  void save(const std::filesystem::path& path) const;

  [[nodiscard]] const bloomier_filter& filter() const noexcept { return numbers_; }
  [[nodiscard]] const string_table& strings() const noexcept { return strings_; }

 private:
  hash_spec hash_;
  string_table strings_;
  bloomier_filter numbers_;
};

// A map in a mapped file, every checksum of which is compared first; with {.verify = false} it is
// opened equally fast whatever its size (format/opening.hpp). Errors name the file.
class string_map_file {
 public:
  explicit string_map_file(const std::filesystem::path& path, const opening& how = {})
      : string_map_file(mapped_file(path), how) {}
  explicit string_map_file(mapped_file file, const opening& how = {});

  const string_map_view& operator*() const noexcept { return view_; }
  const string_map_view* operator->() const noexcept { return &view_; }
  void verify(unsigned threads = 0) const;

 private:
  mapped_file file_;
  string_map_view view_;
};

// Whether the bytes begin as a map of strings does.
[[nodiscard]] bool is_string_map(std::span<const std::byte> bytes) noexcept;

}  // namespace bloomery
