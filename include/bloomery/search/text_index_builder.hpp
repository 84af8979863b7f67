// Builds a text index, or adds documents to one.
//
//     text_index_builder builder({.fpr = 0.001}, ".");
//     const auto file = builder.add_file("notes/monday.txt");
//     builder.add(file, 0, words.all());             // a distinct_hashes of its words
//     builder.save("notes.bloom");
//
// The filter of each document goes to a scratch file; 32 bytes for each document and the paths stay
// in memory. The tables are made from the scratch file at the end, 64 MiB at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "bloomery/format/file.hpp"
#include "bloomery/search/text_index.hpp"

namespace bloomery {

// The different hashes of a document, in an open-addressing table that is reused. The slot of a
// hash depends on a secret, or a document could be written whose hashes all collide.
class distinct_hashes {
 public:
  // The table has 1 GiB at this limit, which no real document reaches.
  static constexpr std::size_t most = std::size_t{1} << 26U;

  distinct_hashes();

  // Throws errc::full at the limit.
  void add(std::uint64_t hash) {
    if (hash == 0) {
      has_zero_ = true;
      return;
    }
    if (2 * (used_ + 1) > table_.size()) grow();
    insert(hash);
  }
  [[nodiscard]] std::size_t size() const noexcept { return used_ + (has_zero_ ? 1 : 0); }
  // The hashes, in no order. The span is valid until the next call.
  [[nodiscard]] std::span<const std::uint64_t> all();
  void clear();

 private:
  void insert(std::uint64_t hash) noexcept {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = mix64(hash, secret_) & mask;
    while (table_[at] != 0 && table_[at] != hash) at = (at + 1) & mask;
    used_ += table_[at] == 0 ? 1U : 0U;
    table_[at] = hash;
  }
  void grow();

  std::uint64_t secret_;
  std::vector<std::uint64_t> table_;  // 0 is an empty cell
  std::size_t used_ = 0;
  bool has_zero_ = false;
  std::vector<std::uint64_t> listed_;
};

class text_index_builder {
 public:
  // The scratch file is made in `directory`. Throws errc::bad_argument.
  text_index_builder(const text_index_options& o, const std::filesystem::path& directory);
  // Starts with the documents and the options of an index, which must outlive the builder.
  text_index_builder(const text_index_view& old, const std::filesystem::path& directory);

  // Several threads may call these three. Documents are ordered by file and line in any case.
  std::uint32_t add_file(std::string_view path);
  void add(std::uint32_t file, std::uint32_t line, std::span<const std::uint64_t> hashes);
  // Drops a file that could not be read to its end.
  void drop(std::uint32_t file);

  // The number of documents that were added, without those of the old index.
  [[nodiscard]] std::uint64_t documents() const noexcept { return added_.size(); }
  [[nodiscard]] const text_index_options& options() const noexcept { return options_; }

  // Writes the index atomically, once; files added again and not dropped replace the old ones.
  void save(const std::filesystem::path& path);

 private:
  struct added_document {
    std::uint32_t file;
    std::uint32_t line;
    std::uint64_t rows;
    std::uint64_t words;
    std::uint64_t offset;  // of its filter in the scratch file
  };
  struct new_file {
    std::string path;
    bool dropped = false;
    // Its number in the index, if it has documents.
    std::uint32_t number = text_index_view::no_file;
  };
  struct layout;
  class writer;

  [[nodiscard]] std::uint64_t rows_for(std::uint64_t words);
  [[nodiscard]] layout plan_layout();

  text_index_options options_;
  const text_index_view* old_ = nullptr;
  std::mutex mutex_;
  scratch_file scratch_;
  std::vector<new_file> files_;
  std::vector<added_document> added_;
  std::map<std::uint64_t, std::uint64_t> rows_;  // the rows for each length class
};

}  // namespace bloomery
