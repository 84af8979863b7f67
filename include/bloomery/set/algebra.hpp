// Filters as sets: union, intersection, folding, and whether one set may be part of another.
//
// All of it works on bits alone, at the speed of the memory, because equal hashes set equal bits:
// the OR of two filters is the filter of the union, to the bit. The AND contains the intersection,
// perhaps with more false positives than a filter built from that. Folding by D makes the filter of
// 1/D of the size, as if it had been built at that size.
//
// Filters that differ in shape (keyed ones also in hash or seed) are refused, the difference named.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/detail/filter/bit_filter.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

// Throws errc::mismatch and names the first difference: kind, bits, probes, hash, seed, secret key.
void check_combinable(const shape& a, const shape& b);
void check_combinable(const hash_spec& a, const hash_spec& b);

namespace detail {

void or_words(std::span<std::uint64_t> into, std::span<const std::uint64_t> from) noexcept;
void and_words(std::span<std::uint64_t> into, std::span<const std::uint64_t> from) noexcept;
[[nodiscard]] bool covers_words(std::span<const std::uint64_t> all,
                                std::span<const std::uint64_t> part) noexcept;

// Number of bits set in either.
[[nodiscard]] std::uint64_t count_union(std::span<const std::uint64_t> a,
                                        std::span<const std::uint64_t> b) noexcept;

// Throws errc::unsupported, naming what cannot be done, for filters that are not arrays of bits.
void check_of_bits(const shape& s, std::string_view what);

// The shape after folding by `divisor`. Throws errc::bad_argument unless it divides the units: the
// bits of a classic filter, those of a slice of a partitioned one, the blocks of a blocked one.
[[nodiscard]] shape folded_shape(const shape& s, std::uint64_t divisor);
// Writes every word of `into`, whatever was there.
void fold_words(std::span<std::uint64_t> into, std::span<const std::uint64_t> from, const shape& s,
                std::uint64_t divisor);

}  // namespace detail

// ---- filters of hashes ------------------------------------------------------------------------

// In place: the union, its keys() being the calls of add that went into both; and the intersection,
// its keys() being the smaller of the two, which is the most that it can hold.
template <class Probes>
bit_filter<Probes>& operator|=(bit_filter<Probes>& into, const bit_view<Probes>& from) {
  check_combinable(into.shape(), from.shape());
  detail::or_words(into.mutable_words(), from.words());
  into.set_keys(into.keys() + from.keys());
  return into;
}

template <class Probes>
bit_filter<Probes>& operator&=(bit_filter<Probes>& into, const bit_view<Probes>& from) {
  check_combinable(into.shape(), from.shape());
  detail::and_words(into.mutable_words(), from.words());
  into.set_keys(std::min(into.keys(), from.keys()));
  return into;
}

template <class Probes>
[[nodiscard]] bit_filter<Probes> merge(const bit_view<Probes>& a, const bit_view<Probes>& b) {
  bit_filter<Probes> result(a);
  result |= b;
  return result;
}

template <class Probes>
[[nodiscard]] bit_filter<Probes> intersect(const bit_view<Probes>& a, const bit_view<Probes>& b) {
  bit_filter<Probes> result(a);
  result &= b;
  return result;
}

// A filter of 1/divisor of the size, equal to one that was built at that size from the same keys.
template <class Probes>
[[nodiscard]] bit_filter<Probes> fold(const bit_view<Probes>& f, std::uint64_t divisor) {
  plan folded = f.planned();
  folded.shape = detail::folded_shape(f.shape(), divisor);
  bit_filter<Probes> result(folded, detail::unset_words{});
  detail::fold_words(result.mutable_words(), f.words(), f.shape(), divisor);
  result.set_keys(f.keys());
  return result;
}

// False when some key of `part` is surely not in `all`; true when every bit of `part` is set in
// `all`. Also the query that is itself a filter: of all the keys that it holds, at once.
template <class Probes>
[[nodiscard]] bool may_cover(const bit_view<Probes>& all, const bit_view<Probes>& part) {
  check_combinable(all.shape(), part.shape());
  return detail::covers_words(all.words(), part.words());
}

// ---- the same for keyed filters, which must agree in hash and seed too ------------------------

template <class Probes, class Hasher, class From>
keyed<bit_filter<Probes>, Hasher>& operator|=(keyed<bit_filter<Probes>, Hasher>& into,
                                              const keyed<From, Hasher>& from) {
  check_combinable(into.hash(), from.hash());
  into.filter() |= from.filter();
  into.set_form(common_form(into.form(), from.form()));
  return into;
}

template <class Probes, class Hasher, class From>
keyed<bit_filter<Probes>, Hasher>& operator&=(keyed<bit_filter<Probes>, Hasher>& into,
                                              const keyed<From, Hasher>& from) {
  check_combinable(into.hash(), from.hash());
  into.filter() &= from.filter();
  into.set_form(common_form(into.form(), from.form()));
  return into;
}

template <class A, class B, class Hasher>
[[nodiscard]] auto merge(const keyed<A, Hasher>& a, const keyed<B, Hasher>& b) {
  check_combinable(a.hash(), b.hash());
  auto result = merge(a.filter(), b.filter());
  return keyed<decltype(result), Hasher>(std::move(result), a.hash_function(),
                                         common_form(a.form(), b.form()));
}

template <class A, class B, class Hasher>
[[nodiscard]] auto intersect(const keyed<A, Hasher>& a, const keyed<B, Hasher>& b) {
  check_combinable(a.hash(), b.hash());
  auto result = intersect(a.filter(), b.filter());
  return keyed<decltype(result), Hasher>(std::move(result), a.hash_function(),
                                         common_form(a.form(), b.form()));
}

template <class A, class Hasher>
[[nodiscard]] auto fold(const keyed<A, Hasher>& f, std::uint64_t divisor) {
  auto result = fold(f.filter(), divisor);
  return keyed<decltype(result), Hasher>(std::move(result), f.hash_function(), f.form());
}

template <class A, class B, class Hasher>
[[nodiscard]] bool may_cover(const keyed<A, Hasher>& all, const keyed<B, Hasher>& part) {
  check_combinable(all.hash(), part.hash());
  return may_cover(all.filter(), part.filter());
}

}  // namespace bloomery
