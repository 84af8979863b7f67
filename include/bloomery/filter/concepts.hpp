// What a filter can do, as concepts. Front ends and tests are written against these, not against names.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/core/shape.hpp"

namespace bloomery {

// Answers for hashes. `contains` never says no to a hash that was added.
template <class T>
concept queryable =
    requires(const T& f, const typename T::hash_type& hash,
             std::span<const typename T::hash_type> hashes, std::span<std::uint64_t> bitmap) {
      { f.contains(hash) } noexcept -> std::same_as<bool>;
      { f.contains_bits(hashes, bitmap) } noexcept;
    };

template <class T>
concept updatable = queryable<T> && requires(T& f, const typename T::hash_type& hash,
                                             std::span<const typename T::hash_type> hashes) {
  { f.add(hash) } noexcept;
  { f.add_batch(hashes) } noexcept;
};

// Is a shape and words, so that it can be written to a file and mapped from one.
template <class T>
concept storable = requires(const T& f) {
  { f.planned() } -> std::convertible_to<const plan&>;
  { f.shape() } -> std::convertible_to<const bloomery::shape&>;
  { f.keys() } -> std::same_as<std::uint64_t>;
  { f.words() } -> std::convertible_to<std::span<const std::uint64_t>>;
  { f.fpr() } -> std::same_as<double>;
};

}  // namespace bloomery
