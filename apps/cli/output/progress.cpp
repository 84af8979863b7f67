#include "cli/output/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

// Short work shows nothing at all, and a person reads no more than a few lines a second.
constexpr std::chrono::milliseconds first_after{500};
constexpr std::chrono::milliseconds then_every{200};
constexpr std::chrono::milliseconds in_a_file{500};

sigset_t state_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  return set;
}

// Takes the signal if it is pending. It is blocked in every thread and polled, because a handler
// would run in a thread of the system's choice, and that one may hold a lock.
bool state_wanted() {
  sigset_t pending;
  const sigset_t wanted = state_signal();
  int taken = 0;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1 &&
         sigwait(&wanted, &taken) == 0;
}

std::string as_clock(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

bool can_erase_lines() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

progress::progress(std::string label, const progress_options& o)
    : label_(std::move(label)),
      terminal_(can_erase_lines()),
      stats_(o.stats),
      warnings_(o.warnings) {
  visible_ = o.forced || (!o.quiet && terminal_);
  const sigset_t blocked = state_signal();
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);  // threads started from now on inherit it
}

progress::~progress() {
  clear();
  if (stats_) tell("{}\n", state(clock::now()));
}

void progress::relabel(std::string label) {
  clear();
  const std::lock_guard lock(mutex_);
  label_ = std::move(label);
}

void progress::restart() {
  clear();
  bytes_ = 0;
  keys_ = 0;
  start_ = last_ = clock::now();
}

void progress::advance(std::uint64_t bytes) {
  bytes_ += bytes;
  answer_signal();
  if (!visible_) return;
  const std::lock_guard lock(mutex_);
  const auto now = clock::now();
  if (now - start_ < first_after || now - last_ < (terminal_ ? then_every : in_a_file)) return;
  last_ = now;
  draw(now);
}

void progress::answer_signal() {
  const std::lock_guard lock(mutex_);  // two threads must not both take one signal
  if (!state_wanted()) return;
  erase();
  tell("{}\n", state(clock::now()));
}

std::string progress::state(clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const auto bytes = static_cast<double>(bytes_.load());
  const auto keys = static_cast<double>(keys_.load());
  std::string line = label_;
  if (total_ != 0) line += fmt::format(" {:3.0f} %", 100 * bytes / static_cast<double>(total_));
  line += fmt::format("  {}  {}  {:.1f} M keys/s", as_bytes(bytes), counted(keys_, "key"),
                      keys / seconds / 1e6);
  if (bytes > 0 && bytes < static_cast<double>(total_)) {
    const double left = (static_cast<double>(total_) - bytes) * seconds / bytes;
    line += fmt::format("  {} left", as_clock(left));
  }
  return line;
}

void progress::draw(clock::time_point now) {
  if (terminal_) {
    write_over_line(state(now));
    drawn_ = true;
  } else {
    tell("{}\n", state(now));
  }
  std::fflush(stderr);
}

void progress::warn(std::string_view text) {
  if (!warnings_) return;
  const std::lock_guard lock(mutex_);
  erase();
  tell("bloomery: {}\n", text);
}

void progress::clear() {
  const std::lock_guard lock(mutex_);
  erase();
}

void progress::erase() {
  if (!drawn_) return;
  write_over_line("");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace bloomery::cli
