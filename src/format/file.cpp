#include "bloomery/format/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/format/folder.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/random_seed.hpp"
#include "core/changing_errors.hpp"
#include "image_pieces.hpp"
#include "log_file.hpp"

namespace bloomery {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_io(const std::string& doing, const fs::path& path, int reason) {
  const std::string what =
      path.string() + ": " + doing + " failed: " + std::generic_category().message(reason);
#if defined(__cpp_exceptions)
  if (reason == ENOSPC || reason == EDQUOT) throw disk_full(what);
#endif
  detail::fail(errc::io, what);
}

int open_or_throw(const fs::path& path, int flags, mode_t mode = 0) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (fd < 0) throw_io("opening", path, errno);
  return fd;
}

// The system calls may do less than asked and may be interrupted; `call` gets what is left.
template <class Call>
void transfer_all(std::size_t size, const fs::path& path, const char* doing, Call call) {
  for (std::size_t done = 0; done < size;) {
    // Linux moves at most 2 GiB at once; smaller pieces also keep signals prompt.
    const std::size_t piece = std::min<std::size_t>(size - done, std::size_t{1} << 28U);
    const ssize_t moved = call(done, piece);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) throw_io(doing, path, errno);
    if (moved == 0) detail::fail(errc::io, path.string() + ": " + doing + " ended early");
    done += static_cast<std::size_t>(moved);
  }
}

void append_all(int fd, std::span<const std::byte> bytes, const fs::path& path) {
  transfer_all(bytes.size(), path, "writing", [&](std::size_t done, std::size_t piece) {
    return ::write(fd, bytes.data() + done, piece);
  });
}

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// A file without a name in this directory, or -1 where the file system has no such thing.
int open_nameless(const fs::path& directory) {
#ifdef O_TMPFILE
  // It gets its name through /proc at the end, so without /proc it could not be kept.
  if (::access("/proc/self/fd", F_OK) == 0) {
    return ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  }
#endif
  errno = EOPNOTSUPP;
  return -1;
}

// What a chain of links points to, existing or not: that is to be replaced, not the link.
fs::path behind_links(fs::path path) {
  std::error_code ignored;
  for (int hops = 0; fs::is_symlink(path, ignored); ++hops) {
    if (hops == 40) throw_io("writing", path, ELOOP);
    path = directory_of(path) / fs::read_symlink(path);
  }
  return path;
}

bool nameless_unsupported(int reason) {
  return reason == EOPNOTSUPP || reason == EISDIR || reason == EINVAL || reason == ENOENT;
}

// Adds the path to the error, which comes from code that sees bytes only.
template <class Work>
auto naming(const fs::path& path, Work work) {
  return detail::changing_errors(
      work, [&](const error& e) { return error(e.code(), path.string() + ": " + e.what()); });
}

}  // namespace

// ---- mapped_file ------------------------------------------------------------------------------

mapped_file::mapped_file(const fs::path& path) : path_(path) {
  // Without O_NONBLOCK, opening a pipe would wait for somebody to write to it.
  const int fd = open_or_throw(path, O_RDONLY | O_NONBLOCK);
  const struct closer {
    int fd;
    ~closer() { ::close(fd); }
  } closes{fd};
  map(fd);
}

mapped_file::mapped_file(const file_lock& locked) : path_(locked.path_) { map(locked.fd_); }

void mapped_file::map(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) throw_io("reading", path_, errno);
  if (!S_ISREG(info.st_mode)) {
    detail::fail(errc::io,
                 path_.string() + ": not a regular file; a filter is opened by mapping it");
  }
  if (info.st_size == 0) return;
  void* const data =
      ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) throw_io("mapping", path_, errno);
  data_ = static_cast<const std::byte*>(data);
  size_ = static_cast<std::size_t>(info.st_size);
