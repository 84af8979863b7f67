#include "bloomery/sketch/dyadic_counts.hpp"

#include <algorithm>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/hash.hpp"
#include "cells.hpp"
#include "ranks.hpp"

namespace bloomery {

using sketch_detail::saturating_sum;

namespace {

constexpr std::uint32_t exact_bits = 16;  // levels with at most 2^16 prefixes count exactly
constexpr std::uint32_t counter_bits = 64;

bool is_exact(const dyadic_options& o, std::uint32_t level) {
  return o.key_bits - level <= exact_bits;
}

// One level less than bits: the prefix of no bits is the total.
plan plan_of(const dyadic_options& o, std::uint32_t level) {
  if (is_exact(o, level)) {
    // A single row of as many counters as prefixes, which are their positions.
    return {.shape =
                sizing::count_min_shape(std::uint64_t{1} << (o.key_bits - level), 1, counter_bits)};
  }
  const double parts = 2.0 * (o.key_bits - exact_bits);  // of a range, where counts may be wrong
  return {.shape = sizing::count_min_shape({.epsilon = o.epsilon / parts,
                                            .delta = o.delta / parts,
                                            .cell_bits = counter_bits,
                                            .pairwise = true})};
}

void check_options(const dyadic_options& o) {
  if (o.key_bits < 1 || o.key_bits > 64) {
    detail::throw_bad_argument("the number of bits in a key", std::uint64_t{o.key_bits},
                               "from 1 to 64");
  }
  if (!(o.epsilon > 0 && o.epsilon < 1)) {
    detail::throw_bad_argument("epsilon", o.epsilon, "above 0 and below 1");
  }
  if (!(o.delta > 0 && o.delta < 1)) {
    detail::throw_bad_argument("delta", o.delta, "above 0 and below 1");
  }
}

}  // namespace

dyadic_counts::dyadic_counts(const dyadic_options& o) : options_(o) {
  check_options(o);
  levels_.reserve(o.key_bits);
  for (std::uint32_t level = 0; level < o.key_bits; ++level) {
    count_min& made = levels_.emplace_back(plan_of(o, level));
    if (made.pairwise()) made.choose_rows(splitmix64(o.seed + level));
  }
}

dyadic_counts::dyadic_counts(const dyadic_options& o, std::vector<count_min> levels)
    : options_(o), levels_(std::move(levels)) {
  check_options(o);
  bool fine = levels_.size() == o.key_bits;
  for (std::uint32_t level = 0; fine && level < o.key_bits; ++level) {
    const count_min& l = levels_[level];
    fine = l.shape() == plan_of(o, level).shape && l.total() == levels_.front().total() &&
           (!l.pairwise() || l.row_seed() == splitmix64(o.seed + level));
  }
  if (!fine) detail::fail(errc::corrupt, "these are not the levels of such a dyadic sketch");
}

void dyadic_counts::check_key(std::uint64_t key) const {
  if (key > largest_key()) {
    detail::throw_bad_argument("the key", key,
                               "below 2^" + detail::to_text(std::uint64_t{options_.key_bits}));
  }
}

std::uint64_t dyadic_counts::hash_of(std::uint32_t level, std::uint64_t prefix) const noexcept {
  // In an exact level the prefix at the top of the word is its own position in the row.
  return is_exact(options_, level) ? prefix << (64 - (options_.key_bits - level)) : prefix;
}

std::uint64_t dyadic_counts::count_of(std::uint32_t level, std::uint64_t prefix) const noexcept {
  return levels_[level].count(hash_of(level, prefix));
}

void dyadic_counts::add(std::uint64_t key, std::uint64_t count) {
  check_key(key);
  for (std::uint32_t level = 0; level < levels_.size(); ++level) {
    levels_[level].add(hash_of(level, key >> level), count);
  }
}

void dyadic_counts::add_sorted(std::vector<counted_prefix> keys) {
  if (keys.empty()) return;
  if (!std::ranges::is_sorted(keys, {}, &counted_prefix::key)) {
    detail::fail(errc::bad_argument, "keys that are added in order must not fall");
  }
  check_key(keys.back().key);
  for (std::uint32_t level = 0; level < levels_.size(); ++level) {
    std::size_t kept = 0;
    for (const counted_prefix& next : keys) {
      if (kept != 0 && keys[kept - 1].key == next.key) {
        keys[kept - 1].count = saturating_sum(keys[kept - 1].count, next.count);
      } else {
        keys[kept++] = next;
      }
    }
    keys.resize(kept);
    for (counted_prefix& prefix : keys) {
      levels_[level].add(hash_of(level, prefix.key), prefix.count);
      prefix.key >>= 1U;
    }
  }
}

bool dyadic_counts::remove(std::uint64_t key, std::uint64_t count) {
  check_key(key);
  for (std::uint32_t level = 0; level < levels_.size(); ++level) {
    if (count_of(level, key >> level) < count) return false;
  }
  for (std::uint32_t level = 0; level < levels_.size(); ++level) {
    levels_[level].remove(hash_of(level, key >> level), count);
  }
  return true;
}

void dyadic_counts::merge(const dyadic_counts& other) {
  if (levels_.size() != other.levels_.size()) {
    detail::fail(errc::mismatch, "the sketches cannot be merged: their bits in a key differ");
  }
  // Levels that are alike can all be merged; level 0 has the options of all others.
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    levels_[level].merge(other.levels_[level]);
  }
}

std::uint64_t dyadic_counts::count_range(std::uint64_t first, std::uint64_t last) const {
  last = std::min(last, largest_key());
  if (first > last) return 0;
  if (first == 0 && last == largest_key()) return total();
  std::uint64_t sum = 0;
  // [first, last] in prefixes of the level; an end that is no whole pair is counted here.
  for (std::uint32_t level = 0;; ++level) {
    if (first == last) return saturating_sum(sum, count_of(level, first));
    if ((first & 1U) != 0) sum = saturating_sum(sum, count_of(level, first++));
    if ((last & 1U) == 0) sum = saturating_sum(sum, count_of(level, last--));
    if (first > last) return sum;
    first >>= 1U;
    last >>= 1U;
  }
}

std::uint64_t dyadic_counts::quantile(double share) const {
  const std::uint64_t wanted = sketch_detail::rank_of(share, total());
  if (total() == 0) return largest_key();
  std::uint64_t prefix = 0;
  std::uint64_t below = 0;  // keys before the prefix, by the counts
  for (auto level = static_cast<std::uint32_t>(levels_.size()); level-- > 0;) {
    prefix <<= 1U;
    const std::uint64_t left = count_of(level, prefix);
    if (saturating_sum(below, left) >= wanted) continue;
    below += left;
    prefix |= 1U;
  }
  return prefix;
}

std::uint64_t dyadic_counts::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const count_min& l : levels_) sum += l.bytes();
  return sum;
}

}  // namespace bloomery
