// What a filter type has, for the faces: concepts beyond those of filter/concepts.hpp, and from
// them the abilities, which filter_table.cpp holds against the table of kinds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bloomery/core/kinds.hpp"
#include "bloomery/filter/concepts.hpp"

namespace bloomery::detail {

template <class Filter>
concept has_values = requires(const Filter& f, std::span<const typename Filter::hash_type> hashes,
                              std::span<std::uint64_t> out) { f.value_batch(hashes, out, out); };
template <class Filter>
concept has_clock = requires(Filter& f) { f.advance(std::uint64_t{}); };
// A shard: there are keys that are not its own.
template <class Filter>
concept has_others_keys = requires(const Filter& f) { f.probes().owns(std::uint64_t{}); };
template <class Filter>
concept has_adder = requires { typename Filter::shared_adder; };
// A union in place is |= of bits, += of counters, or a call.
template <class Filter>
concept merges_bits = requires(Filter& f, const typename Filter::view& v) { f |= v; };
template <class Filter>
concept merges_counters = requires(Filter& f, const typename Filter::view& v) { f += v; };
template <class Filter>
concept has_merge = merges_bits<Filter> || merges_counters<Filter> ||
                    requires(Filter& f, const typename Filter::view& v) { f.merge(v); };
// A sketch that needs keys and not only hashes, and whose words are made when they are asked for.
template <class Filter>
concept keeps_keys = requires(Filter& f, std::span<const std::string_view> keys,
                              std::span<const std::uint64_t> hashes) {
  f.add_batch(keys, hashes);
  f.serialise();
};

// The view of an owner, and a view itself.
template <class Filter>
struct viewed {
  using type = Filter;
};
template <class Filter>
  requires requires { typename Filter::view; }
struct viewed<Filter> {
  using type = typename Filter::view;
};

template <class Filter>
constexpr abilities abilities_of_owner() {
  abilities a;
  a.add = updatable<Filter> || keeps_keys<Filter>;
  a.add_concurrently = has_adder<Filter>;
  a.remove = removable<Filter>;
  a.count = countable<Filter>;
  a.value = has_values<Filter>;
  a.merge = has_merge<Filter>;
  if constexpr (requires { Filter::grows; }) a.grow = Filter::grows;
  a.forget = has_clock<Filter>;
  a.lists_top = keeps_keys<Filter>;
  return a;
}

}  // namespace bloomery::detail
