#include "bloomery/sketch/spectral.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "bloomery/detail/core/scratch.hpp"
#include "bloomery/filter/explanation.hpp"
#include "bloomery/hash/probe.hpp"
#include "cells.hpp"
#include "kernel/batch.hpp"
#include "kernel/wide/wide.hpp"

namespace bloomery {

namespace {

using sketch_detail::cell_format;
using sketch_detail::saturating_sum;

// c^probes: from the hash of a key to its hash for the secondary filter. With the hash itself the
// positions would be half the primary ones, and keys that meet in one filter would meet in both.
std::uint64_t secondary_multiplier(std::uint32_t probes) noexcept {
  std::uint64_t power = 1;
  for (std::uint32_t j = 0; j < probes; ++j) power *= next_probe_multiplier;
  return power;
}

// For loops over many keys: the bits that a key touches. Only adding surely needs the secondary.
struct probed {
  using hash_type = std::uint64_t;
  std::uint32_t probes;
  std::uint32_t cell_bits;
  sizing::spectral_counters counters;
  bool both;

  probed(const spectral_view& v, bool updates)
      : probes(v.shape().probes),
        cell_bits(v.shape().cell_bits),
        counters(v.counters()),
        both(updates && counters.secondary > 0) {}
  template <class Touch>
  void lines(std::uint64_t hash, Touch touch) const noexcept {
    const std::uint32_t all = both ? 2 * probes : probes;
    for (std::uint32_t j = 0; j < all; ++j) {
      const std::uint64_t index =
          j < probes ? detail::multiply_high(hash, counters.primary)
                     : counters.primary + detail::multiply_high(hash, counters.secondary);
      touch(index * cell_bits);
      hash *= next_probe_multiplier;
    }
  }
};

// The counters of a key in one of the two filters, as they were when it was made. Values are read
// before any is written, so a counter that two probes meet rises once.
class key_counters {
 public:
  key_counters(const std::uint64_t* words, cell_format cells, std::uint64_t hash,
               std::uint32_t probes, std::uint64_t first, std::uint64_t counters) noexcept
      : cells_(cells), probes_(probes) {
    for (std::uint32_t j = 0; j < probes; ++j) {
      at_[j] = first + detail::multiply_high(hash, counters);
      value_[j] = cells.get(words, at_[j]);
      least_ = std::min(least_, value_[j]);
      hash *= next_probe_multiplier;
    }
  }

  [[nodiscard]] std::uint64_t least() const noexcept { return least_; }
  // Whether the least value stands in two different counters.
  [[nodiscard]] bool recurs() const noexcept {
    std::uint32_t first = 0;
    while (value_[first] != least_) ++first;
    for (std::uint32_t j = first + 1; j < probes_; ++j) {
      if (value_[j] == least_ && at_[j] != at_[first]) return true;
    }
    return false;
  }

  void add(std::uint64_t* words, std::uint64_t count) const noexcept {
    change(words, [&](std::uint64_t value) { return cells_.sum(value, count); });
  }
  void raise(std::uint64_t* words, std::uint64_t to) const noexcept {
    change(words, [&](std::uint64_t value) { return std::max(value, to); });
  }
  void subtract(std::uint64_t* words, std::uint64_t count) const noexcept {
    change(words, [&](std::uint64_t value) { return cells_.difference(value, count); });
  }

 private:
  template <class Change>
  void change(std::uint64_t* words, Change changed) const noexcept {
    for (std::uint32_t j = 0; j < probes_; ++j) cells_.set(words, at_[j], changed(value_[j]));
  }

  cell_format cells_;
  std::uint32_t probes_;
  std::uint64_t least_ = ~std::uint64_t{0};
  detail::scratch<std::uint64_t, max_probes> at_;
  detail::scratch<std::uint64_t, max_probes> value_;
};

key_counters in_primary(const spectral_view& v, std::uint64_t hash) noexcept {
  const cell_format cells(v.shape().cell_bits);
  return {v.words().data(), cells, hash, v.shape().probes, 0, v.counters().primary};
}

key_counters in_secondary(const spectral_view& v, std::uint64_t hash) noexcept {
  const cell_format cells(v.shape().cell_bits);
  hash *= secondary_multiplier(v.shape().probes);
  return {v.words().data(),      cells, hash, v.shape().probes, v.counters().primary,
          v.counters().secondary};
}

// The primary filter, for the kernels.
template <class Word>
kernel::scatter_array<Word> cells_of(Word* words, const spectral_view& v) noexcept {
  return {.words = words,
          .range = v.counters().primary,
          .probes = v.shape().probes,
          .cell_log = static_cast<std::uint32_t>(std::countr_zero(v.shape().cell_bits))};
}

sizing::spectral_counters checked_counters(const shape& s) {
  const sizing::spectral_counters counters = sizing::spectral_split(s);
  if (s.variant == 2 && counters.secondary == 0) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "at least three counters for recurring minimum");
  }
  return counters;
}

}  // namespace

spectral_view::spectral_view(const plan& p, std::span<const std::uint64_t> words,
                             std::uint64_t keys)
    : word_view(detail::checked_plan(p, words, kind), words.data(), keys),
      counters_(checked_counters(p.shape)) {}

std::uint64_t spectral_view::count_at_most(std::uint64_t hash) const noexcept {
  const cell_format cells(shape().cell_bits);
  std::uint64_t least = cells.most();
  for (std::uint32_t j = 0; j < shape().probes; ++j) {
    least = std::min(least, cells.get(words_, detail::multiply_high(hash, counters_.primary)));
    hash *= next_probe_multiplier;
  }
  return least;
}

