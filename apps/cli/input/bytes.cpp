#include "cli/input/bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "bloomery/core/error.hpp"
#include "cli/output/streams.hpp"

namespace bloomery::cli {

namespace {

[[noreturn]] void throw_failed(const std::string& name, const char* doing, int reason) {
  throw error(errc::io, fmt::format("{}: {} failed: {}", name, doing, std::strerror(reason)));
}

}  // namespace

struct unread_bytes::descriptor {
  explicit descriptor(int number) : fd(number) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd > STDIN_FILENO) ::close(fd);
  }

  int fd;
};

std::size_t unread_bytes::read(char* to, const std::string& name) const {
  std::size_t done = 0;
  while (done < size_) {
    const ssize_t got = ::pread(file_->fd, to + done, size_ - done, static_cast<off_t>(at_ + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_failed(name, "reading", errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

byte_source::byte_source(std::vector<std::string> paths, progress& meter, const byte_rules& rules)
    : paths_(std::move(paths)), meter_(&meter), rules_(rules) {
  if (paths_.empty()) paths_.emplace_back("-");
  meter_->set_total(total_bytes());
}

byte_source::~byte_source() { close(); }

void byte_source::close() { file_.reset(); }

int byte_source::fd() const { return file_->fd; }

const std::string& byte_source::name() const {
  static const std::string standard_input = "standard input";
  const std::string& path = paths_[current_ == 0 ? 0 : current_ - 1];
  return path == "-" ? standard_input : path;
}

void byte_source::fail(const char* doing, int reason) const { throw_failed(name(), doing, reason); }

bool byte_source::rereadable() const {
  return std::ranges::all_of(paths_, [](const std::string& path) {
    struct stat info {};
    return path != "-" && ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  });
}

std::uint64_t byte_source::total_bytes() const {
  std::uint64_t total = 0;
  for (const std::string& path : paths_) {
    struct stat info {};
    const int status = path == "-" ? ::fstat(STDIN_FILENO, &info) : ::stat(path.c_str(), &info);
    if (status != 0 || !S_ISREG(info.st_mode)) return 0;
    total += static_cast<std::uint64_t>(info.st_size);
  }
  return total;
}

void byte_source::rewind() {
  close();
  current_ = 0;
  meter_->restart();
}

bool byte_source::open_next() {
  if (current_ == paths_.size()) return false;
  const std::string& path = paths_[current_++];
  if (path == "-") check_standard_input_has_keys();
  const int opened = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool word = rules_.keys && path.find_first_of("/.") == std::string::npos;
  if (opened < 0 && errno == ENOENT && word) {
    throw error(errc::io, fmt::format("{0}: there is no such file; if it is a key, give it to "
                                      "standard input, as with \"echo '{0}' |\"",
                                      path));
  }
  if (opened < 0) fail("opening", errno);
  file_ = std::make_shared<const unread_bytes::descriptor>(opened);
  struct stat info {};
  // Standard input keeps its offset for who reads it next.
  regular_ = path != "-" && ::fstat(opened, &info) == 0 && S_ISREG(info.st_mode);
  recognise();
  return true;
}

// Reads no more bytes than are needed to recognise compression, because more may come much later.
void byte_source::recognise() {
  ahead_.clear();
  used_ = 0;
  do {
    char next[magic_bytes];
    const std::size_t got = read_raw(next, magic_bytes - ahead_.size());
    if (got == 0) break;
    ahead_.append(next, got);
  } while (may_become_magic(ahead_));
  unpacker_ = unpacker_for(ahead_);
  at_start_ = true;
  if (const std::string_view mistake = no_list(ahead_); rules_.lists && !mistake.empty()) {
    throw error(errc::bad_argument, fmt::format("{}: {}", name(), mistake));
  }
}

bool byte_source::paused() const {
  if (used_ < ahead_.size()) return false;
  struct pollfd state = {.fd = fd(), .events = POLLIN, .revents = 0};
  return ::poll(&state, 1, 0) == 0;
}

std::size_t byte_source::read(char* to, std::size_t room) {
  std::size_t got = read_some(to, room);
  if (std::exchange(at_start_, false) && rules_.text) got = without_mark(to, got, room);
  if (got == 0) close();
  return got;
}

std::optional<unread_bytes> byte_source::leave_unread(std::size_t before, std::size_t bytes,
                                                      char end) {
  constexpr std::size_t look_at = std::size_t{4} << 10U;
  if (!regular_ || unpacker_ != nullptr || at_start_ || used_ < ahead_.size() || bytes < look_at ||
      before >= bytes - look_at) {
    return {};
  }
  const off_t now = ::lseek(fd(), 0, SEEK_CUR);
  if (now < static_cast<off_t>(before)) return {};
  unread_bytes result;
  result.at_ = static_cast<std::uint64_t>(now) - before;
  char last[look_at];
  const auto place = static_cast<off_t>(result.at_ + (bytes - look_at));
  // Near the end of the file there are fewer; they, and whatever goes wrong, are for `read`.
  if (::pread(fd(), last, look_at, place) != static_cast<ssize_t>(look_at)) return {};
  const std::size_t found = std::string_view(last, look_at).rfind(end);
  if (found == std::string_view::npos) return {};
  result.size_ = bytes - look_at + found + 1;
  const auto behind = static_cast<off_t>(result.at_ + result.size_);
  if (::lseek(fd(), behind, SEEK_SET) != behind) fail("seeking in the file", errno);
  result.file_ = file_;
  meter_->advance(result.size_ - before);
  return result;
}

std::size_t byte_source::read_some(char* to, std::size_t room) {
  if (unpacker_ != nullptr) return read_packed(to, room);
  if (used_ == ahead_.size()) return read_raw(to, room);
  const std::size_t got = ahead_.copy(to, room, used_);
  used_ += got;
  return got;
}

// Takes the mark away from the first bytes of a file, and reads more if nothing else was there.
std::size_t byte_source::without_mark(char* to, std::size_t got, std::size_t room) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  while (got > 0 && got < mark.size() && mark.starts_with(std::string_view(to, got))) {
    const std::size_t more = read_some(to + got, room - got);
    if (more == 0) return got;
    got += more;
  }
  if (!std::string_view(to, got).starts_with(mark)) return got;
  got -= mark.size();
  std::memmove(to, to + mark.size(), got);
  return got == 0 ? read_some(to, room) : got;
}

std::size_t byte_source::read_raw(char* to, std::size_t room) {
  constexpr int wait_ms = 200;  // wakes up now and then to see whether a signal asks for progress
  struct pollfd state = {.fd = fd(), .events = POLLIN, .revents = 0};
  int ready = 0;
  while ((ready = ::poll(&state, 1, wait_ms)) == 0 || (ready < 0 && errno == EINTR)) {
    meter_->answer_signal();
  }
  ssize_t got = 0;
  while ((got = ::read(fd(), to, room)) < 0 && errno == EINTR) meter_->answer_signal();
  if (got < 0) fail("reading", errno);
  meter_->advance(static_cast<std::uint64_t>(got));
  return static_cast<std::size_t>(got);
}

std::size_t byte_source::read_packed(char* to, std::size_t room) {
  constexpr std::size_t piece = std::size_t{64} << 10U;
  try {
    for (;;) {
      if (used_ == ahead_.size()) {
        ahead_.resize(piece);
        ahead_.resize(read_raw(ahead_.data(), piece));
        used_ = 0;
      }
      if (ahead_.empty() && unpacker_->complete()) return 0;
      const std::string_view in = std::string_view(ahead_).substr(used_);
      const unpacker::step done = unpacker_->unpack(in, to, room);
      used_ += done.taken;
      if (done.made != 0) return done.made;
      if (in.empty()) {
        if (unpacker_->complete()) return 0;
        throw error(errc::corrupt, "the compressed data ends too early");
      }
    }
  } catch (const error& e) {
    if (e.code() != errc::corrupt) throw;
    throw error(e.code(), fmt::format("{}: {}", name(), e.what()));
  }
}

}  // namespace bloomery::cli
