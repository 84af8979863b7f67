#include "cli/lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "bloomery/core/error.hpp"

namespace bloomery::cli {

namespace {

[[noreturn]] void fail(const std::string& name, const char* doing, int reason) {
  throw error(errc::io, fmt::format("{}: {} failed: {}", name == "-" ? "standard input" : name,
                                    doing, std::strerror(reason)));
}

}  // namespace

line_source::line_source(std::vector<std::string> paths, bool keep_empty, progress& meter)
    : paths_(std::move(paths)), keep_empty_(keep_empty), meter_(&meter) {
  if (paths_.empty()) paths_.emplace_back("-");
  meter_->set_total(total_bytes());
}

line_source::~line_source() {
  if (fd_ > STDIN_FILENO) ::close(fd_);
}

bool line_source::rereadable() const {
  return std::ranges::all_of(paths_, [](const std::string& path) {
    struct stat info {};
    return path != "-" && ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  });
}

std::uint64_t line_source::total_bytes() const {
  std::uint64_t total = 0;
  for (const std::string& path : paths_) {
    struct stat info {};
    const int status = path == "-" ? ::fstat(STDIN_FILENO, &info) : ::stat(path.c_str(), &info);
    if (status != 0 || !S_ISREG(info.st_mode)) return 0;
    total += static_cast<std::uint64_t>(info.st_size);
  }
  return total;
}

void line_source::rewind() {
  current_ = 0;
  sequence_ = 0;
  meter_->restart();
}

bool line_source::next(chunk& out, want wanted) {
  {
    const std::lock_guard lock(mutex_);
    if (!fill(out)) return false;
    out.sequence = sequence_++;
  }
  wanted == want::keys ? split(out) : count(out);
  meter_->count_keys(out.number);
  return true;
}

bool line_source::open_next() {
  if (current_ == paths_.size()) return false;
  const std::string& path = paths_[current_++];
  fd_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) fail(path, "opening", errno);
  return true;
}

// Nothing to read right now, so a person or a slow program is at the other end.
bool line_source::paused() const {
  struct pollfd state = {.fd = fd_, .events = POLLIN, .revents = 0};
  return ::poll(&state, 1, 0) == 0;
}

std::size_t line_source::read_some(chunk& c) {
  constexpr std::size_t least = chunk_bytes / 4;
  if (c.capacity_ - c.size_ < least) {
    const std::size_t larger = std::max(chunk_bytes, c.capacity_ + c.capacity_ / 2 + least);
    auto buffer = std::make_unique_for_overwrite<char[]>(larger);
    std::copy_n(c.buffer_.get(), c.size_, buffer.get());
    c.buffer_ = std::move(buffer);
    c.capacity_ = larger;
  }
  ssize_t got = 0;
  do {
    got = ::read(fd_, c.buffer_.get() + c.size_, c.capacity_ - c.size_);
  } while (got < 0 && errno == EINTR);
  if (got < 0) fail(name(), "reading", errno);
  c.size_ += static_cast<std::size_t>(got);
  meter_->advance(static_cast<std::uint64_t>(got));
  return static_cast<std::size_t>(got);
}

// Reads until there are whole lines enough, keeping what follows the last line end for later.
bool line_source::fill(chunk& c) {
  c.size_ = 0;
  if (c.capacity_ < carry_.size()) {
    c.buffer_ = std::make_unique_for_overwrite<char[]>(carry_.size());
    c.capacity_ = carry_.size();
  }
  std::ranges::copy(carry_, c.buffer_.get());
  c.size_ = carry_.size();
  carry_.clear();
  std::size_t searched = 0;  // no line end before this
  for (;;) {
    if (fd_ < 0 && !open_next()) return false;
    const std::size_t got = read_some(c);
    if (got == 0) {
      if (fd_ != STDIN_FILENO) ::close(fd_);
      fd_ = -1;
      if (c.size_ != 0) return true;  // the last line of a file needs no line end
      continue;
    }
    const std::size_t end = c.text().substr(searched).rfind('\n');
    if (end == std::string_view::npos) {
      if (c.size_ >= longest_line) {
        throw error(errc::io,
                    fmt::format("{}: a line is longer than 1 GiB; are these lines?", name()));
      }
      searched = c.size_;
      continue;
    }
    const std::size_t lines = searched + end + 1;
    if (c.size_ < chunk_bytes && !paused()) continue;
    carry_ = c.text().substr(lines);
    c.size_ = lines;
    return true;
  }
}

void line_source::split(chunk& c) const {
  const std::string_view text = c.text();
  const std::size_t ends = c.ends_.find(text, '\n');
  if (c.lines_.size() <= ends) c.lines_.resize(ends + ends / 4 + 1);
  std::size_t from = 0;
  std::size_t found = 0;
  const auto take = [&](std::size_t end) {
    c.lines_[found] = {text.data() + from, end - from};
    found += end > from || keep_empty_ ? 1U : 0U;
    from = end + 1;
  };
  for (std::size_t i = 0; i < ends; ++i) take(c.ends_.end(i));
  if (from < text.size()) take(text.size());
  c.number = found;
  c.keys = {c.lines_.data(), found};
}

void line_source::count(chunk& c) const {
  const std::string_view text = c.text();
  const record_count ends = count_records(text, '\n');
  const bool open_end = !text.empty() && text.back() != '\n';
  c.number = (keep_empty_ ? ends.all : ends.not_empty) + (open_end ? 1U : 0U);
  c.keys = {};
}

}  // namespace bloomery::cli
