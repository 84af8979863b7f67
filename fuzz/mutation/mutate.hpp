// Damages bytes as a liar would: numbers at the edges of their ranges, bits, ends, parts of other
// files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "mutation/numbers.hpp"

namespace bloomery_fuzz {

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  // From 0 to `limit` - 1; 0 when `limit` is 0.
  std::size_t below(std::size_t limit) {
    return limit == 0 ? 0 : static_cast<std::size_t>(next() % limit);
  }

 private:
  std::uint64_t state_;
};

// How many mutations `edge_number` knows: each number of the head of a file and of the two ends of
// its payload, with each value at an edge.
[[nodiscard]] std::size_t edge_numbers(const byte_vector& bytes);
void edge_number(byte_vector& bytes, std::size_t which);

// One to four random changes, some of them with bytes of `other`.
void mutate(byte_vector& bytes, const byte_vector& other, random_numbers& random);

}  // namespace bloomery_fuzz
