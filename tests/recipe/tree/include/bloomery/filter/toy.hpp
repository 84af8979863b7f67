// The toy filter: one bit for each key, at a position anywhere in the array.
//
// Nobody needs it: a Bloom filter has the same rate in a tenth of the space at 1 %. It is the
// example of "How to add a filter" in HACKING.md, with all that a filter must have and no more.
#pragma once

#include <cstdint>
#include <span>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/owned.hpp"

namespace bloomery {

class toy_view : public detail::word_view, public detail::batch_answers<toy_view> {
 public:
  using hash_type = std::uint64_t;
  static constexpr filter_kind kind = filter_kind::toy;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  // Throws errc::bad_argument unless the shape is one of this kind and the words are its bits.
  toy_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    return detail::test_bit(words_, position_of(hash));
  }
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;

  // The share of set bits, which is also the chance that a random hash finds its bit set.
  [[nodiscard]] double fill() const noexcept;
  [[nodiscard]] double fpr() const noexcept { return fill(); }
  // What it looks at for a key, and its cells; filter/explanation.hpp. No filter must have them.
  [[nodiscard]] explanation explain(std::uint64_t hash) const;
  [[nodiscard]] cell_array cells() const;

 protected:
  [[nodiscard]] std::uint64_t position_of(std::uint64_t hash) const noexcept {
    return detail::multiply_high(hash, shape().bits);
  }
};

class toy_filter : public detail::changeable<toy_view> {
 public:
  using changeable::changeable;

  void add(std::uint64_t hash) noexcept {
    detail::set_bit(mutable_words().data(), position_of(hash));
    ++key_count();
  }
  void add_batch(std::span<const std::uint64_t> hashes) noexcept {
    for (const std::uint64_t hash : hashes) add(hash);
  }
};

}  // namespace bloomery
