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

bool line_source::next(chunk& out) {
  {
    const std::lock_guard lock(mutex_);
    out.text = std::exchange(carry_, {});
    if (!fill(out.text)) return false;
    out.sequence = sequence_++;
  }
  split(out);
  meter_->count_keys(out.keys.size());
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

std::size_t line_source::read_some(std::string& text, std::size_t room) {
  const std::size_t before = text.size();
  text.resize(before + room);
  ssize_t got = 0;
  do {
    got = ::read(fd_, text.data() + before, room);
  } while (got < 0 && errno == EINTR);
  if (got < 0) fail(name(), "reading", errno);
  text.resize(before + static_cast<std::size_t>(got));
  meter_->advance(static_cast<std::uint64_t>(got));
  return static_cast<std::size_t>(got);
}

// Reads until there are whole lines enough, keeping what follows the last line end for later. `text` holds
// the carried start of a line and gets the rest.
bool line_source::fill(std::string& text) {
  std::size_t searched = 0;  // no line end before this
  for (;;) {
    if (fd_ < 0 && !open_next()) return false;
    text.reserve(std::max(chunk_bytes, text.size() + chunk_bytes / 4));
    const std::size_t got = read_some(text, text.capacity() - text.size());
    if (got == 0) {
      if (fd_ != STDIN_FILENO) ::close(fd_);
      fd_ = -1;
      if (!text.empty()) return true;  // the last line of a file needs no line end
      continue;
    }
    const std::size_t end = std::string_view(text).substr(searched).rfind('\n');
    if (end == std::string_view::npos) {
      if (text.size() >= longest_line) {
        throw error(errc::io,
                    fmt::format("{}: a line is longer than 1 GiB; are these lines?", name()));
      }
      searched = text.size();
      continue;
    }
    const std::size_t lines = searched + end + 1;
    if (text.size() < chunk_bytes && !paused()) continue;
    carry_.assign(text, lines);
    text.resize(lines);
    return true;
  }
}

void line_source::split(chunk& c) const {
  c.keys.clear();
  const std::string_view text = c.text;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    if (end > from || keep_empty_) c.keys.push_back(text.substr(from, end - from));
    from = end + 1;
  }
}

}  // namespace bloomery::cli
