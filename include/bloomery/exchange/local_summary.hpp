// The keys of this host as a filter that follows them: counters, so that keys can go again, and
// beside them their plain filter, which is what others get (Fan, Cao, Almeida and Broder 2000).
#pragma once

#include <cstdint>

#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/counting.hpp"

namespace bloomery {

class local_summary {
 public:
  explicit local_summary(const plan& p);  // of a classic filter

  void add(std::uint64_t hash);
  // Of a key that was added, else it may take others with it. False when it surely was not.
  bool remove(std::uint64_t hash);

  [[nodiscard]] const classic_filter& filter() const noexcept { return plain_; }
  [[nodiscard]] const counting_filter& counters() const noexcept { return counters_; }

 private:
  counting_filter counters_;
  classic_filter plain_;
};

}  // namespace bloomery
