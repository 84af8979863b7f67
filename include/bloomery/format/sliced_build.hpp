// Building a filter that is larger than memory.
//
// Random writes to an array on disk would cost a seek for each key. Instead the hashes are spooled,
// 8 bytes a key, and the array is then made slice by slice in memory, each written once, in order:
//
//     keys -> hashes -> | partition 0 | partition 1 | ... |   on disk, by the hash's upper bits
//                             |             |
//                       | slice 0     | slice 1     | ... |   of the array, one in memory at a time
//
// In a blocked filter the block grows with the hash, so a slice needs its own partition only. In
// the other kinds a key has bits all over the array, and every slice reads all hashes again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/image.hpp"

namespace bloomery {

// 64-bit hashes, in memory as far as allowed and then in unnamed files. Counts the keys of a pipe.
class hash_spool {
 public:
  hash_spool(std::filesystem::path directory, std::uint32_t partitions, std::size_t memory_bytes);

  // May be called from several threads.
  void append(std::span<const std::uint64_t> hashes);

  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }
  [[nodiscard]] std::uint32_t partitions() const noexcept {
    return static_cast<std::uint32_t>(parts_.size());
  }

  // Calls visit(span of hashes) until all hashes of the partition were seen.
  template <class Visit>
  void for_each(std::uint32_t partition, Visit visit) const {
    const part& p = parts_[partition];
    std::vector<std::uint64_t> piece;
    const std::uint64_t stored = p.file ? p.file->size() / sizeof(std::uint64_t) : 0;
    for (std::uint64_t done = 0; done < stored; done += piece.size()) {
      piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(stored - done, piece_hashes)));
      p.file->read_at(done * sizeof(std::uint64_t), std::as_writable_bytes(std::span(piece)));
      visit(std::span<const std::uint64_t>(piece));
    }
    p.for_each_block(visit);
  }

 private:
  static constexpr std::size_t piece_hashes = std::size_t{1} << 16U;

  struct part {
    std::vector<bit_array> blocks;  // they are never copied, and large ones have huge pages
    std::size_t used = 0;           // words of the last block
    std::optional<scratch_file> file;

    void append(std::span<const std::uint64_t> hashes);
    void append(std::uint64_t hash);
    template <class Visit>
    void for_each_block(Visit visit) const {
      for (const bit_array& block : blocks) {
        const std::span<const std::uint64_t> words = block.words();
        visit(&block == &blocks.back() ? words.first(used) : words);
      }
    }
  };

  void spill();

  std::filesystem::path directory_;
  std::size_t memory_hashes_;
  std::size_t buffered_ = 0;
  std::uint64_t keys_ = 0;
  std::vector<part> parts_;
  std::mutex mutex_;
};

// The partitions for the spool of a filter with this shape, for slices of this many bytes.
[[nodiscard]] std::uint32_t spool_partitions(const shape& s, std::uint64_t slice_bytes);

// Writes the filter of the spooled hashes, holding at most slice_bytes (at least 1 MiB) of it in
// memory. The same bytes as if it had been built in memory. header.keys is taken from the spool.
// Throws errc::unsupported for filters of foreign digests.
void build_sliced(atomic_file& file, image_header header, const hash_spool& spool,
                  std::uint64_t slice_bytes);

// The same for a fuse or ribbon filter, as many shards at a time as there are threads (0: one for
// each core), of up to shard_memory bytes each. The same bytes with any number of threads.
// header.planned.keys should be the number of hashes; header.keys is counted. Throws
// errc::unsupported for other kinds.
inline constexpr std::uint64_t shard_memory = std::uint64_t{96} << 20U;
void build_sharded(atomic_file& file, image_header header, const hash_spool& spool,
                   unsigned threads = 1);

}  // namespace bloomery
