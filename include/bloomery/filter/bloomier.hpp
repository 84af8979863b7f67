// A Bloomier filter: a static map from keys to values of 1 to 64 bits that stores no keys
// (Chazelle, Kilian, Rubinfeld and Tal 2004), on the cells of a fuse filter (Graf and Lemire 2022).
//
// A key has three or four cells, one of them to itself: its own cell. There are two tables:
//
//     tags      check bits + 2    the XOR over the key's cells is its fingerprint XOR the number of
//                                 its own cell, 0 to 3
//     values    value bits        the own cell of a key holds its value
//
// The tags of an absent key make a number that is no cell's, except by chance: with f check bits it
// is taken for present with probability probes/4 * 2^-f, and then has some value. With f = 0 nearly
// every absent key has one; such a map is for callers that ask for keys of the set only.
//
// Why two tables: with the values in the XOR itself a map would take 2 bits less for each cell,
// 2.25 a key, but a change of a value would solve all again. Here it is a write to one cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/filter/static_filter.hpp"
#include "bloomery/detail/filter/static_layout.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

class bloomier_view : public static_view<bloomier_view> {
 public:
  static constexpr filter_kind kind = filter_kind::bloomier;

  // `keys` is what the header says, at least the number of different keys in the filter. Throws
  // errc::bad_argument or errc::corrupt; reads the directory only.
  bloomier_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  // The value of a key; nothing for an absent one, except with probability fpr().
  [[nodiscard]] std::optional<std::uint64_t> value(std::uint64_t hash) const noexcept {
    const std::uint64_t own = own_cell(hash);
    if (own == nowhere) return std::nullopt;
    const std::uint64_t* const table = directory().words + value_table(hash);
    return detail::packed_cells{value_bits()}.get(table, own);
  }
  // values[i] is that of hashes[i], or 0 where bit i % 64 of bitmap[i / 64] says it is absent.
  void value_batch(std::span<const std::uint64_t> hashes, std::span<std::uint64_t> values,
                   std::span<std::uint64_t> bitmap) const noexcept;

  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    return own_cell(hash) != nowhere;
  }
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;
  // The same for integers that are hashed on the way (hash/hash.hpp).
  void contains_bits(const mixed_integers& keys, std::span<std::uint64_t> bitmap) const noexcept;

  [[nodiscard]] std::uint32_t value_bits() const noexcept { return shape().variant; }
  [[nodiscard]] std::uint32_t check_bits() const noexcept {
    return shape().cell_bits - shape().variant;
  }
  // probes/4 * 2^-check_bits, and the chance that an absent key has the hash of one in the map.
  [[nodiscard]] double fpr() const noexcept;

  [[nodiscard]] explanation explain(std::uint64_t hash) const;

 protected:
  static constexpr std::uint64_t nowhere = UINT64_MAX;

  [[nodiscard]] std::uint64_t own_cell(std::uint64_t hash) const noexcept {
    const detail::fuse_shard shard(directory().entry_of(hash, sizing::fuse_entry_words));
    if (shard.size.starts == 0) return nowhere;
    const detail::packed_cells tags{sizing::bloomier_tag_bits(shape())};
    return detail::bloomier_own_cell(directory().words + shard.first_word, tags, shard.mixed(hash),
                                     shard.size, shape().probes);
  }
  // The first word of the values in the shard of a hash.
  [[nodiscard]] std::uint64_t value_table(std::uint64_t hash) const noexcept {
    const detail::fuse_shard shard(directory().entry_of(hash, sizing::fuse_entry_words));
    return shard.first_word + sizing::bloomier_tag_words(shape(), shard.size);
  }
};

class bloomier_filter : public detail::owned<bloomier_view> {
 public:
  using owned::owned;

  // The map from hashes[i] to values[i]. A key may be given several times with the same value. Of
  // the plan the probes, the cell bits, the variant and the number of keys count (0: as many as
  // there are hashes); planned().shape.bits is what it came to. The words do not depend on the
  // number of threads (0: one for each core). Throws errc::bad_argument for a key with two values
  // and for a value that is too long, errc::unreachable for hashes that are not random.
  bloomier_filter(const plan& p, std::span<const std::uint64_t> hashes,
                  std::span<const std::uint64_t> values, unsigned threads = 1);

  // Gives a key of the map another value; false, and nothing changed, for a key that is absent. An
  // absent key that is taken for a present one overwrites the value of that: fpr() says how often.
  // Throws errc::bad_argument for a value that is too long.
  bool update(std::uint64_t hash, std::uint64_t value);
};

class bloomier_builder : public static_builder<valued_hash> {
 public:
  explicit bloomier_builder(const plan& p);
};

}  // namespace bloomery
