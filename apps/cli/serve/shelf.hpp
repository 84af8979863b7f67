// The filters of a folder, as a server has them: each with its present version and some before it.
//
//     folder:   words   hosts   ...           files are replaced by renaming, as Bloomery does
//     shelf:    words -> now, before, before   (mapped; what a client has may be an older one)
//
// A thread waits for changes (inotify, and it looks around from time to time where that is silent),
// verifies what is new, and swaps it in. Whoever holds an older state goes on with it: a request
// sees one version from its beginning to its end. A file that is damaged is told of and left out,
// and the version before it stays.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bloomery/format/any_filter.hpp"
#include "bloomery/format/file.hpp"

namespace bloomery::cli {

struct file_identity {  // a file that need not be read again unless these have changed
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;

  [[nodiscard]] bool same_place(const file_identity& other) const {
    return device == other.device && inode == other.inode;
  }
  friend bool operator==(const file_identity&, const file_identity&) = default;
};

// One version of a filter. The image is the plain one, also where the file is packed.
struct shelf_version {
  std::string name;  // version_name
  mapped_file image;
  any_filter filter;
  std::string refusal;  // why it cannot be asked; empty when it can
  file_identity file;
  std::int64_t opened = 0;  // seconds of a steady clock
  bool copied = false;      // whether its bytes are not those of the file any more

  [[nodiscard]] std::span<const std::byte> bytes() const { return image.bytes(); }
};
using version_ptr = std::shared_ptr<const shelf_version>;

struct shelf_filter {
  version_ptr now;
  std::vector<version_ptr> before;  // the latest first

  // The version of this name; null when it is not kept.
  [[nodiscard]] version_ptr find(std::string_view version) const;
};
using shelf_state = std::map<std::string, shelf_filter, std::less<>>;

struct shelf_options {
  std::string folder;
  std::size_t keep = 10;                               // versions before the present one
  std::uint64_t keep_bytes = std::uint64_t{4} << 30U;  // of all filters together
  bool copy = false;                                   // into memory, not mapped
  opening how = {};                                    // the limit for packed files
  std::function<std::shared_ptr<const any_hasher>(const image_header&)> hasher;
  std::function<void(const std::string&)> report = [](const std::string&) {};
};

// Whether a file of this name is served at all.
[[nodiscard]] bool is_served_name(std::string_view name);

class shelf {
 public:
  // Reads the folder once; throws errc::io when it cannot be read.
  explicit shelf(shelf_options o);
  shelf(const shelf&) = delete;
  shelf& operator=(const shelf&) = delete;
  ~shelf();

  void follow();  // starts the thread
  void scan();    // looks at the folder now, in the calling thread

  [[nodiscard]] std::shared_ptr<const shelf_state> state() const;
  [[nodiscard]] const std::string& folder() const { return options_.folder; }
  [[nodiscard]] std::uint64_t swaps() const { return swaps_; }
  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }

 private:
  // Versions whose last user has gone. Unmapping a gigabyte takes milliseconds, which is nothing
  // for a thread that answers requests.
  class attic;

  void scan(const std::set<std::string>* told);  // of what the system told of; null: of all
  version_ptr open(const std::string& name, const file_identity& file);
  version_ptr open_or_report(const std::string& name, const file_identity& file);
  void take(shelf_filter& f, version_ptr fresh) const;
  void drop_surplus(shelf_state& next) const;
  void publish(shelf_state next);
  void run(int inotify);

  shelf_options options_;
  std::shared_ptr<attic> attic_;
  std::mutex scanning_;
  std::map<std::string, file_identity> refused_;  // no filters, or damaged; told of once
  mutable std::mutex mutex_;
  std::shared_ptr<const shelf_state> state_;
  std::atomic<std::uint64_t> swaps_ = 0;
  std::atomic<std::uint64_t> damaged_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace bloomery::cli
