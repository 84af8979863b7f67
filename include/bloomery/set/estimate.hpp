// What filters tell about the sets behind them: how many keys, how many in common.
//
// A filter of n keys leaves a bit at 0 with probability q(n) = q^n, where q is the chance that one
// key spares it. So the number of zeros gives n, the zeros of the OR of two filters give the size
// of the union, and the intersection follows. (Swamidass and Baldi 2007; Papapetrou et al. 2010.)
//
// Each estimate comes with its standard error, from the exact variances and covariances of the
// numbers of zeros for the layout at hand. They differ: keys of a blocked filter crowd into blocks,
// which moves the zeros together; docs/math.md has the derivation.
#pragma once

#include <cstdint>

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/filter/bit_filter.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/set/algebra.hpp"

namespace bloomery {

struct estimate {
  double value = 0;           // infinite when every bit is set
  double standard_error = 0;  // of the value, over the choice of the hash function
};

struct comparison {
  estimate keys_a;
  estimate keys_b;
  estimate keys_union;
  estimate keys_intersection;
  estimate only_a;
  estimate only_b;
  estimate jaccard;               // intersection / union
  std::uint64_t shared_bits = 0;  // set in both
};

// The number of different keys of a filter of this shape with this many bits set.
[[nodiscard]] estimate estimate_keys(const shape& s, std::uint64_t bits_set);

// From the numbers of bits set in A, in B, and in both together.
[[nodiscard]] comparison compare_bits(const shape& s, std::uint64_t set_a, std::uint64_t set_b,
                                      std::uint64_t set_union);

template <class Probes>
[[nodiscard]] estimate estimate_keys(const bit_view<Probes>& f) {
  return estimate_keys(f.shape(), f.bits_set());
}

template <class Probes>
[[nodiscard]] comparison compare(const bit_view<Probes>& a, const bit_view<Probes>& b) {
  check_combinable(a.shape(), b.shape());
  return compare_bits(a.shape(), a.bits_set(), b.bits_set(),
                      detail::count_union(a.words(), b.words()));
}

template <class Filter, class Hasher>
[[nodiscard]] estimate estimate_keys(const keyed<Filter, Hasher>& f) {
  return estimate_keys(f.filter());
}

template <class A, class B, class Hasher>
[[nodiscard]] comparison compare(const keyed<A, Hasher>& a, const keyed<B, Hasher>& b) {
  check_combinable(a.hash(), b.hash());
  return compare(a.filter(), b.filter());
}

}  // namespace bloomery
