// Reads texts in blocks of about 256 KiB. A block ends with a line, or, if a line is longer, after
// a blank or anywhere, so that a text of one endless line takes no more memory than others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input/bytes.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

struct text_block {
  std::string_view text;
  std::string_view file;
  std::uint64_t first_line = 1;
};

class text_blocks {
 public:
  text_blocks(std::vector<std::string> paths, progress& meter);  // none or "-": standard input

  bool next(text_block& out);  // valid until the next call; false after the last

 private:
  bool hand_out(text_block& out, std::size_t size);

  byte_source bytes_;
  std::string buffer_;
  std::size_t used_ = 0;  // bytes of the block that was handed out
  std::size_t size_ = 0;  // bytes in the buffer
  std::uint64_t line_ = 1;
  bool first_ = true;  // whether the next block begins the file
  std::string file_;
};

}  // namespace bloomery::cli
