// A line on the terminal while work is long: share, bytes, keys, rate, time left. Nothing anywhere else.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace bloomery::cli {

class progress {
 public:
  // `label` is what is going on, e.g. "building". Draws only when standard error is a terminal.
  progress(std::string label, bool quiet);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() { clear(); }

  void set_total(std::uint64_t bytes) { total_ = bytes; }
  void relabel(std::string label);
  void restart();

  void advance(std::uint64_t bytes);
  void count_keys(std::uint64_t keys) { keys_ += keys; }

  // Takes the line away, so that other text can follow.
  void clear();

 private:
  using clock = std::chrono::steady_clock;

  void draw(clock::time_point now);

  std::string label_;
  bool visible_;
  bool drawn_ = false;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> keys_{0};
  clock::time_point start_ = clock::now();
  clock::time_point last_ = start_;
  std::mutex mutex_;
};

}  // namespace bloomery::cli
