// What a node has, as hashes of keys that follow their files: the lines of a file, and the names or
// SHA-256 of the files below a folder. A thread waits for changes (inotify), and reads again what
// has changed once it has been quiet for a moment.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bloomery/hash/hash.hpp"

namespace bloomery::cli {

struct resource_options {
  std::vector<std::string> paths;
  bool sha256 = false;  // files of folders by their content, not by their names
  bool crlf = false;    // a CR at the end of a line is no part of the key
  std::uint64_t seed = 0;
  bool quiet = false;
};

class resource_watch {
 public:
  // Reads all for the first time; throws when what is named cannot be read.
  explicit resource_watch(const resource_options& o);
  resource_watch(const resource_watch&) = delete;
  resource_watch& operator=(const resource_watch&) = delete;
  ~resource_watch();

  // The hashes of all keys when they have changed since the last call; at first always.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> take();

 private:
  struct digested {  // a file that need not be read again unless these have changed
    std::uint64_t inode = 0;
    std::int64_t changed = 0;
    std::uint64_t bytes = 0;
    std::string digest;

    [[nodiscard]] bool same_file(const digested& other) const {
      return inode == other.inode && changed == other.changed && bytes == other.bytes;
    }
  };

  void read_all(bool first);
  // `first`: warns of lines that look like those of another system.
  void read_lines(const std::string& path, std::vector<std::uint64_t>& to, bool first) const;
  void read_folder(const std::string& path, std::vector<std::uint64_t>& to);
  std::string digest_of(const std::string& path);
  void watch(const std::string& folder, const std::string& name);
  void follow();
  bool events_concern_us();

  resource_options options_;
  xxh3_hasher hasher_;
  int inotify_ = -1;
  std::map<int, std::set<std::string>> watched_;            // names; an empty set is every name
  std::map<std::string, std::vector<std::uint64_t>> last_;  // lines of files, by path
  std::map<std::string, digested> digests_;
  std::mutex mutex_;
  std::optional<std::vector<std::uint64_t>> news_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace bloomery::cli