std::uint64_t spectral_view::count(std::uint64_t hash) const noexcept {
  if (rule() != spectral_rule::recurring_minimum) return count_at_most(hash);
  const key_counters primary = in_primary(*this, hash);
  if (primary.recurs()) return primary.least();
  const std::uint64_t second = in_secondary(*this, hash).least();
  return second > 0 ? std::min(primary.least(), second) : primary.least();
}

void spectral_view::count_batch(std::span<const std::uint64_t> hashes,
                                std::span<std::uint64_t> counts) const noexcept {
  if (rule() == spectral_rule::recurring_minimum) {
    kernel::look_ahead_loop(probed(*this, false), words(), hashes,
                            [&](std::size_t i) { counts[i] = count(hashes[i]); });
  } else {
    kernel::wide_kernels_chosen().count_min.count(cells_of(words_, *this),
                                                  kernel::hashes_of(hashes), counts.data());
  }
}

void spectral_view::contains_bits(std::span<const std::uint64_t> hashes,
                                  std::span<std::uint64_t> bitmap) const noexcept {
  kernel::wide_kernels_chosen().scatter.contains(cells_of(words_, *this), kernel::hashes_of(hashes),
                                                 bitmap.data());
}

double spectral_view::fill() const noexcept {
  const cell_format cells(shape().cell_bits);
  std::uint64_t used = 0;
  for (std::uint64_t i = 0; i < counters_.primary; ++i) {
    used += cells.get(words_, i) != 0 ? 1U : 0U;
  }
  return static_cast<double>(used) / static_cast<double>(counters_.primary);
}

std::uint64_t spectral_view::saturated() const noexcept {
  return sketch_detail::count_saturated(words(), shape().cell_bits);
}

double spectral_view::fpr() const noexcept { return std::pow(fill(), shape().probes); }

void spectral_filter::add(std::uint64_t hash, std::uint64_t count) noexcept {
  if (count == 0) return;
  std::uint64_t* const words = mutable_words().data();
  const key_counters primary = in_primary(*this, hash);
  const std::uint64_t least = cell_format(shape().cell_bits).sum(primary.least(), count);
  switch (rule()) {
    case spectral_rule::minimum_selection: primary.add(words, count); break;
    case spectral_rule::minimal_increase: primary.raise(words, least); break;
    case spectral_rule::recurring_minimum: {
      primary.add(words, count);
      const key_counters secondary = in_secondary(*this, hash);
      // All counters of the key rise alike, but a saturated one may be met by others: look again.
      if (secondary.least() > 0) {
        secondary.add(words, count);
      } else if (!in_primary(*this, hash).recurs()) {
        secondary.add(words, least);
      }
      break;
    }
  }
  key_count() = saturating_sum(keys(), 1);
}

void spectral_filter::add_batch(std::span<const std::uint64_t> hashes) noexcept {
  if (rule() == spectral_rule::minimal_increase) {
    kernel::wide_kernels_chosen().count_min.raise(cells_of(mutable_words().data(), *this),
                                                  kernel::hashes_of(hashes), nullptr);
    key_count() = saturating_sum(keys(), hashes.size());
  } else {
    kernel::look_ahead_loop(probed(*this, true), words(), hashes,
                            [&](std::size_t i) { add(hashes[i]); });
  }
}

void spectral_filter::add_batch(std::span<const std::uint64_t> hashes,
                                std::span<const std::uint64_t> counts) noexcept {
  kernel::look_ahead_loop(probed(*this, true), words(), hashes,
                          [&](std::size_t i) { add(hashes[i], counts[i]); });
}

bool spectral_filter::remove(std::uint64_t hash, std::uint64_t count) noexcept {
  if (rule() == spectral_rule::minimal_increase) return false;
  if (count == 0) return true;
  const key_counters primary = in_primary(*this, hash);
  if (!cell_format(shape().cell_bits).covers(primary.least(), count)) return false;
  std::uint64_t* const words = mutable_words().data();
  primary.subtract(words, count);
  if (rule() == spectral_rule::recurring_minimum) {
    const key_counters secondary = in_secondary(*this, hash);
    secondary.subtract(words, std::min(count, secondary.least()));
  }
  if (keys() > 0) --key_count();
  return true;
}

std::size_t spectral_filter::remove_batch(std::span<const std::uint64_t> hashes) noexcept {
  std::size_t removed = 0;
  kernel::look_ahead_loop(probed(*this, true), words(), hashes,
                          [&](std::size_t i) { removed += remove(hashes[i]) ? 1U : 0U; });
  return removed;
}

void spectral_filter::merge(const view& other) {
  sketch_detail::check_mergeable(shape(), other.shape());
  if (rule() == spectral_rule::recurring_minimum) {
    detail::fail(errc::unsupported, "spectral filters with recurring minimum cannot be merged");
  }
  const cell_format cells(shape().cell_bits);
  std::uint64_t* const words = mutable_words().data();
  for (std::uint64_t i = 0; i < counters().primary; ++i) {
    cells.set(words, i, cells.sum(cells.get(words, i), cells.get(other.words().data(), i)));
  }
  key_count() = saturating_sum(keys(), other.keys());
}

explanation spectral_view::explain(std::uint64_t hash) const {
  const bloomery::shape primary{
      .kind = filter_kind::classic, .probes = shape().probes, .bits = counters_.primary};
  return detail::explain_counters(
      classic_probes(primary), hash, count(hash),
      [&](std::uint64_t counter) { return cell_format(shape().cell_bits).get(words_, counter); });
}

cell_array spectral_view::cells() const {
  return {.unit = "counters", .parts = {words()}, .cell_bits = shape().cell_bits};
}

}  // namespace bloomery