#ifdef MADV_HUGEPAGE
  // File systems with large folios (ext4 since Linux 6.16, XFS, Btrfs) then read pieces of 2 MiB,
  // and map each by one entry; others take no notice. 374 MB on ext4, random keys in bulk: 16 ns a
  // key instead of 54, as from memory, and a pass over a cached file takes 254 faults, not 5,724.
  // Not MADV_RANDOM, which reads each page by itself: 750 ns a key of a cold file of 62 MB, not 50.
  if (size_ >= bit_array::huge_page) ::madvise(data, size_, MADV_HUGEPAGE);
#endif
}

mapped_file::~mapped_file() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

// ---- atomic_file ------------------------------------------------------------------------------

atomic_file::atomic_file(const fs::path& path) : target_(path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) throw_io("writing", path, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    direct_ = true;
    fd_ = open_or_throw(path, O_WRONLY);
    return;
  }
  if (fs::is_regular_file(status) && fs::hard_link_count(path, ignored) == 0) {
    direct_ = true;  // there is no name that the new file could take
    fd_ = open_or_throw(path, O_WRONLY | O_TRUNC);
    return;
  }
  target_ = behind_links(path);
  fd_ = open_nameless(directory_of(target_));
  if (fd_ >= 0) return;
  if (!nameless_unsupported(errno)) throw_io("creating", target_, errno);
  name_temporary([this](const char* name) {
    fd_ = ::open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd_ >= 0;
  });
}

atomic_file::~atomic_file() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

namespace {

// Removes a temporary file of ours that nobody writes any more: every writer holds its lock, and
// looks, once it has it, whether the file still has its name.
void remove_if_stale(const fs::path& name) {
  const int fd = ::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat locked {};
  struct stat current {};
  if (::fstat(fd, &locked) == 0 && S_ISREG(locked.st_mode) && locked.st_uid == ::geteuid() &&
      ::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::lstat(name.c_str(), &current) == 0 &&
      locked.st_ino == current.st_ino && locked.st_dev == current.st_dev) {
    ::unlink(name.c_str());
  }
  ::close(fd);
}

}  // namespace

// The names follow from the target, so that what is left over can be found without reading the
// folder, which may have a million files. Several may write to one target at the same time, each
// under the first name that is free. `create` makes the file, or returns false and sets errno.
template <class Create>
void atomic_file::name_temporary(Create create) {
  constexpr std::uint64_t always_cleaned = 4;
  constexpr std::uint64_t in_order = 64;  // then at random: another user may have taken all of them
  constexpr std::uint64_t most = 100;
  const std::string file = target_.filename().string();
  const std::string start =
      ".bloomery-" + detail::to_text(std::uint64_t{XXH3_64bits(file.data(), file.size())}) + "-";
  const auto numbered = [&](std::uint64_t i) {
    return directory_of(target_) / (start + detail::to_text(i) + ".tmp");
  };
  for (std::uint64_t i = 0; i < always_cleaned; ++i) remove_if_stale(numbered(i));
  for (std::uint64_t i = 0; i < most; ++i) {
    fs::path name = numbered(i < in_order ? i : random_seed());
    if (i >= always_cleaned) remove_if_stale(name);
    if (!create(name.c_str())) {
      if (errno == EEXIST) continue;
      throw_io("creating", target_, errno);
    }
    temporary_ = std::move(name);  // a copy could fail, and nobody would remove the file
    // Where locks do not work nobody can remove the file either.
    while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) continue;
    struct stat info {};
    if (::fstat(fd_, &info) != 0 || info.st_nlink != 0) return;
    temporary_.clear();  // it was taken for a stale one before we had the lock
    ::close(std::exchange(fd_, -1));
  }
  throw_io("creating", target_, EEXIST);
}

void atomic_file::append(std::span<const std::byte> bytes) { append_all(fd_, bytes, target_); }

void atomic_file::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  transfer_all(bytes.size(), target_, "writing", [&](std::size_t done, std::size_t piece) {
    return ::pwrite(fd_, bytes.data() + done, piece, static_cast<off_t>(offset + done));
  });
}

