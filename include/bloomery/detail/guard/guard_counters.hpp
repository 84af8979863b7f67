// What a guard (guard/guard.hpp) counts, in cache lines that one thread or few share.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "bloomery/detail/guard/replaceable.hpp"
#include "bloomery/guard/guard_report.hpp"

namespace bloomery::detail {

using relaxed_counter = std::atomic<std::uint64_t>;

inline void count_one(relaxed_counter& c) noexcept { c.fetch_add(1, std::memory_order_relaxed); }
[[nodiscard]] inline std::uint64_t value_of(const relaxed_counter& c) noexcept {
  return c.load(std::memory_order_relaxed);
}

class sampled_times {
 public:
  void take(std::chrono::nanoseconds time) noexcept {
    ns_.fetch_add(time.count(), std::memory_order_relaxed);
    count_one(samples_);
  }

  struct sum {
    std::int64_t ns = 0;
    std::uint64_t samples = 0;

    void add(const sampled_times& t) noexcept {
      ns += t.ns_.load(std::memory_order_relaxed);
      samples += value_of(t.samples_);
    }
    // The time of a call that is as short as reading the clock may be measured as negative.
    [[nodiscard]] std::optional<double> mean() const noexcept {
      if (samples == 0) return std::nullopt;
      return std::max(0.0, static_cast<double>(ns) / static_cast<double>(samples));
    }
  };

 private:
  std::atomic<std::int64_t> ns_{0};
  relaxed_counter samples_{0};
};

class guard_counters {
 public:
  // A call changes only one counter, when it is done, so that the sums of a report are consistent.
  struct alignas(64) stripe {
    relaxed_counter avoided{0};
    relaxed_counter hit{0};
    relaxed_counter wasted{0};
    sampled_times filter_times;
    sampled_times lookup_times;

    [[nodiscard]] std::uint64_t passed() const noexcept { return value_of(hit) + value_of(wasted); }
    [[nodiscard]] std::uint64_t asked() const noexcept { return value_of(avoided) + passed(); }
  };

  [[nodiscard]] stripe& mine() noexcept { return stripes_[thread_stripe()]; }

  [[nodiscard]] guard_report report() const noexcept {
    guard_report all;
    sampled_times::sum filter_sum;
    sampled_times::sum lookup_sum;
    for (const stripe& s : stripes_) {
      all.avoided += value_of(s.avoided);
      all.hit += value_of(s.hit);
      all.wasted += value_of(s.wasted);
      filter_sum.add(s.filter_times);
      lookup_sum.add(s.lookup_times);
    }
    all.filter_ns = filter_sum.mean();
    all.lookup_ns = lookup_sum.mean();
    return all;
  }

 private:
  std::array<stripe, thread_stripes> stripes_{};
};

}  // namespace bloomery::detail
