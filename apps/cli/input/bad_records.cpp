#include "cli/input/bad_records.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/output/text.hpp"

namespace bloomery::cli {

void record_report::take(const chunk& c) {
  if (muted_) return;
  std::vector<std::string> messages;
  for (const bad_record& b : c.bad) {
    if (messages.size() == most_shown) break;
    messages.push_back(fmt::format("{}:{}: {}; left out", c.file, b.line, b.what));
  }
  const std::lock_guard lock(mutex_);
  keys_ += c.number;
  bad_ += c.bad.size();
  keyless_ += c.keyless.size();
  empty_ += c.empty;
  waiting_.emplace(c.sequence, std::move(messages));
  for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
       first = waiting_.erase(first), ++next_) {
    for (const std::string& message : first->second) {
      if (shown_ < most_shown) meter_->warn(message);
      ++shown_;
    }
  }
}

void record_report::finish() {
  if (muted_) return;
  const std::uint64_t all = keys_ + bad_ + keyless_;
  if (bad_ > most_shown) {
    meter_->warn(fmt::format("{} bad records of {} were left out, these are the first {}",
                             with_commas(bad_), with_commas(all), most_shown));
  }
  if (tells_empty_ && empty_ != 0) {
    meter_->warn(
        fmt::format("{} left out; with --keep-empty an empty line is a key",
                    empty_ == 1 ? "1 empty line was" : with_commas(empty_) + " empty lines were"));
  }
  if (keyless_ != 0) {
    meter_->warn(keys_ == 0 && bad_ == 0
                     ? fmt::format("warning: none of {} has a {}", counted(all, "record"), wanted_)
                     : fmt::format("{} of {} without a {}", with_commas(keyless_),
                                   counted(all, "record"), wanted_));
  }
}

}  // namespace bloomery::cli
