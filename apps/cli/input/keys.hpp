// Adds keys to filters, for the verbs that build or change one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bloomery/format/any_filter.hpp"
#include "bloomery/sketch/hyperloglog.hpp"
#include "cli/input/source.hpp"

namespace bloomery::cli {

class key_census {  // how many keys an input has, and how many of them are different
 public:
  void add(std::span<const std::uint64_t> hashes) {
    keys_ += hashes.size();
    different_.add_batch(hashes);
  }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }
  // What to plan a filter for: the estimate's upper end, so that the promised rate holds.
  [[nodiscard]] std::uint64_t to_plan_for() const {
    return std::min(keys_, different_.keys_at_most());
  }
  [[nodiscard]] bool repeated() const { return to_plan_for() < keys_; }
  // "3,048 different" or "about 3,050 different", where keys are repeated; else empty.
  [[nodiscard]] std::string text() const;

 private:
  std::uint64_t keys_ = 0;
  hyperloglog different_;
};

// Adds hashes in pieces, in several threads if the kind allows it.
void add_hashes(any_filter& f, std::span<const std::uint64_t> hashes, unsigned threads);

// Adds all keys. If the bits do not depend on the order of keys, all threads add; otherwise they
// hash in parallel and add in input order, so that any number of threads makes the same file.
void add_keys(any_filter& f, key_source& source, unsigned threads);

// Hashes all keys in parallel; take(chunk, hashes) gets them by chunks, in the order of the input.
template <class Take>
void hash_in_order(const any_hasher& hash, key_source& source, unsigned threads, Take take) {
  for_each_chunk_in_order(source, threads, [&](const chunk& c, auto in_turn) {
    thread_local std::vector<std::uint64_t> hashes;
    hashes.resize(c.keys.size());
    hash.hash(c.keys, hashes);
    in_turn([&] { take(c, std::span<const std::uint64_t>(hashes)); });
  });
}

std::uint64_t clock_now();  // seconds since 1970, the clock of filters that forget

}  // namespace bloomery::cli
