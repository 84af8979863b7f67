// From hashes to equations for the ribbon kernels: detail/hash/static_probe.hpp's arithmetic, as
// many keys at a time as a Number has places (eight_avx512.hpp, one.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "bloomery/core/sizing_static.hpp"
#include "bloomery/detail/hash/static_probe.hpp"
#include "kernel/pipeline.hpp"
#include "ribbon.hpp"

namespace bloomery::kernel {

inline constexpr std::size_t ribbon_ring_groups = 32;

struct ribbon_ring {  // what is known of the staged keys, group g in slot g % ribbon_ring_groups
  // The coefficients as they lie over three words of a column.
  alignas(64) std::uint64_t first[ribbon_ring_groups * group];
  alignas(64) std::uint64_t second[ribbon_ring_groups * group];
  alignas(64) std::uint64_t third[ribbon_ring_groups * group];
  alignas(64) std::uint64_t print[ribbon_ring_groups * group];
  alignas(64) std::uint64_t word[ribbon_ring_groups * group];  // of the first column
  std::uint8_t nowhere[ribbon_ring_groups];                    // bit i: key i has no place here
};

// Keys that are looked up later, and their numbers among the keys of the call.
template <std::size_t Keys>
struct ribbon_rest {
  std::size_t count = 0;
  std::uint64_t hash[Keys + group];
  std::uint64_t index[Keys + group];
};

// The first layer of the shards of some keys.
template <class Number>
struct ribbon_layer {
  Number word;  // of the first column
  Number seed;
  Number starts;     // 0 where there is no such layer
  Number threshold;  // the word of the first one
};

template <class Number>
class ribbon_stage {
 public:
  explicit ribbon_stage(const ribbon_array& array) noexcept : array_(array) {
    const std::uint64_t* const entry = array.directory.entries;
    const auto number = [entry](std::size_t i) { return detail::little_endian(entry[i]); };
    // If there is one shard, `only_` is the first layer that it has. The last layer bumps no key.
    std::uint32_t layer = 0;
    while (layer + 1 < sizing::ribbon_layers && number(2 + layer) == 0) ++layer;
    bumps_ = array.directory.shards > 1 || layer + 1 < sizing::ribbon_layers;
    only_ = {Number::all(number(0)), Number::all(number(1)),
             Number::all(sizing::ribbon_starts(number(2 + layer))),
             Number::all(number(0) + number(6))};
  }

  // Puts group g into the ring, and keys without a first layer or bumped from it into the rest.
  template <std::size_t Keys>
  [[gnu::always_inline]] void operator()(const std::uint64_t* hashes, std::size_t g,
                                         ribbon_ring& ring,
                                         ribbon_rest<Keys>& rest) const noexcept {
    static constexpr std::uint64_t numbers[group] = {0, 1, 2, 3, 4, 5, 6, 7};
    const std::size_t slot = g % ribbon_ring_groups;
    unsigned nowhere = 0;
    for (std::size_t i = 0; i < group; i += Number::width) {
      const Number hash = Number::load(hashes + i);
      const unsigned left = put(hash, ring, slot * group + i);
      hash.store_some(left, rest.hash + rest.count);
      const Number index = Number::all(g * group + i) + Number::load(numbers);
      index.store_some(left, rest.index + rest.count);
      rest.count += static_cast<std::size_t>(std::popcount(left));
      nowhere |= left << i;
    }
    ring.nowhere[slot] = static_cast<std::uint8_t>(nowhere);
  }

 private:
  // Returns a bit for each key that goes into the rest.
  [[gnu::always_inline]] unsigned put(const Number& hash, ribbon_ring& ring,
                                      std::size_t at) const noexcept {
    const ribbon_layer<Number> layer = layer_of(hash);
    const Number mixed = mix64(hash, layer.seed);
    const Number start = multiply_high_short(mixed, layer.starts);
    const Number shift = start & Number::all(63);
    const Number back = Number::all(63) - shift;
    const Number low = fold(mixed, detail::ribbon_low_multiplier) | Number::all(1);
    const Number high = fold(mixed, detail::ribbon_high_multiplier);
    const Number print = mixed * Number::all(detail::fuse_print_multiplier);
    (low << shift).store(ring.first + at);
    ((high << shift) | ((low >> 1U) >> back)).store(ring.second + at);
    ((high >> 1U) >> back).store(ring.third + at);
    (print >> (64U - array_.bits)).store(ring.print + at);
    (layer.word + (start >> 6U) * Number::all(array_.bits)).store(ring.word + at);
    return bumps_ ? waiting(layer, start) : 0;
  }

