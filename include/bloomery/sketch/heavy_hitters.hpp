// The keys with at least the share phi of a stream, kept up to date while it is added to a sketch.
//
// A key that ends with that share had it when it last came, and counts are never too low: so it is
// a candidate then and stays one. At most ceil(2 / phi) are kept, those with the largest counts:
// enough for a sketch with epsilon <= phi / 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "bloomery/hash/secret_hasher.hpp"
#include "bloomery/sketch/count_min.hpp"

namespace bloomery {

class heavy_hitters {
 public:
  struct entry {
    std::uint64_t hash;
    std::uint64_t count;
  };

  // phi above 0 and at most 1, and 2 / phi at most 2^20; else errc::bad_argument. The sketch must
  // outlive the tracker, and what is added past it is seen only when its keys come again.
  heavy_hitters(count_min& sketch, double phi);

  void add(std::uint64_t hash, std::uint64_t count = 1);
  // Those at or above phi * total now: the largest count first, equal ones by hash.
  [[nodiscard]] std::vector<entry> list() const;
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  void make_room();

  count_min* sketch_;
  double phi_;
  std::size_t capacity_ = 0;
  // Count when last seen, by hash.
  std::unordered_map<std::uint64_t, std::uint64_t, secret_number_hash> candidates_;
};

}  // namespace bloomery
