// Reads the bytes of the inputs, one file after the other, and decompresses them where needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
};

class byte_source {
 public:
  // No paths means standard input; so does "-". Opens nothing yet.
  byte_source(std::vector<std::string> paths, progress& meter, const byte_rules& rules = {});
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  ~byte_source();

  bool open_next();  // false after the last
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  // Reads some bytes of the open file, at most `room`. At its end returns 0 and closes it.
  std::size_t read(char* to, std::size_t room);
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
  [[noreturn]] void fail(const char* doing, int reason) const;

  std::vector<std::string> paths_;
  progress* meter_;
  std::size_t current_ = 0;  // files opened so far
  int fd_ = -1;
  byte_rules rules_;
  bool at_start_ = true;  // of the open file
  std::string ahead_;     // raw bytes that were read and not used yet,
  std::size_t used_ = 0;  // how many of them were used
  std::unique_ptr<unpacker> unpacker_;
};

}  // namespace bloomery::cli
