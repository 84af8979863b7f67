// A file that only grows: records in the order in which they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace bloomery {

// What was appended is on disk, and survives a crash of the machine, once sync() has returned.
class log_file {
 public:
  explicit log_file(const std::filesystem::path& path);  // opens the file, or makes an empty one
  log_file(const log_file&) = delete;
  log_file& operator=(const log_file&) = delete;
  ~log_file();

  void append(std::span<const std::byte> bytes);  // all of the bytes or none of them
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  void sync();
  // Forgets what follows: the part of a record that a crash left behind.
  void cut(std::uint64_t size);
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  std::filesystem::path path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace bloomery
