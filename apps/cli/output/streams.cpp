#include "cli/output/streams.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>
#include <utility>

#include "bloomery/core/error.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece_bytes = std::size_t{256} << 10U;

bool input_taken = false;                                          // standard input
std::vector<std::pair<std::string, std::string>> names_of_copies;  // paths, and what they are

[[noreturn]] void throw_io(const std::string& name, const char* doing, int reason) {
  throw error(errc::io, fmt::format("{}: {} failed: {}", name, doing, std::strerror(reason)));
}

fs::path temporary_folder() {
  std::error_code none;
  const fs::path folder = fs::temp_directory_path(none);
  return folder.empty() ? fs::path("/tmp") : folder;
}

struct copy {  // a file without a name; it lives as long as it is open
  int fd;
  std::string path;
};

copy make_copy(const std::string& name) {
  const fs::path folder = temporary_folder();
  int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {  // a file system where every file has a name
    std::string path = (folder / "bloomery-XXXXXX").string();
    fd = ::mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0) throw_io(path, "creating a temporary file", errno);
    ::unlink(path.c_str());
  }
  const copy made{.fd = fd, .path = fmt::format("/proc/self/fd/{}", fd)};
  names_of_copies.emplace_back(made.path, name);
  return made;
}

std::size_t read_some(int fd, std::span<char> to, const std::string& name) {
  ssize_t got = 0;
  while ((got = ::read(fd, to.data(), to.size())) < 0 && errno == EINTR) continue;
  if (got < 0) throw_io(name, "reading", errno);
  return static_cast<std::size_t>(got);
}

