// A store with a differential file (Severance and Lohman 1976), and a filter that tells which
// records have changed (Gremillion 1982).
//
//     find(key) --> filter: changed? --probably--> changes.N: the log --not there: a wasted read--+
//                       |                                                                         |
//                       +--surely not-------------------------------> base.N: sorted, never changed
//
// Changes are appended to a log, whose keys are chained on disk, so searching it in vain costs some
// reads; the filter avoids these but for a share of its fpr. merge() writes a new base that
// includes the changes. Renaming it to base.N+1 makes it valid: a crash leaves the old base and its
// log, or the new one. Opening the store removes files of other numbers.
//
// What put() has written survives a crash of the program once put() has returned, and a crash of
// the machine once sync() has. Only one program at a time can open the store; a second one waits.
// It is not safe to use from several threads at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace bloomery {

// Counts of what lookups have cost so far.
struct differential_counts {
  std::uint64_t asked = 0;
  std::uint64_t log_searches = 0;     // searches of the log
  std::uint64_t wasted_searches = 0;  // searches that did not find the key
  std::uint64_t base_reads = 0;
};

class differential_store {
 public:
  // Opens the store in this directory, or makes an empty one. The filter keeps to this rate,
  // however many changes there are; a rate of 1 means no filter.
  explicit differential_store(const std::filesystem::path& directory, double fpr = 0.01);
  differential_store(const differential_store&) = delete;
  differential_store& operator=(const differential_store&) = delete;
  ~differential_store();

  // Loads the first base of an empty store: next(key, value) sets the two and returns true until
  // there are no more. Throws errc::bad_argument, with no change, unless keys ascend byte by byte.
  using record_source = std::function<bool(std::string_view& key, std::string_view& value)>;
  void load(const record_source& next);

  [[nodiscard]] std::optional<std::string> find(std::string_view key);
  // Visits all records in the order of their keys. Takes memory for the changed ones.
  using record_visitor = std::function<void(std::string_view key, std::string_view value)>;
  void for_each(const record_visitor& visit) const;
  void put(std::string_view key, std::string_view value);
  void erase(std::string_view key);
  void sync();

  // Merges the changes into a new base: takes disk for a second base, memory for the changed keys.
  void merge();

  [[nodiscard]] std::uint64_t base_records() const noexcept;
  // The number of changes since the last merge; a key that was changed twice counts twice.
  [[nodiscard]] std::uint64_t changes() const noexcept;
  [[nodiscard]] double fpr() const noexcept;  // of the filter as it is now
  [[nodiscard]] std::uint64_t filter_bytes() const noexcept;
  [[nodiscard]] const differential_counts& counts() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace bloomery
