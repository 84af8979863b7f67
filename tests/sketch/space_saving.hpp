// Space-saving (Metwally, Agrawal and El Abbadi 2005), to compare with: m counters; a key without
// one takes over the least, and its count. Counts are never too low, too high by at most the least
// counter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bloomery_test {

class space_saving {
 public:
  explicit space_saving(std::size_t counters) : most_(counters) {}

  void add(std::uint64_t key) {
    const auto found = count_of_.find(key);
    if (found != count_of_.end()) {
      by_count_.erase({found->second, key});
      by_count_.insert({++found->second, key});
      return;
    }
    std::uint64_t count = 1;
    if (count_of_.size() == most_) {
      const auto least = *by_count_.begin();
      by_count_.erase(by_count_.begin());
      count_of_.erase(least.second);
      count = least.first + 1;
    }
    count_of_[key] = count;
    by_count_.insert({count, key});
  }

  // (key, count), the largest first.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> top(std::size_t k) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> list;
    list.reserve(k);
    for (auto at = by_count_.rbegin(); at != by_count_.rend() && list.size() < k; ++at) {
      list.emplace_back(at->second, at->first);
    }
    return list;
  }

 private:
  std::size_t most_;
  std::unordered_map<std::uint64_t, std::uint64_t> count_of_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_count_;
};

}  // namespace bloomery_test