void write_all(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_io(name, "writing", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void copy_all(int from, int to, const std::string& from_name, const std::string& to_name) {
  std::vector<char> piece(piece_bytes);
  while (const std::size_t got = read_some(from, piece, from_name)) {
    write_all(to, {piece.data(), got}, to_name);
  }
}

void check_magic(int fd, int to, const std::string& name) {
  std::string start(filter_magic.size(), '\0');
  std::size_t size = 0;
  while (size < start.size()) {
    const std::size_t got = read_some(fd, std::span(start).subspan(size), name);
    if (got == 0) break;
    size += got;
  }
  if (start != filter_magic) {
    throw error(errc::not_bloomery,
                size == 0 ? fmt::format("{}: there is nothing in it", name)
                          : fmt::format("{}: it does not begin with {}, so it is no filter", name,
                                        filter_magic));
  }
  write_all(to, start, name);
}

std::string read_stream(int fd, const std::string& name, content wanted) {
  if (::isatty(fd) != 0) {
    throw error(errc::bad_argument,
                fmt::format("{}: a filter does not come from a terminal", name));
  }
  const copy made = make_copy(name);
  const std::string there = fmt::format("the temporary copy of {}", name);
  if (wanted == content::filter) check_magic(fd, made.fd, name);
  copy_all(fd, made.fd, name, there);
  return made.path;
}

bool same_file(const struct stat& a, const struct stat& b) {
  return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool look(const std::string& path, int standard, struct stat& info) {
  return (path == "-" ? ::fstat(standard, &info) : ::stat(path.c_str(), &info)) == 0;
}

bool is_terminal(const std::string& path, const struct stat& info) {
  if (path == "-") return ::isatty(STDOUT_FILENO) != 0;
  if (!S_ISCHR(info.st_mode)) return false;
  const int fd = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;  // writing will say why
  const bool terminal = ::isatty(fd) != 0;
  ::close(fd);
  return terminal;
}

// The limit of a container. What is used of it is mostly the cache of files, which gives way.
std::uint64_t memory_of_group() {
  std::uint64_t value = 0;
  return std::ifstream("/sys/fs/cgroup/memory.max") >> value ? value : UINT64_MAX;  // or "max"
}

}  // namespace

std::string as_file(const std::string& path, content wanted) {
  const std::string name = name_of_input(path);
  struct stat info {};
  if (path == "-" && std::exchange(input_taken, true)) {
    throw error(errc::bad_argument, "standard input can be one filter, not several");
  }
  if (!look(path, STDIN_FILENO, info)) {
    if (path == "-") throw_io(name, "reading", errno);
    return path;  // opening it will say why not
  }
  if (S_ISREG(info.st_mode) && path == "-") {
    names_of_copies.emplace_back("/proc/self/fd/0", name);
    return "/proc/self/fd/0";
  }
  if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) return path;
  if (path == "-") return read_stream(STDIN_FILENO, name, wanted);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_io(name, "opening", errno);
  const struct closer {
    int fd;
    ~closer() { ::close(fd); }
  } closes{fd};
  return read_stream(fd, name, wanted);
}

std::vector<std::string> as_files(std::vector<std::string> paths) {
  for (std::string& path : paths) path = as_file(path);
  return paths;
}

void check_standard_input_has_keys() {
  if (!input_taken) return;
  throw error(errc::bad_argument,
              "standard input is the filter already; the keys must come from a file");
}

std::string name_of_input(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string with_names(std::string text) {
  for (const auto& [path, name] : names_of_copies) {
    for (std::size_t at = 0; (at = text.find(path, at)) != std::string::npos; at += name.size()) {
      const std::size_t end = at + path.size();
      if (end < text.size() && text[end] >= '0' && text[end] <= '9') continue;  // another number
      text.replace(at, path.size(), name);
    }
  }
  return text;
}

// Root has every right, and still a file that nobody may write is not meant to be changed.
replaced_file::replaced_file(std::string path) : path_(std::move(path)) {
  struct stat info {};
  if (::stat(path_.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  owner_ = info.st_uid;
  if ((info.st_mode & 0222U) != 0 && ::access(path_.c_str(), W_OK) == 0) return;
  const bool ours = info.st_uid == ::geteuid();
  throw error(errc::io, fmt::format("{}: it is read-only (mode {:04o}{}); {}", path_,
                                    info.st_mode & 07777U, ours ? "" : ", and not yours",
                                    ours ? "'chmod u+w' changes that"
                                         : "ask its owner, or use a file of your own"));
}

void replaced_file::tell_owner(bool quiet) {
  struct stat info {};
  if (!owner_ || ::stat(path_.c_str(), &info) != 0) return;
  if (std::exchange(owner_, info.st_uid) == info.st_uid || quiet) return;
  tell("bloomery: warning: {} belonged to another user and is yours now\n", path_);
}

namespace {

// A mistake that would only show when the work is done.
void check_folder_of(const std::string& path) {
  if (path.empty()) throw error(errc::bad_argument, "the name of the output is empty");
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos || slash == 0) return;
  struct stat info {};
  const std::string folder = path.substr(0, slash);
  if (::stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return;
  throw error(errc::io, fmt::format("{}: there is no folder {}", path, folder));
}

}  // namespace

output_file::output_file(const std::string& path, const std::vector<std::string>& inputs, bool json)
    : path_(path) {
  struct stat info {};
  const bool there = look(path, STDOUT_FILENO, info);
  if (path == "-" && json) {
    throw error(errc::bad_argument, "--json and -o - both go to standard output; give -o a file");
  }
  if (there && is_terminal(path, info)) {
    throw error(errc::bad_argument,
                "a filter is not written to a terminal; redirect standard output or name a file");
  }
  for (const std::string& input : inputs) {
    struct stat other {};
    if (!there || !look(input, STDIN_FILENO, other) || !same_file(info, other)) continue;
    throw error(errc::bad_argument,
                fmt::format("{} is an input, and writing {} would destroy it", input,
                            path == input ? "there"
                            : path == "-" ? "standard output"
                                          : path));
  }
  if (there && S_ISDIR(info.st_mode)) {
    throw error(errc::bad_argument, fmt::format("{} is a folder; name a file in it", path));
  }
  if (path != "-" && !there) check_folder_of(path);
  if (path != "-" && (!there || S_ISREG(info.st_mode))) {
    replaced_.emplace(path);
    return;
  }
  target_ = path;
  const copy made = make_copy(path == "-" ? "standard output" : path);
  fd_ = made.fd;
  path_ = made.path;
}

void wait_for_lock(std::optional<file_lock>& lock, const std::string& path,
                   const change_manners& m) {
  constexpr std::uint64_t patience_ms = 1000;
  bool said = m.quiet;
  lock.emplace(path, [&](std::uint64_t so_far) {
    if (!m.wait) {
      throw error(errc::io, fmt::format("{}: another program is changing it", path));
    }
    if (so_far < patience_ms || std::exchange(said, true)) return;
    tell("bloomery: waiting for another program that is changing {}\n", path);
  });
}

void output_file::hold(const std::vector<std::string>& sources, const change_manners& m) {
  const auto replaces = [this](const std::string& source) {
    struct stat info {};
    struct stat other {};
    return fd_ < 0 && ::stat(path_.c_str(), &info) == 0 && look(source, STDIN_FILENO, other) &&
           same_file(info, other);
  };
  for (const std::string& source : sources) {
    if (!replaces(source)) continue;
    if (!lock_) wait_for_lock(lock_, path_, m);
    // Standard input was opened before the lock was there, and may be what the file was before.
    if (replaces(source)) continue;
    throw error(errc::io, fmt::format("{}: another program has changed {} meanwhile; start again",
                                      name_of_input(source), path_));
  }
}

output_file::~output_file() {
  if (fd_ >= 0) ::close(fd_);
}

std::string output_file::name() const { return with_names(path_); }

std::string output_file::folder() const {
  if (fd_ >= 0) return temporary_folder().string();
  const fs::path parent = fs::path(path_).parent_path();
  return parent.empty() ? "." : parent.string();
}

std::uint64_t output_file::bytes() const { return fs::file_size(path_); }

void output_file::need(std::uint64_t bytes) const {
  struct statvfs room {};
  // Without an answer, or in a file system without blocks, creating the file will say why not.
  if (::statvfs(folder().c_str(), &room) != 0 || room.f_blocks == 0) return;
  const std::uint64_t left = std::uint64_t{room.f_bavail} * room.f_frsize;
  if (bytes <= left) return;
  throw error(errc::io, fmt::format("{}: the file would have {}, but {} has only {} free; --force "
                                    "tries it all the same",
                                    name(), as_bytes(static_cast<double>(bytes)), folder(),
                                    as_bytes(static_cast<double>(left))));
}

void output_file::finish(bool quiet) {
  if (replaced_) return replaced_->tell_owner(quiet);
  if (::lseek(fd_, 0, SEEK_SET) < 0) throw_io(name(), "reading", errno);
  if (target_ == "-") return copy_all(fd_, STDOUT_FILENO, name(), name());
  const int to = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  if (to < 0) throw_io(name(), "opening", errno);
  const struct closer {
    int fd;
    ~closer() { ::close(fd); }
  } closes{to};
  copy_all(fd_, to, name(), name());
}

std::uint64_t available_memory() {
  std::ifstream in("/proc/meminfo");
  std::string name;
  std::uint64_t kib = 0;
  std::string unit;
  while (in >> name >> kib && std::getline(in, unit)) {
    if (name == "MemAvailable:") return std::min(kib * 1024, memory_of_group());
  }
  return 0;
}

void need_memory(std::uint64_t bytes, std::string_view what, std::string_view advice) {
  const std::uint64_t available = available_memory();
  if (available == 0 || bytes <= available) return;
  throw error(errc::no_memory, fmt::format("{} needs {} of memory, but only {} are free; {}", what,
                                           as_bytes(static_cast<double>(bytes)),
                                           as_bytes(static_cast<double>(available)), advice));
}

}  // namespace bloomery::cli
