#include "cli/input/text_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cli/input/first_look.hpp"

namespace bloomery::cli {

namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 10U;

std::size_t after_last(std::string_view text, std::string_view any_of) {
  const std::size_t at = text.find_last_of(any_of);
  return at == std::string_view::npos ? 0 : at + 1;
}

// The position at which a full block may end.
std::size_t end_of_block(std::string_view text) {
  if (const std::size_t line = after_last(text, "\n"); line != 0) return line;
  if (const std::size_t blank = after_last(text, " \t\r\v\f"); blank != 0) return blank;
  std::size_t end = text.size();
  while (end + 3 > text.size() && (text[end - 1] & '\xc0') == '\x80') --end;
  return (text[end - 1] & '\x80') != 0 ? end - 1 : end;  // does not split a character
}

}  // namespace

text_blocks::text_blocks(std::vector<std::string> paths, progress& meter)
    : bytes_(std::move(paths), meter), buffer_(block_bytes, '\0') {}

bool text_blocks::hand_out(text_block& out, std::size_t size) {
  out = {.text = std::string_view(buffer_).substr(0, size), .file = file_, .first_line = line_};
  if (std::exchange(first_, false)) refuse_wide_text(out.text, file_);
  used_ = size;
  line_ += static_cast<std::uint64_t>(std::count(out.text.begin(), out.text.end(), '\n'));
  return true;
}

bool text_blocks::next(text_block& out) {
  std::memmove(buffer_.data(), buffer_.data() + used_, size_ - used_);
  size_ -= std::exchange(used_, 0);
  for (;;) {
    if (!bytes_.is_open()) {
      if (!bytes_.open_next()) return false;
      file_ = bytes_.name();
      line_ = 1;
      first_ = true;
    }
    const std::size_t got = bytes_.read(buffer_.data() + size_, buffer_.size() - size_);
    size_ += got;
    if (got == 0 && size_ > 0) return hand_out(out, size_);
    const std::string_view text = std::string_view(buffer_).substr(0, size_);
    if (size_ == buffer_.size()) return hand_out(out, end_of_block(text));
    if (got > 0 && bytes_.paused()) {  // a person types, or a program waits for the answer
      if (const std::size_t lines = after_last(text, "\n"); lines != 0) return hand_out(out, lines);
    }
  }
}

}  // namespace bloomery::cli
