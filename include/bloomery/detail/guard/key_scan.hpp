// Makes a filter of all keys of a store. Their number is known only when the scan is over, so their
// hashes are kept until then, 8 bytes each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bloomery/filter/keyed.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/random_seed.hpp"

namespace bloomery {

struct scan_options {
  double fpr = 0.01;
  double growth = 0.0;                  // room for keys to come, as a share of those that are there
  std::uint64_t seed = process_seed();  // a filter in memory need not be the same each time
};

class key_scan {
 public:
  explicit key_scan(const scan_options& o = {}) : options_(o), hasher_(o.seed) {}

  template <key_for<> Key>
  void add(const Key& key) {
    hashes_.push_back(hash_key(hasher_, key));
  }

  [[nodiscard]] filter build() const {
    const double keys = static_cast<double>(hashes_.size()) * (1 + options_.growth);
    filter f({.keys = static_cast<std::uint64_t>(std::max(1.0, std::ceil(keys))),
              .fpr = options_.fpr,
              .seed = options_.seed});
    f.filter().add_batch(hashes_);
    return f;
  }

 private:
  scan_options options_;
  xxh3_hasher hasher_;
  std::vector<std::uint64_t> hashes_;
};

}  // namespace bloomery
