// A line on the terminal during long work: share, bytes, keys, rate, time left. Where standard
// error is no terminal there is none, unless the user asks for it: --progress asks for lines while
// the work goes on, the signal SIGUSR1 for one line right now, --stats for one at the end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace bloomery::cli {

// Whether standard error is a terminal whose lines can be erased; TERM=dumb says that they cannot.
[[nodiscard]] bool can_erase_lines();

struct progress_options {
  bool quiet = false;
  bool forced = false;  // also if standard error is no terminal, each time on a line of its own
  bool stats = false;
  bool warnings = true;

  // For verbs that print while they read: their output may be on the same terminal.
  [[nodiscard]] progress_options unless(bool printing) const {
    progress_options o = *this;
    o.quiet = quiet || (printing && !forced);
    return o;
  }
};

class progress {
 public:
  progress(std::string label, const progress_options& o);  // such as "building"
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();

  void set_total(std::uint64_t bytes) { total_ = bytes; }
  void relabel(std::string label);
  void restart();

  void advance(std::uint64_t bytes);
  void answer_signal();  // says where it stands if a signal asked
  void count_keys(std::uint64_t keys) { keys_ += keys; }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }  // since the last restart

  void warn(std::string_view text);  // on a line of its own, unless warnings are not wanted
  void clear();                      // takes the line away, so that other text can follow

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] std::string state(clock::time_point now) const;
  void draw(clock::time_point now);
  void erase();

  std::string label_;
  bool visible_;
  bool terminal_;
  bool stats_;
  bool warnings_;
  bool drawn_ = false;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> keys_{0};
  clock::time_point start_ = clock::now();
  clock::time_point last_ = start_;
  std::mutex mutex_;
};

}  // namespace bloomery::cli
