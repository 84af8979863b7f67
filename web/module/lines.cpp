#include "lines.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bloomery/core/error.hpp"

namespace bloomery::web {

namespace {

constexpr std::size_t longest_line = std::size_t{1} << 30U;
constexpr std::string_view mark = "\xef\xbb\xbf";  // of byte order: no part of a text's first line

}  // namespace

char* line_splitter::room(std::size_t bytes) {
  if (left_ != 0) std::memmove(buffer_.get(), buffer_.get() + left_, kept_);
  left_ = 0;
  if (bytes > longest_line || kept_ > longest_line - bytes) {
    detail::fail(errc::no_memory, "a line is longer than " +
                                      detail::to_text(std::uint64_t{longest_line}) +
                                      " bytes: this is no text, or its lines end otherwise");
  }
  const std::size_t needed = kept_ + bytes;
  if (needed > capacity_) {
    const std::size_t larger = std::max(needed, capacity_ + capacity_ / 2);
    auto next = std::make_unique_for_overwrite<char[]>(larger);
    std::memcpy(next.get(), buffer_.get(), kept_);
    buffer_ = std::move(next);
    capacity_ = larger;
  }
  return buffer_.get() + kept_;
}

void line_splitter::begin() {
  keys_.clear();
  records_.clear();
}

void line_splitter::take(const char* from, const char* to) {
  std::string_view record(from, static_cast<std::size_t>(to - from));
  if (std::exchange(at_start_, false) && rules_.end == '\n' && record.starts_with(mark)) {
    record.remove_prefix(mark.size());
  }
  std::string_view key = record;
  if (rules_.crlf && key.ends_with('\r')) key.remove_suffix(1);
  if (key.empty() && !rules_.keep_empty) {
    ++empty_;
    return;
  }
  keys_.push_back(key);
  if (rules_.crlf) records_.push_back(record);
}

void line_splitter::split(std::size_t bytes) {
  begin();
  bytes_ += bytes;
  const char* const piece = buffer_.get() + kept_;
  // Only the new bytes: what is kept has no end in it, however long it is.
  const std::size_t ends = ends_.find({piece, bytes}, rules_.end);
  const char* from = buffer_.get();
  for (std::size_t i = 0; i < ends; ++i) {
    const char* const to = piece + ends_.end(i);
    take(from, to);
    from = to + 1;
  }
  lines_ += keys_.size();
  left_ = static_cast<std::size_t>(from - buffer_.get());
  kept_ = static_cast<std::size_t>(piece + bytes - from);
}

void line_splitter::split_rest() {
  begin();
  const char* const from = buffer_.get() + left_;
  const bool only_mark = at_start_ && rules_.end == '\n' && std::string_view(from, kept_) == mark;
  if (kept_ != 0 && !only_mark) take(from, from + kept_);
  lines_ += keys_.size();
  left_ += kept_;
  kept_ = 0;
}

}  // namespace bloomery::web
