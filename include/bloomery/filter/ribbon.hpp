// A bumped ribbon filter: within 1 % of the information bound for any fpr of 2^-r (Dillinger,
// Huebschle-Schneider, Sanders and Walzer 2022).
//
// A static set where space counts more than speed. A key is an equation over GF(2): r bits, the
// fingerprint, are the XOR of those slots among 128 consecutive ones that its coefficients choose.
//
//     slots    | . . . . . . . . . . . . . . . . . . . . . . . . |
//     key a          [1 0 1 1 0 ... 1]                             128 coefficients from its start
//     key b              [1 1 0 1 0 ... 0]
//
// There are 4 % fewer slots than keys, so that nearly all of them get used. In each bucket of 512
// starts the first few equations are bumped to the next, smaller layer when they would not fit: a
// threshold of two bits says which. The last layer has room for all.
//
// Slots are stored in columns: word j of a group of r words holds bit j of 64 consecutive slots. So
// any r costs r bits a slot, and a lookup is three ANDs and a parity for each of the r columns.
#pragma once

#include <cstdint>
#include <span>

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/filter/static_filter.hpp"
#include "bloomery/detail/filter/static_layout.hpp"

namespace bloomery {

class ribbon_view : public static_view<ribbon_view> {
 public:
  static constexpr filter_kind kind = filter_kind::ribbon;

  // `keys` is what the header says, at least the number of different keys in the filter. Throws
  // errc::bad_argument or errc::corrupt; reads the directory only.
  ribbon_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept { return holds(place_of(hash)); }
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;

  // 2^-cell_bits, and the chance that an absent key has the hash of one in the set.
  [[nodiscard]] double fpr() const noexcept;

  [[nodiscard]] explanation explain(std::uint64_t hash) const;

 private:
  [[nodiscard]] detail::ribbon_place place_of(std::uint64_t hash) const noexcept {
    const std::uint64_t* const entry = directory().entry_of(hash, sizing::ribbon_entry_words);
    return detail::ribbon_place::of(hash, directory().words, entry, shape().cell_bits);
  }

  [[nodiscard]] bool holds(const detail::ribbon_place& place) const noexcept {
    if (place.columns == nullptr) return false;
    const std::uint32_t bits = shape().cell_bits;
    const detail::ribbon_cover cover(detail::ribbon_equation(place.mixed), place.shift);
    const auto chosen = [&](std::uint32_t j) { return cover.chosen(place.columns, bits, j); };
    std::uint64_t wrong = detail::ribbon_print(place.mixed, bits);
    std::uint32_t j = 0;
    for (; j + 8 <= bits; j += 8) {
      wrong ^= detail::odd_of_eight([&](std::uint32_t i) { return chosen(j + i); }) << j;
      // An absent key is out after two columns on average; asking after each would mispredict.
      if ((wrong & (std::uint64_t{0xff} << j)) != 0) return false;
    }
    for (; j < bits; ++j) {
      wrong ^= static_cast<std::uint64_t>(__builtin_parityll(chosen(j))) << j;
    }
    return wrong == 0;
  }
};

class ribbon_builder;

class ribbon_filter : public detail::owned<ribbon_view> {
 public:
  using builder = ribbon_builder;
  using owned::owned;

  // The set of these hashes, in any order; repetitions are dropped. Of the plan the cell bits and
  // the number of keys count (0: as many as there are hashes); planned().shape.bits is what it came
  // to. The words do not depend on the number of threads (0: one for each core). Throws
  // errc::unreachable for hashes that are not random.
  ribbon_filter(const plan& p, std::span<const std::uint64_t> hashes, unsigned threads = 1);
};

class ribbon_builder : public static_builder<std::uint64_t> {
 public:
  explicit ribbon_builder(const plan& p);
};

}  // namespace bloomery
