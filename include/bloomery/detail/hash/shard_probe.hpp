// The positions of a shard of a filter of blocks; see hash/probe.hpp for those of whole ones. A
// class of its own, so that whole filters pay nothing for it.
#pragma once

#include <cstdint>

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

// The shard of a key, where a filter is spread over so many.
[[nodiscard]] inline std::uint64_t shard_of(std::uint64_t hash, std::uint64_t shards) noexcept {
  return detail::multiply_high(hash, shards);
}

// A filter of blocks, of which one shard is there: high64(h n B) is high64(h n) B plus
// high64(low64(h n) B), so shard high64(h n) of n is a contiguous slice of the filter with n B
// blocks. Positions are those in the slice. A key of another shard has none: all_of and
// contained_in are false for it, and add_to does nothing.
template <class Whole>
class probes_of_shard {
 public:
  using hash_type = std::uint64_t;
  static constexpr filter_kind kind = Whole::kind;
  static constexpr probe_scheme scheme = Whole::scheme;
  static constexpr std::uint32_t block_bits = Whole::block_bits;

  explicit probes_of_shard(const shape& s) noexcept
      : all_({.probes = s.probes, .bits = s.bits * s.shard.count}),
        blocks_(s.bits / block_bits),
        first_(blocks_ * s.shard.index) {}

  [[nodiscard]] bool owns(std::uint64_t hash) const noexcept { return block_of(hash) < blocks_; }
  // Of a key of another shard it is a number past the last block.
  [[nodiscard]] std::uint64_t block_of(std::uint64_t hash) const noexcept {
    return all_.block_of(hash) - first_;
  }

  template <class Test>
  bool all_of(std::uint64_t hash, Test test) const noexcept {
    return owns(hash) && all_.all_of(hash, [&](std::uint64_t position) {
      return test(position - first_ * block_bits);
    });
  }
  template <class Touch>
  void lines(std::uint64_t hash, Touch touch) const noexcept {
    if (owns(hash)) touch(block_of(hash) * block_bits);
  }
  [[nodiscard]] bool contained_in(const std::uint64_t* words, std::uint64_t hash) const noexcept {
    return owns(hash) && all_.lanes().covered(hash, words + block_of(hash) * (block_bits / 64));
  }
  bool add_to(std::uint64_t* words, std::uint64_t hash) const noexcept {
    return owns(hash) && all_.lanes().set(hash, words + block_of(hash) * (block_bits / 64));
  }
  [[nodiscard]] auto mask_of(std::uint64_t hash) const noexcept { return all_.mask_of(hash); }

 private:
  Whole all_;
  std::uint64_t blocks_;
  std::uint64_t first_;
};

using shard_probes = probes_of_shard<blocked_probes>;
using split_block_shard_probes = probes_of_shard<split_block_probes>;

}  // namespace bloomery
