// A binary fuse filter: the least space of all with byte-wise fingerprints (Graf and Lemire 2022).
//
// A static set: built once from all keys. Each key has a cell in each of three or four neighbouring
// segments of an array, and the cells are solved so that their XOR is the key's fingerprint:
//
//     | cell cell cell ... | cell cell cell ... | cell cell cell ... | ...        segments
//              ^                     ^                   ^
//              a          XOR        b         XOR       c      ==  fingerprint(key)?
//
// An absent key finds its fingerprint by chance only: fpr = 2^-8, 2^-16 or 2^-32. From a million
// keys on it takes 1.13 cells a key with three probes, which are faster, and 1.075 with four; a
// Bloom filter takes 1.44 times the bound. Layout: detail/filter/static_layout.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/filter/static_filter.hpp"
#include "bloomery/detail/filter/static_layout.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

class fuse_view : public static_view<fuse_view> {
 public:
  static constexpr filter_kind kind = filter_kind::fuse;

  // `keys` is what the header says, at least the number of different keys in the filter. Throws
  // errc::bad_argument or errc::corrupt; reads the directory only.
  fuse_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    const detail::fuse_shard shard(directory().entry_of(hash, sizing::fuse_entry_words));
    if (shard.size.starts == 0) return false;
    const detail::even_cells cells{shape().cell_bits};
    const std::uint64_t* const words = directory().words + shard.first_word;
    const std::uint64_t mixed = shard.mixed(hash);
    std::uint64_t found = detail::fuse_print(mixed, shape().cell_bits);
    const auto visit = [&](std::uint64_t cell) { found ^= cells.shifted(words, cell); };
    if (shape().probes == 3) {  // loops that are unrolled: 8.3 ns in the cache instead of 10.2
      detail::fuse_cells(mixed, shard.size, 3, visit);
    } else {
      detail::fuse_cells(mixed, shard.size, 4, visit);
    }
    return (found & cells.mask()) == 0;
  }
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;
  // The same for integers that are hashed on the way (hash/hash.hpp).
  void contains_bits(const mixed_integers& keys, std::span<std::uint64_t> bitmap) const noexcept;

  // 2^-cell_bits, and the chance that an absent key has the hash of one in the set.
  [[nodiscard]] double fpr() const noexcept;

  [[nodiscard]] explanation explain(std::uint64_t hash) const;
};

class fuse_builder;

class fuse_filter : public detail::owned<fuse_view> {
 public:
  using builder = fuse_builder;
  using owned::owned;

  // The set of these hashes, in any order; repetitions are dropped. Of the plan the probes, the
  // cell bits and the number of keys count (0: as many as there are hashes); planned().shape.bits
  // is what it came to. The words do not depend on the number of threads (0: one for each core).
  // Throws errc::unreachable for hashes that are not random.
  fuse_filter(const plan& p, std::span<const std::uint64_t> hashes, unsigned threads = 1);
};

class fuse_builder : public static_builder<std::uint64_t> {
 public:
  explicit fuse_builder(const plan& p);
};

}  // namespace bloomery
