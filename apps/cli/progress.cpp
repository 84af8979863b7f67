#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli/text.hpp"

namespace bloomery::cli {

namespace {

// Short work should leave no trace, and a person reads no more than a few lines a second.
constexpr std::chrono::milliseconds first_after{500};
constexpr std::chrono::milliseconds then_every{200};

std::string as_clock(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

progress::progress(std::string label, bool quiet)
    : label_(std::move(label)), visible_(!quiet && isatty(STDERR_FILENO) != 0) {}

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
  if (!visible_) return;
  const std::lock_guard lock(mutex_);
  const auto now = clock::now();
  if (now - start_ < first_after || now - last_ < then_every) return;
  last_ = now;
  draw(now);
}

void progress::draw(clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const auto bytes = static_cast<double>(bytes_.load());
  const auto keys = static_cast<double>(keys_.load());
  std::string line = label_;
  if (total_ != 0) line += fmt::format(" {:3.0f} %", 100 * bytes / static_cast<double>(total_));
  line += fmt::format("  {}  {} keys  {:.1f} M keys/s", as_bytes(bytes), with_commas(keys_),
                      keys / seconds / 1e6);
  if (total_ != 0 && bytes > 0) {
    const double left = (static_cast<double>(total_) - bytes) * seconds / bytes;
    line += fmt::format("  {} left", as_clock(left < 0 ? 0 : left));
  }
  fmt::print(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
  drawn_ = true;
}

void progress::clear() {
  const std::lock_guard lock(mutex_);
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace bloomery::cli
