// Which documents contain these words: a filter of words for each document, stored by bits.
//
// The filters of documents of about the same length have the same number of bits, so those of a
// group are a table
//
//               document 0  1  2  3  ...
//     bit 0              0  1  0  0          a row for each bit of the filters,
//     bit 1              1  1  0  1          a column for each document
//     ...
//
// stored row by row. A word has the same few rows in all documents of a group: the AND of the rows
// of several words has a 1 for each document that may contain them all. A query reads only these
// rows, sequentially. (A bit-sliced signature file; Ramakrishna 1989 searched text with Bloom
// filters; BitFunnel, Goodwin et al. 2017, and COBS, Bingmann et al. 2019, for k-mers, made them
// fast.)
//
// Documents are grouped by their number of different words, in steps of about a fifth: if all
// filters had one size, short documents would waste nearly all of theirs. Rows follow each other
// without padding, so a group of one long document is just its filter.
//
// No document with all the words is missed; others are reported at a rate below fpr^w for w words.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bloomery/format/file.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

// What the terms are. The numbers are part of the file format, as are those of document_unit.
enum class term_kind : std::uint16_t {
  words = 1,  // words of a text, by text/word_scanner.hpp
  kmers = 2,  // the pieces of k bases of sequences, each the lesser of its two strands
};
enum class document_unit : std::uint16_t { file = 0, paragraph = 1 };

struct text_index_options {
  double fpr = 0.001;  // documents without a word that are reported for it all the same, at most
  // Rows of a word. 0 means as few as cost at most a tenth more space than the best number.
  std::uint32_t probes = 0;
  std::uint64_t seed = 0;
  term_kind terms = term_kind::words;
  std::uint32_t kmer = 0;  // bases of a k-mer
  document_unit unit = document_unit::file;
};

// The hash of a term, by the seed of the index.
[[nodiscard]] inline std::uint64_t term_hash(std::uint64_t seed, std::string_view term) noexcept {
  return hash_key(xxh3_hasher(seed), term);
}

// Terms that are at least this share of `number`: 7 for 0.7 of 10, though doubles give a bit more.
[[nodiscard]] inline std::uint64_t terms_needed(double share, std::uint64_t number) noexcept {
  return static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(number) - 1e-9));
}

struct indexed_document {
  std::string_view path;
  std::uint32_t line = 0;  // the first line of a paragraph; 0 for a whole file
};

// An index in borrowed bytes. Opening reads only the header and the list of groups, and verifies
// the checksum of an index of up to 1 MiB; what a query reads of the rest is checked then.
class text_index_view {
 public:
  // Throws errc::not_bloomery, unsupported, corrupt; bad_argument unless aligned for 64-bit words.
  explicit text_index_view(std::span<const std::byte> bytes);

  struct group {
    std::uint64_t rows = 0;
    std::uint64_t documents = 0;
    std::uint64_t words = 0;  // of all its documents together
    std::uint64_t first_member = 0;
    std::span<const std::uint64_t> bits = {};  // row r: r * documents to (r + 1) * documents - 1
  };

  [[nodiscard]] const text_index_options& options() const noexcept { return options_; }
  // With those that others have replaced: they take their space until the index is made anew.
  [[nodiscard]] std::uint64_t documents() const noexcept { return documents_; }
  [[nodiscard]] std::uint64_t files() const noexcept { return files_; }
  struct contents {
    std::uint64_t documents = 0;
    std::uint64_t files = 0;
  };
  // Without these, by reading the whole list of documents.
  [[nodiscard]] contents in_use() const;
  [[nodiscard]] std::uint64_t words() const noexcept { return words_; }
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::span<const group> groups() const noexcept { return groups_; }
  // The bits of all tables together.
  [[nodiscard]] std::uint64_t bits() const noexcept;

  // The documents that may contain all of these terms, or at least this share of the different
  // ones, in the order in which they were added. Throws errc::bad_argument when there are no terms
  // or the share is not in (0, 1], and errc::corrupt when the file turns out to be damaged.
  [[nodiscard]] std::vector<std::uint32_t> find(std::span<const std::uint64_t> hashes,
                                                double share = 1.0) const;
  // Nothing for a document that another one has replaced; find() does not report these.
  [[nodiscard]] std::optional<indexed_document> document(std::uint32_t number) const;
  [[nodiscard]] std::string_view path(std::uint32_t file) const;
  [[nodiscard]] std::uint32_t file_of(std::uint32_t document) const;  // or no_file
  static constexpr std::uint32_t no_file = UINT32_MAX;
  // The number of the document that a column of a group belongs to.
  [[nodiscard]] std::uint32_t member(const group& g, std::uint64_t column) const;

  // The expected share of the documents without a word that are reported for it all the same.
  [[nodiscard]] double fpr() const;
  // The expected number of documents with none of so many words that are reported all the same.
  [[nodiscard]] double expected_false(std::uint64_t terms) const;

  // Throws errc::corrupt unless the checksum holds and every number in the file is valid.
  void verify() const;

 private:
  void read_groups(std::span<const std::byte> table, std::span<const std::byte> bits);

  std::span<const std::byte> bytes_;
  text_index_options options_;
  std::uint64_t words_ = 0;
  std::uint64_t documents_ = 0;
  std::uint64_t files_ = 0;
  std::vector<group> groups_;
  std::span<const std::byte> document_table_;
  std::span<const std::byte> members_;
  std::span<const std::byte> name_ends_;
  std::string_view names_;
};

// An index in a mapped file, the checksum of which is compared first; with {.verify = false} it is
// opened equally fast whatever its size (format/opening.hpp). Errors name the file.
class text_index {
 public:
  explicit text_index(const std::filesystem::path& path, const opening& how = {});

  const text_index_view& operator*() const noexcept { return view_; }
  const text_index_view* operator->() const noexcept { return &view_; }
  void verify() const;

 private:
  std::filesystem::path path_;
  mapped_file file_;
  text_index_view view_;
};

// Whether the bytes begin as a text index does.
[[nodiscard]] bool is_text_index(std::span<const std::byte> bytes) noexcept;
[[nodiscard]] bool is_text_index(const std::filesystem::path& path);

}  // namespace bloomery
