// What the payloads of the static kinds (fuse, ribbon, bloomier) have in common. The arithmetic
// from a hash to cells and equations is in detail/hash/static_probe.hpp.
//
//     | arrays of shard 0 | arrays of shard 1 | ... | directory: an entry for each shard | footer |
//       from 64-byte boundaries                       4 or 8 words each                    8 words
//
// The key with hash h belongs to shard high64(h * shards). So shards are built one by one, by
// several threads or from a large file, and written as they come; what is known last stands last.
// Inside a shard h is mixed again with the shard's seed, as its upper bits say nothing new.
//
//     footer    word 0  number of shards
//               word 1  number of different keys
//               words 2 to 7  0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing_static.hpp"
#include "bloomery/detail/bits/static_arrays.hpp"
#include "bloomery/detail/hash/static_probe.hpp"

namespace bloomery::detail {

// Throws errc::bad_argument for a shape of another kind or number of words, and errc::corrupt for a
// footer that contradicts itself, the words or the number of keys in the header.
[[nodiscard]] static_directory open_static(const plan& p, filter_kind kind,
                                           std::span<const std::uint64_t> words, std::uint64_t keys,
                                           std::uint64_t entry_words);
[[noreturn]] void throw_bad_shard(filter_kind kind, std::uint64_t shard, const char* what);

// Bloomier: the cell with a key's value, or all ones when the tags say that there is none.
[[nodiscard]] inline std::uint64_t bloomier_own_cell(const std::uint64_t* words,
                                                     const packed_cells& tags, std::uint64_t mixed,
                                                     const sizing::fuse_size& size,
                                                     std::uint32_t probes) noexcept {
  std::uint64_t tag = fuse_print(mixed, tags.width);
  std::array<std::uint64_t, 4> cells{};
  std::size_t next = 0;
  fuse_cells(mixed, size, probes, [&](std::uint64_t cell) {
    tag ^= tags.get(words, cell);
    cells[next++] = cell;
  });
  return tag < probes ? cells[tag] : UINT64_MAX;
}

// Checks a directory of fuse shards whose arrays together have array_words(size) words.
template <class ArrayWords>
void check_fuse_shards(const static_directory& d, const shape& s, ArrayWords array_words) {
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < d.shards; ++i) {
    const fuse_shard shard(d.entries + i * sizing::fuse_entry_words);
    if (shard.first_word != next) throw_bad_shard(s.kind, i, "begins where it must not");
    if ((shard.size.starts == 0) != (shard.size.segment == 0)) {
      throw_bad_shard(s.kind, i, "has segments without cells");
    }
    // Below 2^31 each, so that their product does not overflow, with the last segments and all.
    if (shard.size.starts >> 31U != 0 || shard.size.segment >> 31U != 0 ||
        shard.size.cells(s.probes) > max_bits) {
      throw_bad_shard(s.kind, i, "has too many cells");
    }
    next += array_words(shard.size);
    if (next > d.array_words) throw_bad_shard(s.kind, i, "is longer than the payload");
  }
  if (next != d.array_words) throw_bad_shard(s.kind, d.shards - 1, "ends before the directory");
}

}  // namespace bloomery::detail
