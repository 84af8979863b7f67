// Fingerprints of f bits, b in a bucket, packed without gaps: one layer of a cuckoo filter, and
// where in it a key's fingerprint may be.
//
//     B0 2^t buckets, bucket i = u 2^t + v:   u in [0, B0), v in [0, 2^t)
//     partner of i:   u' = (H - u) mod B0,  v' = v xor V,   H < B0 and V < 2^t by the fingerprint
//
// The partner of the partner is i again: H - (H - u) = u and v xor V xor V = v. So any number of
// buckets works; with xor alone (Fan et al. 2014) it would have to be a power of two, and the table
// up to twice as large. v and V are the first t bits of longer strings: in a layer with a smaller
// t, the buckets of a key are prefixes of those here.
//
// Cells are compared many at a time, as fields of a word. Nearly every bucket (four cells of up to
// 16 bits) lies in one load of eight bytes from anywhere, and then a key costs two loads and no
// branch on what they find, which would be mispredicted for half of the keys.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "bloomery/bits/counter_array.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/core/cuckoo_geometry.hpp"

namespace bloomery {

namespace detail {

// The numbers of a table, for the loops over many keys too.
struct cuckoo_array {
  const std::uint64_t* words = nullptr;
  std::uint64_t base = 0;  // B0
  std::uint64_t buckets = 0;
  std::uint64_t most = 0;        // the greatest fingerprint
  std::uint64_t group_ones = 0;  // the lowest bit of each cell of a group
  std::uint64_t group_tops = 0;  // the highest
  std::uint64_t group_rest = 0;  // all but the highest
  std::uint64_t bytes = 0;       // eight can be read from where any bucket begins
  std::uint32_t scale = 0;       // t
  std::uint32_t cell_bits = 0;
  std::uint32_t cells = 0;
  std::uint32_t bucket_bits = 0;
  std::uint32_t bucket_bytes = 0;  // 0 where that is no whole number
  std::uint32_t group_cells = 0;   // that fit into a word
  bool in_one_load = false;        // every bucket
  bool is_plain = false;           // that, and t = 0

  // Turns a fingerprint into where its partner is.
  static constexpr std::uint64_t multiplier = 0x9fb21c651e98df25U;
};

}  // namespace detail

class cuckoo_table {
 public:
  using hash_type = std::uint64_t;

  cuckoo_table(const shape& s, const std::uint64_t* words, std::uint64_t base_buckets,
               std::uint32_t scale) noexcept;

  struct place {
    std::uint64_t first;   // bucket
    std::uint64_t second;  // its partner; may be the same
    std::uint64_t fingerprint;
  };
  [[nodiscard]] place place_of(std::uint64_t hash) const noexcept {
    const std::uint64_t fingerprint = fingerprint_of(hash);
    const std::uint64_t first = detail::multiply_high(hash, buckets());
    return {.first = first, .second = partner(first, fingerprint), .fingerprint = fingerprint};
  }
  [[nodiscard]] std::uint64_t partner(std::uint64_t bucket,
                                      std::uint64_t fingerprint) const noexcept {
    const std::uint64_t mixed = mix(fingerprint);
    if (t_.scale == 0) return reflect(bucket, mixed);
    const std::uint64_t flip = (mixed & UINT32_MAX) >> (32U - t_.scale);
    const std::uint64_t lower = bucket & ((std::uint64_t{1} << t_.scale) - 1);
    return reflect(bucket >> t_.scale, mixed) << t_.scale | (lower ^ flip);
  }

  // Nearly every filter is one layer of t = 0 whose buckets lie in one load each: calls with one
  // key ask for that once, and then take plain_place_of and the calls below that say so. Out of the
  // cache such a call costs as much as it has instructions, since a processor looks ahead over a
  // fixed number of them for the misses of the next keys.
  [[nodiscard]] bool is_plain() const noexcept { return t_.is_plain; }
  [[nodiscard]] place plain_place_of(std::uint64_t hash) const noexcept {
    const std::uint64_t fingerprint = fingerprint_of(hash);
    const std::uint64_t first = detail::multiply_high(hash, t_.base);
    return {.first = first, .second = reflect(first, mix(fingerprint)), .fingerprint = fingerprint};
  }
  [[nodiscard]] bool plain_contains(std::uint64_t hash) const noexcept {
    const place p = plain_place_of(hash);
    const bool in_bytes = t_.bucket_bytes != 0;
    const std::uint64_t in_first = in_bytes ? load_bytes(p.first) : load(p.first);
    const std::uint64_t in_second = in_bytes ? load_bytes(p.second) : load(p.second);
    const std::uint64_t wanted = p.fingerprint * t_.group_ones;
    return ((borrows(in_first ^ wanted) | borrows(in_second ^ wanted)) & t_.group_tops) != 0;
  }

