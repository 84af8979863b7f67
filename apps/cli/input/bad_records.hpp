// Says which records of the input were left out, and why: the first few by file and line, the
// others by their number. Chunks are split in any order, but are told in that of the input.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cli/input/records.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

class record_report {
 public:
  record_report(const record_options& o, progress& meter)
      : wanted_(o.wanted()), tells_empty_(o.tells_empty), meter_(&meter) {}

  void take(const chunk& c);      // safe to call from several threads; each chunk once
  void finish();                  // says how many there were in all
  void mute() { muted_ = true; }  // the same input follows again
  [[nodiscard]] bool muted() const { return muted_; }

  [[nodiscard]] std::uint64_t bad() const { return bad_; }
  [[nodiscard]] std::uint64_t keyless() const { return keyless_; }

 private:
  static constexpr std::uint64_t most_shown = 5;

  std::string wanted_;
  bool tells_empty_;
  progress* meter_;
  std::mutex mutex_;
  std::uint64_t next_ = 0;                                     // the number of the next chunk
  std::map<std::uint64_t, std::vector<std::string>> waiting_;  // messages of later ones
  std::uint64_t keys_ = 0;
  std::uint64_t bad_ = 0;
  std::uint64_t keyless_ = 0;
  std::uint64_t empty_ = 0;
  std::uint64_t shown_ = 0;
  bool muted_ = false;
};

}  // namespace bloomery::cli
