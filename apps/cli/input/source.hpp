// Reads keys from files, pipes and standard input, in chunks that several threads work on.
//
// A chunk is a quarter of a megabyte of whole records: with the list of its keys it stays in the
// second-level cache from reading to probing. Threads take chunks in turn (`next` is locked) and
// each works on its own, so reading, hashing and probing overlap without a reading thread. Of lines
// in a regular file only the end is found in turn, and the bytes are read by all threads at once:
// one after the other they copied 4 GB a second, which is what eight threads can check. When the
// input pauses, a chunk ends early: a person who types or runs `tail -f` sees answers at once.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bloomery/core/error.hpp"
#include "cli/input/bad_records.hpp"
#include "cli/input/bytes.hpp"
#include "cli/input/first_look.hpp"
#include "cli/input/records.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

// What a reader wants of a chunk: its keys, or only how many there are, which is faster.
enum class want : std::uint8_t { keys, number };

class key_source {
 public:
  // No paths means standard input; so does "-". Opens nothing yet.
  key_source(std::vector<std::string> paths, const record_options& records, progress& meter);

  // The next chunk of records, or false at the end. Safe to call from several threads.
  bool next(chunk& out, want wanted = want::keys);

  [[nodiscard]] bool rereadable() const { return bytes_.rereadable(); }  // all are regular files
  void rewind();  // starts again from the first file
  // No more records of the last chunk's file are wanted. For one thread: others read ahead.
  void skip_rest();
  [[nodiscard]] std::string_view terminator() const { return format_->terminator(); }
  [[nodiscard]] record_report& report() { return report_; }
  // The inputs that could not be read, or not to their end; only with record_options::go_on.
  [[nodiscard]] const std::vector<std::string>& unreadable() const { return unreadable_; }

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{256} << 10U;
  static constexpr std::size_t longest_record = std::size_t{1} << 30U;

  bool fill(chunk& c);
  bool begin(chunk& c);
  bool leave_unread(chunk& c);
  void read_left(chunk& c);
  bool open_next();
  std::size_t read(char* to, std::size_t room);
  void leave(const error& reason);
  void tell_unreadable(const error& reason, std::string_view file);
  [[noreturn]] void throw_too_long() const;
  static void grow(chunk& c, std::size_t used, std::size_t capacity);

  byte_source bytes_;
  std::unique_ptr<record_format> format_;
  progress* meter_;
  record_report report_;
  first_look look_;
  bool numbered_;
  bool go_on_;
  std::vector<std::string> unreadable_;
  std::uint64_t records_before_ = 0;  // of the open file, with the empty ones
  std::mutex mutex_;
  bool first_of_file_ = true;
  std::string carry_;  // the start of a record whose end was not read yet
  std::uint64_t sequence_ = 0;
};

struct enough_read {};  // thrown by work on chunks when no more records are wanted

class turnstile {  // lets threads do something in the order of their chunks
 public:
  // Each thread has one chunk at a time, so those that wait are numbered in a row, and each has a
  // place of its own: one thread is woken, and not all of them, for each chunk.
  explicit turnstile(unsigned threads) : places_(std::max(1U, threads)) {}

  template <class Work>
  void in_turn(std::uint64_t sequence, Work work) {
    {
      std::unique_lock lock(mutex_);
      place_of(sequence).wait(lock, [&] { return next_ == sequence || cancelled_; });
      if (cancelled_) return;
    }
    work();
    const std::lock_guard lock(mutex_);
    place_of(++next_).notify_one();
  }
  void cancel() {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    for (std::condition_variable& place : places_) place.notify_all();
  }

 private:
  std::condition_variable& place_of(std::uint64_t sequence) {
    return places_[static_cast<std::size_t>(sequence % places_.size())];
  }

  std::mutex mutex_;
  std::vector<std::condition_variable> places_;
  std::uint64_t next_ = 0;
  bool cancelled_ = false;
};

// Runs work(chunk) in `threads` threads until the source is empty. An exception ends all threads
// and is thrown again here; of several it is that of the earliest chunk, so that messages do not
// depend on the threads. `cancel` is called before, to wake threads that wait for their turn.
template <class Work, class Cancel>
void for_each_chunk(key_source& source, unsigned threads, Work work, Cancel cancel,
                    want wanted = want::keys) {
  std::mutex mutex;
  std::exception_ptr failure;
  std::uint64_t failed = UINT64_MAX;  // the number of its chunk
  const auto run = [&] {
    chunk c;
    try {
      for (;;) {
        {
          const std::lock_guard lock(mutex);
          if (failure) return;
        }
        c.sequence = UINT64_MAX;  // a failure to read counts as the latest
        if (!source.next(c, wanted)) return;
        work(c);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure || c.sequence < failed) {
        failure = std::current_exception();
        failed = c.sequence;
      }
      cancel();
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (unsigned t = 1; t < threads; ++t) helpers.emplace_back(run);
    run();
  }
  if (failure) std::rethrow_exception(failure);
  source.report().finish();
}

template <class Work>
void for_each_chunk(key_source& source, unsigned threads, Work work) {
  for_each_chunk(source, threads, work, [] {});
}

// Runs work(chunk, in_turn) in all threads; in_turn runs what it gets singly, in input order.
template <class Work>
void for_each_chunk_in_order(key_source& source, unsigned threads, Work work) {
  turnstile turns(threads);
  for_each_chunk(
      source, threads,
      [&](const chunk& c) { work(c, [&](auto rest) { turns.in_turn(c.sequence, rest); }); },
      [&] { turns.cancel(); });
}

// The same with two turns, work(chunk, in_turn, in_second_turn): while one thread has the second
// turn, the next one may have the first.
template <class Work>
void for_each_chunk_in_two_turns(key_source& source, unsigned threads, Work work) {
  turnstile first(threads);
  turnstile second(threads);
  for_each_chunk(
      source, threads,
      [&](const chunk& c) {
        work(
            c, [&](auto rest) { first.in_turn(c.sequence, rest); },
            [&](auto rest) { second.in_turn(c.sequence, rest); });
      },
      [&] {  // in this order, or who lost the first turn might still get the second
        second.cancel();
        first.cancel();
      });
}

}  // namespace bloomery::cli
