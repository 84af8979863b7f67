// A set that one filter does not give away: several filters of it, each wrong for half of all keys,
// each with a hash function of its own. Who has all of them sees the set sharply; who got hold of
// one or two sees mostly noise.
//
//     noisy_set mine({.keys = 200}, derive_hashers(master, "bert", 5));  // crypto/key_derivation
//     mine.add("clara@example.org");
//     mine.filters()[0] ...                                              // sent one at a time
//     mine.contains("clara@example.org");                                // all five say so
//
// Five filters at 50 % are wrong together for (1/2)^5, 3.1 %, of the keys. (The scheme is
// Ceglowski's, 2004, for address books.)
//
// What it does not do: keep a secret from who has the keys. Whoever can ask all filters about a key
// can ask them about every key of a dictionary, and learns all members plus dictionary * fpr
// others. Addresses, telephone numbers and names come from small dictionaries. docs/exchange.md
// says more; what somebody learns from some of the filters is computed below.
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

// A plan with one probe and as many bits as make the rate exactly what was asked for. The planner
// of other filters would go below the rate, which is welcome elsewhere; here a sharper filter tells
// too much. Throws errc::bad_argument.
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

// How much two sets have in common, from filters with the same hash functions: each pair gives an
// estimate, and r pairs one with a standard error smaller by the root of r. Throws errc::mismatch
// when the filters are not alike.
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

  // By Bayes, the probability that a candidate is a member when all these filters contain it. A
  // candidate that one of them does not contain is surely no member.
  [[nodiscard]] double posterior() const;
  // Bits of information that these filters give about one candidate, on average over members and
  // others: 0 with no filter, the entropy of the prior with filters that are never wrong.
  [[nodiscard]] double learned_bits() const;
  // How many candidates of a dictionary pass for members and are none. All members in the
  // dictionary are found.
  [[nodiscard]] double false_candidates(std::uint64_t dictionary, std::uint64_t members) const;

 private:
  [[nodiscard]] double together() const;
};

}  // namespace bloomery