  [[gnu::always_inline]] [[nodiscard]] ribbon_layer<Number> layer_of(
      const Number& hash) const noexcept {
    if (array_.directory.shards == 1) return only_;
    static_assert(sizing::ribbon_entry_words == 8);
    const std::uint64_t* const entries = array_.directory.entries;
    const Number entry = multiply_high_short(hash, Number::all(array_.directory.shards)) << 3U;
    Number row[4];
    Number::gather_rows(entries, entry, row);
    // A shard without the layer gets the first columns of the array, so that reading them is safe.
    const Number there = Number::all(0) - least_of(row[2], Number::all(1));
    return {row[0] & there, row[1], (row[2] - Number::all(sizing::ribbon_width)) & there,
            row[0] + Number::gather(entries + 6, entry)};
  }

  // A bit for each key that is bumped (detail::ribbon_is_bumped) or whose shard lacks the layer.
  [[gnu::always_inline]] [[nodiscard]] unsigned waiting(const ribbon_layer<Number>& layer,
                                                        const Number& start) const noexcept {
    static_assert(sizing::ribbon_bucket_slots == 512);
    const Number bucket = start >> 9U;
    const Number word = Number::gather(array_.directory.words, layer.threshold + (bucket >> 5U));
    const Number code = (word >> ((bucket + bucket) & Number::all(63))) & Number::all(3);
    const Number limit = (Number::all(packed_thresholds) >> (code << 4U)) & Number::all(0xffff);
    const Number less = (start & Number::all(511)) - limit;  // below 0: bumped
    const Number none = layer.starts - Number::all(1);
    return meet(less | none, Number::all(std::uint64_t{1} << 63U));
  }

  [[gnu::always_inline]] static Number fold(const Number& a, std::uint64_t multiplier) noexcept {
    const Number m = Number::all(multiplier);
    return (a * m) ^ multiply_high(a, m);
  }

  // The four thresholds in 16 bits each.
  static constexpr std::uint64_t packed_thresholds =
      std::uint64_t{detail::ribbon_thresholds[0]} |
      std::uint64_t{detail::ribbon_thresholds[1]} << 16U |
      std::uint64_t{detail::ribbon_thresholds[2]} << 32U |
      std::uint64_t{detail::ribbon_thresholds[3]} << 48U;

  ribbon_layer<Number> only_;
  ribbon_array array_;
  bool bumps_;
};

namespace {

// One key, whatever its layer, into the ring.
inline void put_ribbon_key(const ribbon_array& array, std::uint64_t hash, ribbon_ring& ring,
                           std::size_t at) noexcept {
  const detail::static_directory& d = array.directory;
  const std::uint64_t* const entry = d.entry_of(hash, sizing::ribbon_entry_words);
  const auto place = detail::ribbon_place::of(hash, d.words, entry, array.bits);
  const detail::ribbon_cover cover(detail::ribbon_equation(place.mixed), place.shift);
  const bool none = place.columns == nullptr;
  ring.first[at] = cover.first;
  ring.second[at] = cover.second;
  ring.third[at] = cover.third;
  ring.print[at] = detail::ribbon_print(place.mixed, array.bits);
  ring.word[at] = none ? 0 : static_cast<std::uint64_t>(place.columns - d.words);
  std::uint8_t& nowhere = ring.nowhere[at / group];
  nowhere = static_cast<std::uint8_t>(nowhere | unsigned{none} << (at % group));
}

}  // namespace

}  // namespace bloomery::kernel
