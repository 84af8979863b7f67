// The log of a differential store: the changes in their order, chained on disk.
//
//     +------+----------------+----------------+----------------+
//     | seed | record         | record         | record         | ...    memory: the head of each
//     +------+----------------+----------------+----------------+        chain, its last record
//                 ^---previous-----' ^-----------------'
//
// The seed of the hash is drawn for each log, so that nobody can choose keys that are all in one
// chain: a checksum of it and it (u64 each). A record is a checksum of what follows (u64), the end
// of the record before it in its chain (u64, 0 for none), the hash of its key (u64), the lengths of
// key and value (u32 each; 2^32 - 1 for the second: the key was erased), key and value. Integers
// are little-endian. A chain for about every eight records takes a byte of memory a record; an
// index of the keys would take 20 times that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/log_file.hpp"

namespace bloomery {

class change_log {
 public:
  // Reads all of the log and calls seen(hash) for each record. An unfinished record at the end,
  // which a crash leaves, is cut off; other damage throws errc::corrupt.
  change_log(const std::filesystem::path& path,
             const std::function<void(std::uint64_t hash)>& seen);

  // Of a key, for the calls below.
  [[nodiscard]] std::uint64_t hash_of(std::string_view key) const noexcept;

  struct change {
    bool erased = false;
    std::string value;
  };

  void append(std::uint64_t hash, std::string_view key, std::optional<std::string_view> value);
  // The latest change of the key.
  [[nodiscard]] std::optional<change> find(std::uint64_t hash, std::string_view key) const;
  // Visits all changes, the oldest first.
  void for_each(const std::function<void(std::string_view key, const change& c)>& visit) const;
  void sync() { file_.sync(); }
  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }

 private:
  struct record;

  void read_seed();

  // The record that begins at this offset, or nothing when it is incomplete.
  [[nodiscard]] std::optional<record> read(std::uint64_t at, bool with_text) const;
  [[nodiscard]] record read_whole(std::uint64_t at, bool with_text) const;
  [[nodiscard]] bool only_zeros_from(std::uint64_t at) const;
  [[noreturn]] void throw_damaged() const;
  [[nodiscard]] std::uint64_t& head_of(std::uint64_t hash);
  void make_room();
  void link(std::uint64_t hash, std::uint64_t at);

  std::filesystem::path path_;
  log_file file_;
  std::vector<std::uint64_t> heads_;  // offset of the last record of each chain, plus 1
  std::uint64_t records_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace bloomery