  static constexpr std::uint32_t nowhere = UINT32_MAX;
  // The first cell of the bucket with this fingerprint (0: an empty one), or nowhere; and how many.
  [[nodiscard]] std::uint32_t find(std::uint64_t bucket, std::uint64_t fingerprint) const noexcept;
  [[nodiscard]] std::uint32_t occurrences(std::uint64_t bucket,
                                          std::uint64_t fingerprint) const noexcept;
  [[nodiscard]] bool has_empty(std::uint64_t bucket) const noexcept {
    if (t_.in_one_load) return (borrows(load(bucket)) & t_.group_tops) != 0;
    return find(bucket, 0) != nowhere;
  }
  [[nodiscard]] std::uint64_t cell(std::uint64_t bucket, std::uint32_t index) const noexcept {
    if (t_.in_one_load) return (load(bucket) >> (index * t_.cell_bits)) & t_.most;
    return detail::get_bits(t_.words, position_of(bucket) + std::uint64_t{index} * t_.cell_bits,
                            t_.cell_bits);
  }
  // Whether visit(index, fingerprint) is true for a cell of the bucket; the first ends it.
  template <class Visit>
  bool any_cell(std::uint64_t bucket, Visit visit) const noexcept {
    std::uint64_t bits = t_.in_one_load ? load(bucket) : 0;
    for (std::uint32_t i = 0; i < t_.cells; ++i, bits >>= t_.cell_bits) {
      if (visit(i, t_.in_one_load ? bits & t_.most : cell(bucket, i))) return true;
    }
    return false;
  }
  // `words` are this table's own, from somebody who may change them.
  void set_cell(std::uint64_t* words, std::uint64_t bucket, std::uint32_t index,
                std::uint64_t fingerprint) const noexcept {
    detail::set_bits(words, position_of(bucket) + std::uint64_t{index} * t_.cell_bits, t_.cell_bits,
                     fingerprint);
  }

