// A filter file that a verb goes on with and writes again and again: --state of dedup.
//
// The file is locked as long as the object lives, so that two runs with one state follow each
// other. Each save replaces the file by a whole one, which is locked before it gets the name.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "bloomery/format/any_filter.hpp"
#include "bloomery/format/file.hpp"
#include "cli/output/streams.hpp"

namespace bloomery::cli {

class state_file {
 public:
  // Waits for the lock. A file that is not there is made, empty: so it is known early that it can
  // be. Throws errc::io.
  state_file(std::string path, const change_manners& manners);
  state_file(const state_file&) = delete;
  state_file& operator=(const state_file&) = delete;
  ~state_file();  // takes an empty file away again

  [[nodiscard]] bool is_new() const;
  [[nodiscard]] any_filter load(const std::string& key_file, const key_form& form) const;
  void save(const any_filter& f);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool saved_ = false;
  std::optional<file_lock> lock_;
};

// Saves while somebody else works: in a thread of its own, every so often, and when a signal asks
// the program to end (SIGINT, SIGTERM, SIGHUP), which it then does, by that signal. Another signal
// a second later, or after that, ends it at once. What is saved must not change meanwhile: whoever
// changes it holds `mutex()`.
class checkpoints {
 public:
  // `save` is told whether the program ends. It is called with the mutex held.
  checkpoints(std::chrono::seconds every, std::function<void(bool last)> save);
  checkpoints(const checkpoints&) = delete;
  checkpoints& operator=(const checkpoints&) = delete;
  ~checkpoints();

  [[nodiscard]] std::mutex& mutex() { return mutex_; }

 private:
  void watch(std::chrono::seconds every);

  std::function<void(bool)> save_;
  std::mutex mutex_;
  std::thread thread_;
};

}  // namespace bloomery::cli