void atomic_file::keep_owner_and_mode() const {
  struct stat old {};
  if (::stat(target_.c_str(), &old) != 0) return;
  // Only root may give files away; for others the file becomes theirs, as with every editor. They
  // can keep its group if they are in it. Otherwise members of another group get no more rights
  // than everybody has.
  mode_t mode = old.st_mode & 07777U;
  if (::fchown(fd_, old.st_uid, old.st_gid) != 0 &&
      ::fchown(fd_, static_cast<uid_t>(-1), old.st_gid) != 0) {
    mode = (mode & ~mode_t{06070}) | ((mode & 07U) << 3U);
  }
  ::fchmod(fd_, mode);
}

void atomic_file::commit() {
  rename_into_place(true);
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0) throw_io("writing", target_, errno);
}

void atomic_file::commit_unsynced() {
  rename_into_place(false);
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0) throw_io("writing", target_, errno);
}

void atomic_file::commit(file_lock& held) {
  if (::flock(fd_, LOCK_EX) != 0) throw_io("locking", target_, errno);
  rename_into_place(true);
  ::close(std::exchange(held.fd_, std::exchange(fd_, -1)));
}

void atomic_file::rename_into_place(bool sync) {
  if (!direct_) {
    keep_owner_and_mode();
    if (sync && ::fsync(fd_) != 0) throw_io("writing", target_, errno);
    if (temporary_.empty()) {
      const std::string self = "/proc/self/fd/" + std::to_string(fd_);
      while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) continue;
      name_temporary([&](const char* name) {
        return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
      });
    }
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw_io("renaming", target_, errno);
    temporary_.clear();
    if (!sync) return;
    // The rename itself must reach the disk too.
    const int directory = open_or_throw(directory_of(target_), O_RDONLY | O_DIRECTORY);
    ::fsync(directory);
    ::close(directory);
  }
}

// ---- scratch_file -----------------------------------------------------------------------------

scratch_file::scratch_file(const fs::path& directory)
    : directory_(directory), fd_(open_nameless(directory)) {
  if (fd_ >= 0) return;
  std::string name = (directory / ".bloomery-scratch-XXXXXX").string();
  fd_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd_ < 0) throw_io("creating a temporary file", directory, errno);
  ::unlink(name.c_str());
}

scratch_file::~scratch_file() {
  if (fd_ >= 0) ::close(fd_);
}

void scratch_file::append(std::span<const std::byte> bytes) {
  append_all(fd_, bytes, "a temporary file in " + directory_.string());
  size_ += bytes.size();
}

void scratch_file::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  transfer_all(bytes.size(), "a temporary file in " + directory_.string(), "reading",
               [&](std::size_t done, std::size_t piece) {
                 return ::pread(fd_, bytes.data() + done, piece, static_cast<off_t>(offset + done));
               });
}

// ---- log_file ---------------------------------------------------------------------------------

log_file::log_file(const fs::path& path)
    : path_(path), fd_(open_or_throw(path, O_RDWR | O_CREAT | O_APPEND, 0666)) {
  const off_t end = ::lseek(fd_, 0, SEEK_END);
  if (end >= 0) {
    size_ = static_cast<std::uint64_t>(end);
    return;
  }
  const int reason = errno;
  ::close(fd_);
  throw_io("opening", path, reason);
}

log_file::~log_file() { ::close(fd_); }

void log_file::append(std::span<const std::byte> bytes) {
  detail::changing_errors([&] { append_all(fd_, bytes, path_); },
                          [&](const error& e) {
                            // A part may be there. If this fails too, readers find it unfinished.
                            [[maybe_unused]] const int cut =
                                ::ftruncate(fd_, static_cast<off_t>(size_));
                            return e;
                          });
  size_ += bytes.size();
}

void log_file::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  transfer_all(bytes.size(), path_, "reading", [&](std::size_t done, std::size_t piece) {
    return ::pread(fd_, bytes.data() + done, piece, static_cast<off_t>(offset + done));
  });
}

void log_file::sync() {
  if (::fsync(fd_) != 0) throw_io("writing", path_, errno);
}

void log_file::cut(std::uint64_t size) {
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) throw_io("writing", path_, errno);
  size_ = size;
}

// ---- file_lock --------------------------------------------------------------------------------

