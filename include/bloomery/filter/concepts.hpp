// What a filter can do, as concepts, which front ends and tests are written against.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

// Kinds of a fixed size add without ever throwing; those that grow can run out of memory.
template <class T>
concept updatable = queryable<T> && requires(T& f, const typename T::hash_type& hash,
                                             std::span<const typename T::hash_type> hashes) {
  f.add(hash);
  f.add_batch(hashes);
};

// Takes a key out again. False, and nothing changed, when the key is surely not in the filter.
template <class T>
concept removable = updatable<T> && requires(T& f, const typename T::hash_type& hash) {
  { f.remove(hash) } noexcept -> std::same_as<bool>;
};

// How often a key was added: never too low, perhaps too high.
template <class T>
concept countable =
    requires(const T& f, const typename T::hash_type& hash,
             std::span<const typename T::hash_type> hashes, std::span<std::uint64_t> counts) {
      { f.count(hash) } noexcept -> std::same_as<std::uint64_t>;
      { f.count_batch(hashes, counts) } noexcept;
    };

// Is a shape and words, so that it can be written to a file and mapped from one. The words of a
// filter that grows are in several pieces: it has `parts`, a list of spans, instead of `words`.
template <class T>
concept storable =
    requires(const T& f) {
      { f.planned() } -> std::convertible_to<const plan&>;
      { f.shape() } -> std::convertible_to<const bloomery::shape&>;
      { f.keys() } -> std::same_as<std::uint64_t>;
      { f.fpr() } -> std::same_as<double>;
    } &&
    (
        requires(const T& f) {
          { f.words() } -> std::convertible_to<std::span<const std::uint64_t>>;
        } ||
        requires(const T& f) {
          { f.parts() } -> std::convertible_to<std::vector<std::span<const std::uint64_t>>>;
        });

}  // namespace bloomery
