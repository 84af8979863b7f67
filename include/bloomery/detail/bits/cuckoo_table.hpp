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
// Cells are compared many at a time, as fields of a word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/core/cuckoo_geometry.hpp"

namespace bloomery {

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
  [[nodiscard]] place place_of(std::uint64_t hash) const noexcept;
  [[nodiscard]] std::uint64_t partner(std::uint64_t bucket,
                                      std::uint64_t fingerprint) const noexcept;

  static constexpr std::uint32_t nowhere = UINT32_MAX;
  // The first cell of the bucket with this fingerprint (0: an empty one), or nowhere; and how many.
  [[nodiscard]] std::uint32_t find(std::uint64_t bucket, std::uint64_t fingerprint) const noexcept;
  [[nodiscard]] std::uint32_t occurrences(std::uint64_t bucket,
                                          std::uint64_t fingerprint) const noexcept;
  [[nodiscard]] std::uint64_t cell(std::uint64_t bucket, std::uint32_t index) const noexcept;
  // `words` are this table's own, from somebody who may change them.
  void set_cell(std::uint64_t* words, std::uint64_t bucket, std::uint32_t index,
                std::uint64_t fingerprint) const noexcept;

  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept;
  [[nodiscard]] std::uint64_t count(std::uint64_t hash) const noexcept;
  template <class Touch>
  void lines(std::uint64_t hash, Touch touch) const noexcept {
    const place p = place_of(hash);
    touch(p.first * bucket_bits_);
    touch(p.second * bucket_bits_);
  }

  [[nodiscard]] std::uint64_t buckets() const noexcept { return base_ << scale_; }
  [[nodiscard]] std::uint32_t scale() const noexcept { return scale_; }  // t above
  [[nodiscard]] std::uint32_t cells() const noexcept { return cells_; }
  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept {
    return {words_,
            static_cast<std::size_t>(cuckoo_geometry::layer_words(buckets(), bucket_bits_))};
  }

 private:
  template <class Visit>
  void for_each_group(std::uint64_t bucket, std::uint64_t fingerprint, Visit visit) const noexcept;

  const std::uint64_t* words_;
  std::uint64_t base_;
  std::uint64_t group_ones_;  // the lowest bit of each cell of a group
  std::uint64_t group_tops_;  // the highest
  std::uint32_t scale_;
  std::uint32_t cell_bits_;
  std::uint32_t cells_;
  std::uint32_t bucket_bits_;
  std::uint32_t group_cells_;  // that fit into a word
};

}  // namespace bloomery
