// A store with a differential file (Severance and Lohman 1976), and a filter that says which
// records changed (Gremillion 1982): the example of Bloom's paper that databases took up.
//
//     find(key) --> filter: changed? --probably--> changes.N: the log, on disk --not there: a wasted read--+
//                       |                                                                                  |
//                       +--surely not----------------------------------------> base.N: sorted, never changed
//
// Changes go to the end of a log. The log has no index of its keys in memory, but chains of records
// on disk, so looking for a key that did not change costs some reads; the filter saves all of them
// but the share of its fpr. merge() writes a new base with the changes in it. Its new name,
// base.N+1, is what makes it valid: a crash leaves the old base and its log, or the new base; files
// of other numbers are removed when the store is opened.
//
// A crash of the program loses nothing that put() returned from, one of the machine nothing that
// sync() returned from. One program at a time: a second one waits. Not safe to use from several
// threads at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace bloomery {

// What reading has cost so far.
struct differential_counts {
  std::uint64_t asked = 0;
  std::uint64_t log_searches = 0;     // the filter said "probably", or there is none
  std::uint64_t wasted_searches = 0;  // and the key was not there
  std::uint64_t base_reads = 0;
};

class differential_store {
 public:
  // Opens the store in this directory, or makes an empty one. The filter errs at most at this rate,
  // however many changes there are; a rate of 1 means no filter.
  explicit differential_store(const std::filesystem::path& directory, double fpr = 0.01);
  differential_store(const differential_store&) = delete;
  differential_store& operator=(const differential_store&) = delete;
  ~differential_store();

  // The first base of an empty store: next(key, value) sets the two and returns true until there
  // are no more. Keys ascend, byte by byte; throws errc::bad_argument, and changes nothing, when
  // they do not.
  using record_source = std::function<bool(std::string_view& key, std::string_view& value)>;
  void load(const record_source& next);

  [[nodiscard]] std::optional<std::string> find(std::string_view key);
  void put(std::string_view key, std::string_view value);
  void erase(std::string_view key);
  void sync();

  // Makes a new base of base and changes. Needs the room of a second base on disk, and memory for
  // the changed keys.
  void merge();

  [[nodiscard]] std::uint64_t base_records() const noexcept;
  // Since the last merge, repetitions included.
  [[nodiscard]] std::uint64_t changes() const noexcept;
  [[nodiscard]] double fpr() const noexcept;  // of the filter as it is now
  [[nodiscard]] std::uint64_t filter_bytes() const noexcept;
  [[nodiscard]] const differential_counts& counts() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace bloomery
