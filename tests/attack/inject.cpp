// Makes one call of a program fail, as a full disk or an exhausted memory would. Loaded before the
// C library by LD_PRELOAD:
//
//     BLOOMERY_FAULT=write:3      the third write fails; without a number none does
//     BLOOMERY_FAULT=write:3:kill the program is killed instead, before that call
//     BLOOMERY_FAULT_COUNT=FILE   gets the number of calls when the program ends well
//
// The calls: malloc (with its relatives), write (with pwrite), fsync, rename, link, mmap, open,
// stat.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

std::atomic<bool> ready = false;
char wanted[16];
long failing = 0;
bool killing = false;
std::atomic<long> calls = 0;

// Whether this call is the one that fails.
bool fails(const char* name, int reason) noexcept {
  if (!ready.load(std::memory_order_relaxed) || std::strcmp(name, wanted) != 0) return false;
  if (calls.fetch_add(1) + 1 != failing) return false;
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
    if (length >= sizeof wanted) return;
    std::memcpy(wanted, fault, length);
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
      std::fprintf(out, "%ld\n", calls.load());
      std::fclose(out);
    }
  }
} const at_start;

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return fails("malloc", ENOMEM) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return fails("malloc", ENOMEM) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  return fails("malloc", ENOMEM) ? nullptr : __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails("malloc", ENOMEM) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  *out = fails("malloc", ENOMEM) ? nullptr : __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}

ssize_t write(int fd, const void* data, std::size_t size) {
  static const auto next = real<ssize_t(int, const void*, std::size_t)>("write");
  return fails("write", ENOSPC) ? -1 : next(fd, data, size);
}
ssize_t pwrite(int fd, const void* data, std::size_t size, off_t at) {
  static const auto next = real<ssize_t(int, const void*, std::size_t, off_t)>("pwrite");
  return fails("write", ENOSPC) ? -1 : next(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, std::size_t size, off64_t at) {
  static const auto next = real<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64");
  return fails("write", ENOSPC) ? -1 : next(fd, data, size, at);
}
int fsync(int fd) {
  static const auto next = real<int(int)>("fsync");
  return fails("fsync", EIO) ? -1 : next(fd);
}
int rename(const char* from, const char* to) {
  static const auto next = real<int(const char*, const char*)>("rename");
  return fails("rename", EIO) ? -1 : next(from, to);
}
int linkat(int from_fd, const char* from, int to_fd, const char* to, int flags) {
  static const auto next = real<int(int, const char*, int, const char*, int)>("linkat");
  return fails("link", ENOSPC) ? -1 : next(from_fd, from, to_fd, to, flags);
}
void* mmap(void* at, std::size_t size, int access, int flags, int fd, off_t offset) {
  static const auto next = real<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  return fails("mmap", ENOMEM) ? MAP_FAILED : next(at, size, access, flags, fd, offset);
}
int fstat(int fd, struct stat* out) {
  static const auto next = real<int(int, struct stat*)>("fstat");
  return fails("stat", EIO) ? -1 : next(fd, out);
}
int stat(const char* path, struct stat* out) {
  static const auto next = real<int(const char*, struct stat*)>("stat");
  return fails("stat", EIO) ? -1 : next(path, out);
}
int open(const char* path, int flags, ...) {
  static const auto next = real<int(const char*, int, ...)>("open");
  std::va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, mode_t);  // whatever is there, where none was given
  va_end(rest);
  return fails("open", EMFILE) ? -1 : next(path, flags, mode);
}

}  // extern "C"
