// Makes one call of a program fail, as a full disk or an exhausted memory would. Loaded before the
// C library by LD_PRELOAD:
//
//     BLOOMERY_FAULT=write:3      the third write fails; without a number none does
//     BLOOMERY_FAULT=write:3:kill the program is killed instead, before that call
//     BLOOMERY_FAULT_COUNT=FILE   gets the number of calls of each name when the program ends well
//
// The calls: malloc (with its relatives), write (with pwrite), fsync, rename, link, mmap, open,
// stat, unlink (with remove), truncate, chmod, lock.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

enum call : std::size_t {
  call_malloc,
  call_write,
  call_fsync,
  call_rename,
  call_link,
  call_mmap,
  call_open,
  call_stat,
  call_unlink,
  call_truncate,
  call_chmod,
  call_lock,
  how_many
};
constexpr std::array<const char*, how_many> names = {"malloc", "write",    "fsync", "rename",
                                                     "link",   "mmap",     "open",  "stat",
                                                     "unlink", "truncate", "chmod", "lock"};

std::atomic<bool> ready = false;
std::size_t wanted = how_many;  // the call that fails, if any
long failing = 0;
bool killing = false;
std::array<std::atomic<long>, how_many> calls{};

// Whether this call is the one that fails.
bool fails(call which, int reason) noexcept {
  if (!ready.load(std::memory_order_relaxed)) return false;
  if (calls[which].fetch_add(1) + 1 != failing || which != wanted) return false;
  if (killing) ::kill(::getpid(), SIGKILL);
  errno = reason;
  return true;
}

template <class Function>
Function* real(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

struct setup {
  setup() {
    const char* const fault = std::getenv("BLOOMERY_FAULT");
    if (fault == nullptr) return;
    const char* const colon = std::strchr(fault, ':');
    const std::size_t length =
        colon != nullptr ? static_cast<std::size_t>(colon - fault) : std::strlen(fault);
    for (std::size_t which = 0; which < how_many; ++which) {
      if (std::strlen(names[which]) == length && std::strncmp(names[which], fault, length) == 0) {
        wanted = which;
      }
    }
    if (colon != nullptr) {
      char* end = nullptr;
      failing = std::strtol(colon + 1, &end, 10);
      killing = std::strcmp(end, ":kill") == 0;
    }
    ready = true;
  }
  ~setup() {
    ready = false;
    const char* const path = std::getenv("BLOOMERY_FAULT_COUNT");
    if (path == nullptr) return;
    if (std::FILE* const out = std::fopen(path, "w")) {
      for (std::size_t which = 0; which < how_many; ++which) {
        std::fprintf(out, "%s %ld\n", names[which], calls[which].load());
      }
      std::fclose(out);
    }
  }
} const at_start;

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
  return fails(call_malloc, ENOMEM) ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  return fails(call_malloc, ENOMEM) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  return fails(call_malloc, ENOMEM) ? nullptr : __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails(call_malloc, ENOMEM) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  *out = fails(call_malloc, ENOMEM) ? nullptr : __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}

ssize_t write(int fd, const void* data, std::size_t size) {
  static const auto next = real<ssize_t(int, const void*, std::size_t)>("write");
  return fails(call_write, ENOSPC) ? -1 : next(fd, data, size);
}
ssize_t pwrite(int fd, const void* data, std::size_t size, off_t at) {
  static const auto next = real<ssize_t(int, const void*, std::size_t, off_t)>("pwrite");
  return fails(call_write, ENOSPC) ? -1 : next(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, std::size_t size, off64_t at) {
  static const auto next = real<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64");
  return fails(call_write, ENOSPC) ? -1 : next(fd, data, size, at);
}
int fsync(int fd) {
  static const auto next = real<int(int)>("fsync");
  return fails(call_fsync, EIO) ? -1 : next(fd);
}
int rename(const char* from, const char* to) {
  static const auto next = real<int(const char*, const char*)>("rename");
  return fails(call_rename, EIO) ? -1 : next(from, to);
}
int linkat(int from_fd, const char* from, int to_fd, const char* to, int flags) {
  static const auto next = real<int(int, const char*, int, const char*, int)>("linkat");
  return fails(call_link, ENOSPC) ? -1 : next(from_fd, from, to_fd, to, flags);
}
void* mmap(void* at, std::size_t size, int access, int flags, int fd, off_t offset) {
  static const auto next = real<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  return fails(call_mmap, ENOMEM) ? MAP_FAILED : next(at, size, access, flags, fd, offset);
}
int fstat(int fd, struct stat* out) {
  static const auto next = real<int(int, struct stat*)>("fstat");
  return fails(call_stat, EIO) ? -1 : next(fd, out);
}
int stat(const char* path, struct stat* out) {
  static const auto next = real<int(const char*, struct stat*)>("stat");
  return fails(call_stat, EIO) ? -1 : next(path, out);
}
int open(const char* path, int flags, ...) {
  static const auto next = real<int(const char*, int, ...)>("open");
  std::va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, mode_t);  // whatever is there, where none was given
  va_end(rest);
  return fails(call_open, EMFILE) ? -1 : next(path, flags, mode);
}
int unlink(const char* path) {
  static const auto next = real<int(const char*)>("unlink");
  return fails(call_unlink, EIO) ? -1 : next(path);
}
int remove(const char* path) {
  static const auto next = real<int(const char*)>("remove");
  return fails(call_unlink, EIO) ? -1 : next(path);
}
int ftruncate(int fd, off_t size) {
  static const auto next = real<int(int, off_t)>("ftruncate");
  return fails(call_truncate, ENOSPC) ? -1 : next(fd, size);
}
int fchmod(int fd, mode_t mode) {
  static const auto next = real<int(int, mode_t)>("fchmod");
  return fails(call_chmod, EPERM) ? -1 : next(fd, mode);
}
int flock(int fd, int how) {
  static const auto next = real<int(int, int)>("flock");
  return fails(call_lock, ENOLCK) ? -1 : next(fd, how);
}

}  // extern "C"
