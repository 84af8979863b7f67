// How many keys were lost: new ones that a filter took for known, as add_new cannot help doing.
//
// Nobody can tell such a key from a known one, but the filter tells the chance r of it, by its bits
// as they are. So for each key that was new, r / (1 - r) others were lost, on average, and the sum
// of this over the new keys is the number of lost ones: the truth whatever the filter was planned
// for, and however it fills up, grows, or forgets. (A model of the rate for so many keys is wrong
// for a filter that is overfull: it took only keys that set new bits.)
//
// Reading all bits takes 0.2 us for each block, so while most keys are taken a large filter is
// asked about a few random blocks only, more of them when the rate is high. In a filter that is all
// but full hardly any key is new, and what they say is as uncertain as they are few.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bloomery/core/shape.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

class loss_meter {
 public:
  [[nodiscard]] double expected() const noexcept {
    return lost_ + static_cast<double>(noted_ - measured_) * odds_;
  }

  // `f` does not contain a key, which is going to be added.
  template <class Filter>
  void note_new(const Filter& f) noexcept {
    if (noted_ >= next_) measure(f);
    ++noted_;
  }

 private:
  template <class Filter>
  void measure(const Filter& f) noexcept {
    constexpr double most = 1 - 1e-12;
    constexpr std::uint64_t few = 64;
    constexpr bool local = requires { f.fpr_at(std::uint64_t{}); };
    const std::uint64_t blocks = f.shape().bits / bits_per_block;
    const bool nearly_full = odds_ > 4;
    double rate = 0;
    std::uint64_t step = std::max<std::uint64_t>(16, nearly_full ? blocks / 4 : blocks);
    if (!local || blocks <= few || nearly_full) {
      rate = f.fpr();
    } else {
      rate = rate_of_some(f, odds_ < 0.05 ? 8 : 256);
      step = std::min<std::uint64_t>(step, 1024);
    }
    rate = std::min(rate, most);
    const double odds = rate / (1 - rate);
    lost_ += static_cast<double>(noted_ - measured_) * (odds_ + odds) / 2;
    odds_ = odds;
    measured_ = noted_;
    // Soon again at first, for those who have few keys.
    next_ = noted_ + std::min(step, noted_ / 2) + 1;
  }

  template <class Filter>
  double rate_of_some(const Filter& f, int blocks) noexcept {
    double sum = 0;
    if constexpr (requires { f.fpr_at(std::uint64_t{}); }) {
      for (int i = 0; i < blocks; ++i) sum += f.fpr_at(splitmix64(++drawn_));
    }
    return sum / blocks;
  }

  std::uint64_t noted_ = 0;
  std::uint64_t measured_ = 0;  // how many had been noted when the odds were
  std::uint64_t next_ = 0;      // how many will have been when they are again
  double odds_ = 0;
  double lost_ = 0;
  std::uint64_t drawn_ = 0;
};

}  // namespace bloomery
