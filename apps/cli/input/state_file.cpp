#include "cli/input/state_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "bloomery/core/error.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

[[noreturn]] void throw_io(const std::string& path, const char* doing, int reason) {
  throw error(errc::io, fmt::format("{}: {} failed: {}", path, doing, std::strerror(reason)));
}

std::uint64_t bytes_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) throw_io(path, "opening", errno);
  if (!S_ISREG(info.st_mode))
    throw error(errc::io, path + ": not a regular file; a state is kept in one");
  return static_cast<std::uint64_t>(info.st_size);
}

}  // namespace

state_file::state_file(std::string path, const change_manners& manners) : path_(std::move(path)) {
  for (;;) {
    const int fd = ::open(path_.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd < 0) throw_io(path_, "opening", errno);
    ::close(fd);
    bytes_of(path_);
    try {
      wait_for_lock(lock_, path_, manners);
      break;
    } catch (const error&) {
      // While we waited, another run may have failed and taken its empty file away.
      if (::access(path_.c_str(), F_OK) == 0 || errno != ENOENT) throw;
    }
  }
  // Each save makes a new file in the folder, which is found out before the first line is printed.
  const atomic_file probe(path_);
}

state_file::~state_file() {
  struct stat info {};
  if (!saved_ && ::stat(path_.c_str(), &info) == 0 && info.st_size == 0) ::unlink(path_.c_str());
}

bool state_file::is_new() const { return bytes_of(path_) == 0; }

any_filter state_file::load(const std::string& key_file, const key_form& form) const {
  return load_filter(path_, key_file, form);
}

void state_file::save(const any_filter& f) {
  atomic_file file(path_);
  f.save(file);
  file.commit(*lock_);
  saved_ = true;
}

// ---- checkpoints ------------------------------------------------------------------------------

namespace {

constexpr std::array ending_signals = {SIGINT, SIGTERM, SIGHUP};
std::array<int, 2> told = {-1, -1};         // a pipe: signals are written to it, one byte each
std::atomic<std::int64_t> first_signal{0};  // when it came, in milliseconds
static_assert(decltype(first_signal)::is_always_lock_free);

std::int64_t milliseconds_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// One wish may come as several signals: timeout(1) sends it to its child and to its group, and a
// terminal that closes sends SIGHUP after the shell did. Somebody who does not want to wait for the
// state sends another after a second.
extern "C" void tell_of_signal(int number) {
  constexpr std::int64_t patience = 1000;
  const int before = errno;
  const std::int64_t now = milliseconds_now();
  std::int64_t first = 0;
  if (first_signal.compare_exchange_strong(first, now)) {
    const auto byte = static_cast<char>(number);
    [[maybe_unused]] const ssize_t written = ::write(told[1], &byte, 1);
  } else if (now - first >= patience) {
    std::signal(number, SIG_DFL);
    ::kill(::getpid(), number);
  }
  errno = before;
}

void catch_signals() {
  first_signal = 0;
  for (const int number : ending_signals) {
    struct sigaction old {};
    // What is ignored, as under nohup, stays so.
    if (::sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = tell_of_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, nullptr);
  }
}

void release_signals() {
  for (const int number : ending_signals) {
    struct sigaction old {};
    if (::sigaction(number, nullptr, &old) != 0 || old.sa_handler != tell_of_signal) continue;
    std::signal(number, SIG_DFL);
  }
}

}  // namespace

checkpoints::checkpoints(std::chrono::seconds every, std::function<void(bool)> save)
    : save_(std::move(save)) {
  if (::pipe2(told.data(), O_CLOEXEC) != 0) throw_io("a pipe", "opening", errno);
  catch_signals();
  thread_ = std::thread([this, every] { watch(every); });
}

checkpoints::~checkpoints() {
  release_signals();
  ::close(told[1]);  // which the thread reads as the end; a byte for it could fail to be written
  thread_.join();
  ::close(told[0]);
}

void checkpoints::watch(std::chrono::seconds every) {
  using clock = std::chrono::steady_clock;
  // poll counts milliseconds in an int, which is 24 days.
  std::chrono::milliseconds wait = std::min<std::chrono::seconds>(every, std::chrono::hours(480));
  bool warned = false;
  for (;;) {
    pollfd end{.fd = told[0], .events = POLLIN, .revents = 0};
    const int ready = ::poll(&end, 1, static_cast<int>(wait.count()));
    if (ready < 0) continue;
    char number = 0;
    if (ready > 0 && ::read(told[0], &number, 1) != 1) return;
    std::unique_lock lock(mutex_);
    const clock::time_point start = clock::now();
    try {
      save_(number != 0);
    } catch (const std::exception& e) {
      if (!warned || number != 0) tell("bloomery: warning: {}\n", e.what());
      warned = true;
    }
    if (number != 0) {
      // The mutex stays held: nothing is printed any more that was not saved.
      std::signal(number, SIG_DFL);
      ::kill(::getpid(), number);
      for (;;) ::pause();
    }
    // A state that takes long to write is written less often: in a tenth of the time at most.
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - start);
    wait = std::max<std::chrono::milliseconds>(every, took * 9);
  }
}

}  // namespace bloomery::cli