  // A cell by the bit of its bucket where it begins, which is nowhere if there is none.
  struct spot {
    std::uint64_t bucket;
    std::uint32_t bit;
  };
  // The lowest empty cell of both, of two that are equally low that of the first bucket. Cells are
  // filled from the lowest on: until keys are removed this is the less loaded bucket.
  [[nodiscard]] spot find_empty(const place& p) const noexcept {
    return t_.in_one_load ? loaded_empty(p) : search_empty(p);
  }
  [[nodiscard]] spot loaded_empty(const place& p) const noexcept {
    const std::uint64_t in_first = lowest_bit(borrows(load(p.first)) & t_.group_tops);
    const std::uint64_t in_second = lowest_bit(borrows(load(p.second)) & t_.group_tops);
    // None is greater than any, and no branch, as below.
    const std::uint64_t other = std::uint64_t{0} - std::uint64_t{in_second - 1 < in_first - 1};
    return spot_of(p, in_first ^ ((in_first ^ in_second) & other), other);
  }
  // The first cell with the fingerprint in the first bucket, or in the second.
  [[nodiscard]] spot find_in_either(const place& p) const noexcept {
    return t_.in_one_load ? loaded_in_either(p) : search_either(p);
  }
  [[nodiscard]] spot loaded_in_either(const place& p) const noexcept {
    const std::uint64_t wanted = p.fingerprint * t_.group_ones;
    const std::uint64_t in_first = borrows(load(p.first) ^ wanted) & t_.group_tops;
    const std::uint64_t in_second = borrows(load(p.second) ^ wanted) & t_.group_tops;
    // By a mask: which of the buckets it is nobody can predict, and compilers would branch.
    const std::uint64_t other = std::uint64_t{0} - std::uint64_t{in_first == 0};
    return spot_of(p, in_first | (in_second & other), other);
  }
  // Puts the fingerprint into an empty cell, or takes it out of its own.
  void toggle(std::uint64_t* words, const spot& s, std::uint64_t fingerprint) const noexcept {
    if (t_.in_one_load) return toggle_loaded(words, s, fingerprint);
    const std::uint64_t at = position_of(s.bucket) + s.bit;
    const std::uint64_t there = detail::get_bits(words, at, t_.cell_bits);
    detail::set_bits(words, at, t_.cell_bits, there ^ fingerprint);
  }
  void toggle_loaded(std::uint64_t* words, const spot& s,
                     std::uint64_t fingerprint) const noexcept {
    const load_place from = load_place_of(s.bucket);
    auto* const bytes = reinterpret_cast<unsigned char*>(words) + from.byte;
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes, sizeof eight);
    eight ^= detail::little_endian(fingerprint << (from.shift + s.bit));
    std::memcpy(bytes, &eight, sizeof eight);
  }

  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    return t_.is_plain ? plain_contains(hash) : find_in_either(place_of(hash)).bit != nowhere;
  }
  [[nodiscard]] std::uint64_t count(std::uint64_t hash) const noexcept {
    return count(place_of(hash));
  }
  [[nodiscard]] std::uint64_t count(const place& p) const noexcept {
    const std::uint64_t in_first = occurrences(p.first, p.fingerprint);
    return p.second == p.first ? in_first : in_first + occurrences(p.second, p.fingerprint);
  }
  // The bit where a bucket begins.
  [[nodiscard]] std::uint64_t position_of(std::uint64_t bucket) const noexcept {
    return bucket * t_.bucket_bits;
  }
  template <class Touch>
  void lines(const place& p, Touch touch) const noexcept {
    touch(position_of(p.first));
    touch(position_of(p.second));
  }
  template <class Touch>
  void lines(std::uint64_t hash, Touch touch) const noexcept {
    lines(place_of(hash), touch);
  }

  [[nodiscard]] const detail::cuckoo_array& numbers() const noexcept { return t_; }
  [[nodiscard]] std::uint64_t buckets() const noexcept { return t_.buckets; }
  [[nodiscard]] std::uint32_t scale() const noexcept { return t_.scale; }  // t above
  [[nodiscard]] std::uint32_t cells() const noexcept { return t_.cells; }
  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept {
    return {t_.words, static_cast<std::size_t>(t_.bytes / 8)};
  }

 private:
  // The last bits of the hash, since the bucket has the first. 0 is an empty cell: where they are 0
  // the fingerprint is 1, which is twice as likely as others and adds 2^-f of itself to the rate.
  [[nodiscard]] std::uint64_t fingerprint_of(std::uint64_t hash) const noexcept {
    const std::uint64_t last = hash & t_.most;
    return last + ((last - 1) >> 63U);
  }
  // A product alone has equal differences, so that moves from a bucket lead to few others: with
  // fingerprints of 5 bits the table would fill to 91 instead of 97 %.
  [[nodiscard]] static std::uint64_t mix(std::uint64_t fingerprint) noexcept {
    const std::uint64_t product = fingerprint * detail::cuckoo_array::multiplier;
    return product ^ (product << 32U);
  }
  [[nodiscard]] std::uint64_t reflect(std::uint64_t upper, std::uint64_t mixed) const noexcept {
    const std::uint64_t mirror = detail::multiply_high(mixed, t_.base);
    return mirror - upper + (mirror < upper ? t_.base : 0);
  }
  // The eight bytes that hold a bucket: those from its first byte on.
  struct load_place {
    std::uint64_t byte;
    std::uint32_t shift;
  };
  [[nodiscard]] load_place load_place_of(std::uint64_t bucket) const noexcept {
    const std::uint64_t position = position_of(bucket);
    return {.byte = position / 8, .shift = static_cast<std::uint32_t>(position % 8)};
  }
  // The cells of a bucket, and above them bits of its neighbour.
  [[nodiscard]] std::uint64_t load(std::uint64_t bucket) const noexcept {
    const load_place from = load_place_of(bucket);
    std::uint64_t eight = 0;
    std::memcpy(&eight, reinterpret_cast<const unsigned char*>(t_.words) + from.byte, sizeof eight);
    return detail::little_endian(eight) >> from.shift;
  }
  [[nodiscard]] std::uint64_t load_bytes(std::uint64_t bucket) const noexcept {
    std::uint64_t eight = 0;
    std::memcpy(&eight, reinterpret_cast<const unsigned char*>(t_.words) + bucket * t_.bucket_bytes,
                sizeof eight);
    return detail::little_endian(eight);
  }
  // The highest bit of each cell that equals the fingerprint. A field of x = cells xor fingerprint
  // is 0 where they are equal, and adding all ones but the highest to its lower bits then leaves
  // the highest 0; no carry reaches the next field.
  [[nodiscard]] static std::uint64_t equal_fields(std::uint64_t x, std::uint64_t rest,
                                                  std::uint64_t tops) noexcept {
    return ~(((x & rest) + rest) | x) & tops;
  }
  // The highest bit of the lowest field that is 0; of the fields above it no bit has a meaning.
  [[nodiscard]] std::uint64_t borrows(std::uint64_t x) const noexcept {
    return (x - t_.group_ones) & ~x;
  }
  [[nodiscard]] std::uint64_t equal_cells(std::uint64_t bucket,
                                          std::uint64_t fingerprint) const noexcept {
    return equal_fields(bucket ^ (fingerprint * t_.group_ones), t_.group_rest, t_.group_tops);
  }

  [[nodiscard]] static std::uint64_t lowest_bit(std::uint64_t bits) noexcept {
    return bits & (std::uint64_t{0} - bits);
  }
  // The lowest of these cells of the first bucket, or of the second if `other` is all ones.
  [[nodiscard]] spot spot_of(const place& p, std::uint64_t cells,
                             std::uint64_t other) const noexcept {
    if (cells == 0) return {.bucket = p.first, .bit = nowhere};
    return {.bucket = p.first ^ ((p.first ^ p.second) & other),
            .bit = static_cast<std::uint32_t>(std::countr_zero(cells)) + 1 - t_.cell_bits};
  }

  template <class Visit>
  void for_each_group(std::uint64_t bucket, std::uint64_t fingerprint, Visit visit) const noexcept;
  [[nodiscard]] spot search_empty(const place& p) const noexcept;
  [[nodiscard]] spot search_either(const place& p) const noexcept;

  detail::cuckoo_array t_;
};

}  // namespace bloomery
