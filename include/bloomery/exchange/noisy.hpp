// A set that one filter does not give away: several filters, each with its own hash function and
// wrong for half of all keys. Who has all sees the set sharply; who has one or two, mostly noise.
//
//     noisy_set mine({.keys = 200}, derive_hashers(master, "bert", 5));  // crypto/key_derivation
//     mine.add("clara@example.org");
//     mine.filters()[0] ...                                              // sent one at a time
//     mine.contains("clara@example.org");                                // all five say so
//
// Five filters at 50 % are wrong together for (1/2)^5, 3.1 %, of the keys (Ceglowski 2004).
//
// What it does not do: keep a secret from who has the keys. Whoever can ask all filters can ask
// about every key of a dictionary (addresses, telephone numbers and names are small ones), and
// learns all members plus dictionary * fpr others. See docs/exchange.md and the functions below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/set/estimate.hpp"

namespace bloomery {

struct noisy_options {
  std::uint64_t keys = 0;
  double fpr = 0.5;  // of each filter
};

// A plan with one probe and just the bits that make the rate what was asked for: a sharper filter,
// which other planners allow, tells too much here. Throws errc::bad_argument.
[[nodiscard]] plan noisy_plan(const noisy_options& o);

// Whether all of these filters say that the key is in the set; with none of them, anything may be.
template <class Filter, class Key>
[[nodiscard]] bool in_all_of(std::span<const Filter> filters, const Key& key) noexcept {
  for (const Filter& f : filters) {
    if (!f.contains(key)) return false;
  }
  return true;
}

template <hasher Hasher>
class noisy_set {
 public:
  using filter_type = keyed<classic_filter, Hasher>;

  // One filter for each hash function. Throws errc::bad_argument when there is none.
  noisy_set(const noisy_options& o, const std::vector<Hasher>& hashers) {
    if (hashers.empty()) throw error(errc::bad_argument, "a noisy set needs a hash function");
    const plan p = noisy_plan(o);
    for (const Hasher& h : hashers) filters_.emplace_back(classic_filter(p), h);
  }

  template <key_for<Hasher> Key>
  void add(const Key& key) noexcept {
    for (filter_type& f : filters_) f.add(key);
  }
  template <key_for<Hasher> Key>
  [[nodiscard]] bool contains(const Key& key) const noexcept {
    return in_all_of(filters(), key);
  }

  [[nodiscard]] std::span<const filter_type> filters() const noexcept { return filters_; }
  // The rate of all filters together, by the bits that are set in them.
  [[nodiscard]] double fpr() const noexcept {
    double rate = 1;
    for (const filter_type& f : filters_) rate *= f.fpr();
    return rate;
  }

 private:
  std::vector<filter_type> filters_;
};

// The mean of estimates from filters with independent hash functions.
[[nodiscard]] comparison mean_of(std::span<const comparison> all);

// How much two sets have in common, from filters with the same hash functions: r pairs have an
// error smaller by the root of r than one. Throws errc::mismatch when the filters are not alike.
template <class Filter>
[[nodiscard]] comparison compare_noisy(std::span<const Filter> a, std::span<const Filter> b) {
  if (a.size() != b.size() || a.empty()) {
    throw error(errc::mismatch, "noisy sets with different numbers of filters");
  }
  std::vector<comparison> all;
  for (std::size_t i = 0; i < a.size(); ++i) all.push_back(compare(a[i], b[i]));
  return mean_of(all);
}

// ---- what somebody learns who has some of the filters, with their keys ------------------------

struct eavesdropper {
  std::uint32_t filters = 0;  // how many of them somebody has
  double fpr = 0.5;           // the rate of each
  double prior = 0.5;         // the probability that a candidate is a member, without filters

  // By Bayes, the probability that a candidate that all these filters contain is a member.
  [[nodiscard]] double posterior() const;
  // Bits that these filters tell about a candidate, on average: from 0 to the prior's entropy.
  [[nodiscard]] double learned_bits() const;
  // Candidates of a dictionary that pass for members and are none; all members in it pass too.
  [[nodiscard]] double false_candidates(std::uint64_t dictionary, std::uint64_t members) const;

 private:
  [[nodiscard]] double together() const;
};

}  // namespace bloomery
