// Counts lines, packets or requests by the address that they come from, in memory that does not
// grow with the number of addresses, to find the most frequent ones. A count-min sketch has the
// counts, which are never too low; a top-k sketch has the names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/hash/hash.hpp"
#include "bloomery/lists/address.hpp"
#include "bloomery/sketch/count_min.hpp"
#include "bloomery/sketch/top_k.hpp"

namespace bloomery {

struct counted_source {
  ip_address address;
  std::uint64_t count = 0;
};

class source_counter {
 public:
  // `wanted` is the number of sources that top() should return.
  explicit source_counter(std::uint32_t wanted);

  void add(const ip_address& source);
  // The largest count comes first, equal ones are ordered by address. One count of a hundred is
  // more than 0.01 % of the total too high.
  [[nodiscard]] std::vector<counted_source> top() const;

 private:
  std::uint32_t wanted_;
  xxh3_hasher hasher_;
  count_min counts_;
  top_k names_;
};

}  // namespace bloomery
