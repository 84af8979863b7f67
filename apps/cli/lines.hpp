// Keys as lines of files, pipes and standard input, in chunks that several threads work on.
//
// A chunk is about a megabyte of whole lines. Threads take chunks in turn (`next` is locked) and each works
// on its own, so reading, hashing and probing overlap without a thread that only reads. When the input
// pauses, a chunk ends early: whoever types or runs `tail -f` sees answers at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cli/progress.hpp"

namespace bloomery::cli {

struct chunk {
  std::uint64_t sequence = 0;
  std::string text;                    // whole lines
  std::vector<std::string_view> keys;  // the lines of it, without line ends
};

class line_source {
 public:
  // No paths means standard input; so does "-". Opens nothing yet.
  line_source(std::vector<std::string> paths, bool keep_empty, progress& meter);
  line_source(const line_source&) = delete;
  line_source& operator=(const line_source&) = delete;
  ~line_source();

  // The next chunk of lines, or false at the end. Safe to call from several threads.
  bool next(chunk& out);

  // Whether every input is a regular file, so that it can be read twice.
  [[nodiscard]] bool rereadable() const;
  // Their bytes together, 0 if unknown.
  [[nodiscard]] std::uint64_t total_bytes() const;
  // Starts again from the first file.
  void rewind();

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 20U;
  static constexpr std::size_t longest_line = std::size_t{1} << 30U;

  bool fill(std::string& text);
  bool open_next();
  std::size_t read_some(std::string& text, std::size_t room);
  [[nodiscard]] bool paused() const;
  void split(chunk& c) const;
  [[nodiscard]] const std::string& name() const { return paths_[current_ - 1]; }

  std::vector<std::string> paths_;
  bool keep_empty_;
  progress* meter_;
  std::mutex mutex_;
  std::size_t current_ = 0;  // files opened so far
  int fd_ = -1;
  std::string carry_;  // the start of a line whose end was not read yet
  std::uint64_t sequence_ = 0;
};

// Lets the threads do something one after the other, in the order of their chunks.
class turnstile {
 public:
  template <class Work>
  void in_turn(std::uint64_t sequence, Work work) {
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return next_ == sequence || cancelled_; });
    if (cancelled_) return;
    work();
    ++next_;
    turn_.notify_all();
  }
  void cancel() {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    turn_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable turn_;
  std::uint64_t next_ = 0;
  bool cancelled_ = false;
};

// Runs work(chunk) in `threads` threads until the source is empty. The first exception ends all and is
// thrown again here; `cancel` is called before, to wake threads that wait for their turn.
template <class Work, class Cancel>
void for_each_chunk(line_source& source, unsigned threads, Work work, Cancel cancel) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      chunk c;
      for (;;) {
        {
          const std::lock_guard lock(mutex);
          if (failure) return;
        }
        if (!source.next(c)) return;
        work(c);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      cancel();
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (unsigned t = 1; t < threads; ++t) helpers.emplace_back(run);
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

template <class Work>
void for_each_chunk(line_source& source, unsigned threads, Work work) {
  for_each_chunk(source, threads, work, [] {});
}

}  // namespace bloomery::cli
