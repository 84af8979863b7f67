// Reads the bytes of the inputs, one file after the other, and decompresses them where needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/input/decompress.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

struct byte_rules {
  // A byte-order mark in front of UTF-8 is no part of the text.
  bool text = true;
  // A filter or an archive in place of a list is a mistake: throws errc::bad_argument. Otherwise it
  // is bytes like others.
  bool lists = true;
  // What is named may be meant as a key: the error about a file that is not there says so.
  bool keys = false;
};

// Bytes of a regular file that are still to be read, in whatever thread.
class unread_bytes {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  // Reads them; fewer if the file has become shorter.
  std::size_t read(char* to, const std::string& name) const;

 private:
  friend class byte_source;
  struct descriptor;

  std::shared_ptr<const descriptor> file_;
  std::uint64_t at_ = 0;
  std::size_t size_ = 0;
};

class byte_source {
 public:
  // No paths means standard input; so does "-". Opens nothing yet.
  byte_source(std::vector<std::string> paths, progress& meter, const byte_rules& rules = {});
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  ~byte_source();

  bool open_next();  // false after the last
  [[nodiscard]] bool is_open() const { return file_ != nullptr; }
  // Reads some bytes of the open file, at most `room`. At its end returns 0 and closes it.
  std::size_t read(char* to, std::size_t room);
  // Leaves about `bytes` bytes unread that end with `end`, and goes on behind them. They begin with
  // the last `before` bytes that `read` gave. Nothing when the file is packed or not a regular one,
  // or when it has no such bytes.
  std::optional<unread_bytes> leave_unread(std::size_t before, std::size_t bytes, char end);
  void close();  // the rest of the open file is not wanted
  // Whether there is nothing to read right now: a person or a slow program writes the input.
  [[nodiscard]] bool paused() const;
  [[nodiscard]] const std::string& name() const;  // of the open or last file, for messages

  [[nodiscard]] bool rereadable() const;  // whether every input is a regular file
  void rewind();

 private:
  [[nodiscard]] std::uint64_t total_bytes() const;
  std::size_t read_some(char* to, std::size_t room);
  std::size_t without_mark(char* to, std::size_t got, std::size_t room);
  std::size_t read_raw(char* to, std::size_t room);
  std::size_t read_packed(char* to, std::size_t room);
  void recognise();
  [[nodiscard]] int fd() const;
  [[noreturn]] void fail(const char* doing, int reason) const;

  std::vector<std::string> paths_;
  progress* meter_;
  std::size_t current_ = 0;  // files opened so far
  std::shared_ptr<const unread_bytes::descriptor> file_;
  bool regular_ = false;  // of the open file
  byte_rules rules_;
  bool at_start_ = true;  // of the open file
  std::string ahead_;     // raw bytes that were read and not used yet,
  std::size_t used_ = 0;  // how many of them were used
  std::unique_ptr<unpacker> unpacker_;
};

}  // namespace bloomery::cli
