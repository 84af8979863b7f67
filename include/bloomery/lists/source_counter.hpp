// Counts lines, packets or requests by the address that they come from, in memory that does not
// grow with the number of addresses, to find the most frequent ones (sketch/frequent_keys.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/hash/secret_hasher.hpp"
#include "bloomery/lists/address.hpp"
#include "bloomery/sketch/frequent_keys.hpp"

namespace bloomery {

struct counted_source {
  ip_address address;
  std::uint64_t count = 0;  // never too low,
  std::uint64_t error = 0;  // and too high by this at most
};

class source_counter {
 public:
  // `wanted` is the number of sources that top() should return.
  explicit source_counter(std::uint32_t wanted);

  void add(const ip_address& source);
  // The largest count comes first, equal ones are ordered by address. Counts are exact for up to
  // 131,072 sources (or twice as many as wanted), and else too high by 0.0016 % of the total at
  // most.
  [[nodiscard]] std::vector<counted_source> top() const;

 private:
  std::uint32_t wanted_;
  secret_hasher hasher_;
  frequent_keys counts_;
};

}  // namespace bloomery
