// How many keys of a stream of integers lie in a range, and which are its quantiles: a count-min
// sketch for each length of prefix (Cormode and Muthukrishnan 2005, section 4).
//
//     level 0   counts the keys               sketches with pairwise independent rows, for
//     level 1   counts key >> 1               the prefixes themselves are no hashes
//     ...
//     level l   counts key >> l               exact counters, where there are at most 2^16 prefixes
//
// A range is cut into at most two intervals of each level that hold all keys with one prefix. The
// sum of their counts is never too low, and it is too high by more than epsilon * total with a
// probability of at most delta: each level promises a 2 * levels-th part of both.
//
// A quantile goes down from the top, to the left when enough keys are there: at most as many keys
// as asked for are below the answer, surely, and epsilon * total fewer are at or below it with a
// probability of at most delta.
//
// What is added can be removed, and sketches of the same options be merged. An image is that of its
// levels, in their order, each of kind count-min.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/sketch/count_min.hpp"

namespace bloomery {

struct dyadic_options {
  std::uint32_t key_bits = 32;  // keys are below 2^key_bits; from 1 to 64
  double epsilon = 0.01;        // of range counts and ranks, as a share of the total
  double delta = 0.01;
  std::uint64_t seed = 0;  // chooses the functions of the rows
};

struct counted_prefix {  // a key, or what it begins with, and how often it came
  std::uint64_t key = 0;
  std::uint64_t count = 0;
};

class dyadic_counts {
 public:
  // Throws errc::bad_argument for options out of range, errc::unreachable for a delta that needs
  // more than 64 rows.
  explicit dyadic_counts(const dyadic_options& o);
  // From levels that were saved. Throws errc::corrupt unless they are those of a sketch with these
  // options.
  dyadic_counts(const dyadic_options& o, std::vector<count_min> levels);

  // Throw errc::bad_argument for a key that is not below 2^key_bits. False, and nothing changed,
  // when the key surely came less often.
  void add(std::uint64_t key, std::uint64_t count = 1);
  bool remove(std::uint64_t key, std::uint64_t count = 1);
  // As add for each, but a prefix that neighbours share is counted once: for many keys of few
  // prefixes a fraction of the time. Throws errc::bad_argument, with nothing added, unless the keys
  // never fall.
  void add_sorted(std::vector<counted_prefix> keys);
  // As if all that went into `other` had been added here. Throws errc::mismatch for other options.
  void merge(const dyadic_counts& other);

  [[nodiscard]] std::uint64_t count(std::uint64_t key) const { return count_range(key, key); }
  // Keys from first to last, both included; none when last is below first.
  [[nodiscard]] std::uint64_t count_range(std::uint64_t first, std::uint64_t last) const;
  // The key below which there are less than share * total others; share from 0 to 1. The largest
  // possible key when nothing was added.
  [[nodiscard]] std::uint64_t quantile(double share) const;

  [[nodiscard]] std::uint64_t total() const noexcept { return levels_.front().total(); }
  [[nodiscard]] const dyadic_options& options() const noexcept { return options_; }
  [[nodiscard]] std::uint64_t largest_key() const noexcept {
    return ~std::uint64_t{0} >> (64 - options_.key_bits);
  }
  [[nodiscard]] std::span<const count_min> levels() const noexcept { return levels_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept;

 private:
  void check_key(std::uint64_t key) const;
  // What a level takes for the hash of a prefix, and the count of one.
  [[nodiscard]] std::uint64_t hash_of(std::uint32_t level, std::uint64_t prefix) const noexcept;
  [[nodiscard]] std::uint64_t count_of(std::uint32_t level, std::uint64_t prefix) const noexcept;

  dyadic_options options_;
  std::vector<count_min> levels_;
};

}  // namespace bloomery
