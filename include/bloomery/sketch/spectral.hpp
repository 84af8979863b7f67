// The spectral Bloom filter: a classic filter with counters for bits, which answers with the count
// of a key (Cohen and Matias 2003).
//
//     | primary: k counters of a key anywhere in it | secondary: half as many, in variant 2 only |
//
// Three ways to count, all with the least counter of a key as the first estimate:
//
//   0  minimum selection   A key adds to all of its counters. Keys can be removed, filters merged.
//   1  minimal increase    A key raises only its least counters. This is the most exact, with a
//                          tenth to a third of the error, but what keys share cannot be taken out
//                          again: there is no removal.
//   2  recurring minimum   A key whose least value stands in one counter only has either one
//                          counter to itself, or none. Such keys also go to a second, emptier
//                          filter, and are answered from there. Keys can be removed.
//
// The count is never too low in variants 0 and 1 (before removals of what was not there). Recurring
// minimum as published is too low for 0.2 to 4 % of the keys, because a key in the second filter is
// not counted there while its minimum recurs. Here it is, once it is there. What remains: a key
// that never went to the second filter but seems to be there, by collisions in all k places; see
// docs/math.md. count_at_most() is never too low in any variant, and contains() never misses a key.
//
// Counters have 8, 16, 32 or 64 bits, 32 where nobody says, and saturate; a saturated one stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/owned.hpp"

namespace bloomery {

enum class spectral_rule : std::uint32_t {
  minimum_selection = 0,
  minimal_increase = 1,
  recurring_minimum = 2,
};

class spectral_view : public detail::batch_answers<spectral_view>, public detail::word_view {
 public:
  using hash_type = std::uint64_t;
  static constexpr filter_kind kind = filter_kind::spectral;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  // Throws errc::bad_argument for another kind of shape or number of words; any words are a filter.
  spectral_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  [[nodiscard]] std::uint64_t count(std::uint64_t hash) const noexcept;
  void count_batch(std::span<const std::uint64_t> hashes,
                   std::span<std::uint64_t> counts) const noexcept;
  // The least counter in the primary filter: never below what was added and not removed.
  [[nodiscard]] std::uint64_t count_at_most(std::uint64_t hash) const noexcept;

  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept { return count_at_most(hash) > 0; }
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;

  [[nodiscard]] spectral_rule rule() const noexcept {
    return static_cast<spectral_rule>(shape().variant);
  }
  [[nodiscard]] const sizing::spectral_counters& counters() const noexcept { return counters_; }

  // What a counter holds at most: a count of this means "at least". And how many counters do.
  [[nodiscard]] std::uint64_t most_count() const noexcept {
    return ~std::uint64_t{0} >> (64 - shape().cell_bits);
  }
  [[nodiscard]] std::uint64_t saturated() const noexcept;

  // The share of the primary counters that are not zero, and the chance that a key that was never
  // added has a count. Both read the whole array.
  [[nodiscard]] double fill() const noexcept;
  [[nodiscard]] double fpr() const noexcept;

  [[nodiscard]] explanation explain(std::uint64_t hash) const;
  [[nodiscard]] cell_array cells() const;

 private:
  sizing::spectral_counters counters_;
};

class spectral_filter : public detail::changeable<spectral_view> {
 public:
  using changeable::changeable;
  spectral_filter(const options& o, spectral_rule rule)
      : changeable(sizing::make_plan({.kind = kind,
                                      .keys = o.keys,
                                      .fpr = o.fpr,
                                      .variant = static_cast<std::uint32_t>(rule)})) {}

  // As `count` calls with 1, as long as no counter saturates. Adding zero changes nothing.
  void add(std::uint64_t hash, std::uint64_t count = 1) noexcept;
  void add_batch(std::span<const std::uint64_t> hashes) noexcept;
  // counts[i] for hashes[i]; the spans have one size.
  void add_batch(std::span<const std::uint64_t> hashes,
                 std::span<const std::uint64_t> counts) noexcept;

  // Takes `count` away again. False, and nothing changed, when the key surely has less, and always
  // under minimal increase. Removing what was never added makes counts of other keys too low.
  bool remove(std::uint64_t hash, std::uint64_t count = 1) noexcept;
  std::size_t remove_batch(std::span<const std::uint64_t> hashes) noexcept;

  // Sums of counters: as if all that went into `other` had been added here under minimum selection,
  // never too low under minimal increase. Throws errc::mismatch for another shape, and
  // errc::unsupported under recurring minimum: a key may be in one of the second filters only.
  void merge(const view& other);

 private:
};

}  // namespace bloomery
