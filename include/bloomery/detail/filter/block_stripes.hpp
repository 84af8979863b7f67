// Lets several threads add to one array of blocks with the fast loops of one thread: hashes are
// sorted by the stripe that their block is in, and a stripe belongs to one thread at a time.
//
//     blocks   | stripe 0 | stripe 1 | ...             | stripe 63 |
//              a lock for each
//
// Atomic ORs need no lock, but they are one slow instruction for each bit of a key: 20 to 30 ns,
// against 2 for the sorting and the 2 to 5 of the loops.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/core/scratch.hpp"
#include "bloomery/detail/filter/batch.hpp"

namespace bloomery::detail {

class block_stripes {
 public:
  explicit block_stripes(std::uint64_t blocks) noexcept
      : blocks_(blocks),
        shift_(std::max(static_cast<std::uint64_t>(std::bit_width(blocks)), stripe_bits) -
               stripe_bits) {}

  // Calls add(part of the hashes) for all of them, in some order. While it runs, no other thread is
  // in a call with hashes of the same blocks.
  template <class Add>
  void visit(std::span<const std::uint64_t> hashes, Add add) noexcept {
    for (std::size_t first = 0; first < hashes.size(); first += piece) {
      visit_piece(hashes.subspan(first, std::min(piece, hashes.size() - first)), add);
    }
  }

 private:
  static constexpr std::uint64_t stripe_bits = 6;
  static constexpr std::size_t stripes = std::size_t{1} << stripe_bits;
  static constexpr std::size_t piece = shared_keys;

  struct alignas(64) lock {
    std::mutex mutex;
  };

  [[nodiscard]] std::size_t stripe_of(std::uint64_t hash) const noexcept {
    return static_cast<std::size_t>(multiply_high(hash, blocks_) >> shift_);
  }

  template <class Add>
  void visit_piece(std::span<const std::uint64_t> hashes, Add add) noexcept {
    detail::scratch<std::uint64_t, piece> sorted;
    detail::scratch<std::uint8_t, piece> stripe;
    std::array<std::size_t, stripes> ends{};
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      stripe[i] = static_cast<std::uint8_t>(stripe_of(hashes[i]));
      ++ends[stripe[i]];
    }
    std::size_t sum = 0;
    for (std::size_t& end : ends) {
      const std::size_t count = end;
      end = sum;  // where the next one goes; after the loop below, where the stripe ends
      sum += count;
    }
    for (std::size_t i = 0; i < hashes.size(); ++i) sorted[ends[stripe[i]]++] = hashes[i];
    // Threads start at different stripes, so that they seldom wait for each other.
    const std::size_t start = turn_.fetch_add(stripes / 4 + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < stripes; ++i) {
      const std::size_t s = (start + i) % stripes;
      const std::size_t begin = s == 0 ? 0 : ends[s - 1];
      if (begin == ends[s]) continue;
      const std::lock_guard guard(locks_[s].mutex);
      add(std::span<const std::uint64_t>(sorted.data() + begin, ends[s] - begin));
    }
  }

  std::uint64_t blocks_;
  std::uint64_t shift_;
  std::atomic<std::size_t> turn_{0};
  std::array<lock, stripes> locks_;
};

}  // namespace bloomery::detail
