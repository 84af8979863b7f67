// The base of a differential store: records sorted by key in groups of about 4 KiB, and an index.
//
//     0          8                               index                     end - 48
//     +----------+------------+------------+-----+-------------------------+--------+
//     | BLMYBASE | group 0    | group 1    | ... | for each group          | footer |
//     +----------+------------+------------+-----+-------------------------+--------+
//                  key bytes, value bytes (u32), key, value; ...
//
// An entry of the index is the group's offset and checksum, where its first key is and its length
// (4 x u64); the keys follow. The footer is the number of groups and of records, the index's offset
// and checksum, that of the footer so far (5 x u64) and the magic. Little-endian, XXH3-64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/format/file.hpp"

namespace bloomery {

class record_table_writer {
 public:
  explicit record_table_writer(const std::filesystem::path& path);

  // Keys must ascend, and keys and values have at most 1 GiB; otherwise throws errc::bad_argument.
  void add(std::string_view key, std::string_view value);
  void commit();  // gives the complete file its name

 private:
  struct entry {
    std::uint64_t offset;
    std::uint64_t checksum;
    std::string first_key;
  };
  void end_group();

  atomic_file file_;
  std::uint64_t offset_;
  std::uint64_t records_ = 0;
  std::string group_;
  std::string first_key_;
  std::string last_key_;
  std::vector<entry> index_;
};

class record_table {
 public:
  // Checks the footer and the index; a group is checked whenever it is read. Errors name the file.
  explicit record_table(const std::filesystem::path& path);

  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const;
  // Visits all records, in the order of their keys.
  void for_each(
      const std::function<void(std::string_view key, std::string_view value)>& visit) const;

 private:
  struct group {
    std::string_view text;
    std::string_view first_key;
    std::uint64_t checksum;
  };
  [[noreturn]] void throw_damaged() const;
  void read_index(std::string_view all);
  [[nodiscard]] std::string_view checked(const group& g) const;
  void take(std::string_view& text, std::string_view& key, std::string_view& value) const;

  std::filesystem::path path_;
  mapped_file file_;
  std::uint64_t records_ = 0;
  std::vector<group> groups_;
};

}  // namespace bloomery