// Calls lock() with the file open until it has locked the file that is there under this name.
template <class Lock>
void file_lock::take(Lock lock) {
  for (;;) {
    struct opened {
      int fd;
      ~opened() {
        if (fd >= 0) ::close(fd);
      }
    } file{open_or_throw(path_, O_RDONLY | O_NONBLOCK)};  // as mapped_file does
    lock(file.fd);
    struct stat locked {};
    struct stat current {};
    if (::fstat(file.fd, &locked) != 0 || ::stat(path_.c_str(), &current) != 0) {
      throw_io("locking", path_, errno);
    }
    if (locked.st_ino == current.st_ino && locked.st_dev == current.st_dev) {
      fd_ = std::exchange(file.fd, -1);
      return;
    }
  }
}

file_lock::file_lock(const fs::path& path) : path_(path) {
  take([&](int fd) {
    while (::flock(fd, LOCK_EX) != 0) {
      if (errno != EINTR) throw_io("locking", path, errno);
    }
  });
}

file_lock::file_lock(const fs::path& path, const waiting& meanwhile) : path_(path) {
  const auto start = std::chrono::steady_clock::now();
  take([&](int fd) {
    while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) throw_io("locking", path, errno);
      const auto so_far = std::chrono::steady_clock::now() - start;
      meanwhile(static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::milliseconds>(so_far).count()));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
}

file_lock::~file_lock() { ::close(fd_); }

// ---- images -----------------------------------------------------------------------------------

image_file::image_file(mapped_file file)
    : file_(std::move(file)),
      image_(naming(file_.path(), [this] { return image_view::parse(file_.bytes()); })) {}

void image_file::verify(unsigned threads) const {
  naming(file_.path(), [&] { image_.verify(threads); });
}

std::optional<unpacked_filter> open_packed(const mapped_file& file, const opening& how) {
  if (!is_packed(file.bytes())) return std::nullopt;
  return naming(file.path(), [&] { return unpack(file.bytes(), how); });
}

image_stream::image_stream(atomic_file& file, const image_header& header)
    : file_(&file), writer_(header) {
  file.append(image_writer::header_bytes{});
}

void image_stream::append(std::span<const std::uint64_t> words) {
  writer_.pass(words);
  file_->append(std::as_bytes(words));
}

void image_stream::finish(const image_header& header) {
  writer_.replace_header(header);
  finish();
}

void image_stream::finish() {
  file_->append(writer_.checksums());
  file_->write_at(0, writer_.header());
}

void write_image(atomic_file& file, const image_header& header,
                 std::span<const std::uint64_t> words) {
  write_image(file, header, std::span(&words, 1));
}

void write_image(atomic_file& file, const image_header& header,
                 std::span<const std::span<const std::uint64_t>> parts) {
  detail::for_each_piece_of_image(header, parts,
                                  [&](std::span<const std::byte> bytes) { file.append(bytes); });
}

namespace detail {

void check_match(const image_header& header, filter_kind kind, probe_scheme scheme,
                 const hash_spec& hash, const std::string& name) {
  const auto fail = [&](const std::string& what) {
    detail::fail(errc::mismatch, name.empty() ? what : name + ": " + what);
  };
  const shape& s = header.planned.shape;
  if (s.kind != kind || s.scheme != scheme) {
    fail("the file holds a filter of kind " + std::string(kind_name(s.kind)) + ", not " +
         std::string(kind_name(kind)));
  }
  if (header.hash.id != hash.id) {
    fail("the filter was made with the hash " + std::string(hash_name(header.hash.id)) + ", not " +
         std::string(hash_name(hash.id)));
  }
  if (header.hash.rule != hash.rule) {
    fail("the file is a filter of " + std::string(rule_name(header.hash.rule)) + ", not of " +
         std::string(rule_name(hash.rule)));
  }
  if (header.hash.key_id != hash.key_id) fail("the filter was made with another secret key");
  if (header.hash.seed != hash.seed) {
    fail("the filter was made with seed " + to_text(header.hash.seed) + ", not " +
         to_text(hash.seed));
  }
}

}  // namespace detail
}  // namespace bloomery
