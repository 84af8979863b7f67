// Loops over many keys and the 64-byte blocks that they ask, for filters that ask several blocks with one hash: the
// masks of the keys first, then one filter of blocks after the other. By instruction set, chosen once; all
// give the same masks and answers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/hash/probe.hpp"

namespace bloomery::kernel {

// masks[i] becomes that of hashes[i].
void make_masks(const blocked_probes& probes, std::span<const std::uint64_t> hashes,
                block_mask* masks) noexcept;

// Blocks of one filter, each `stride` words after the one before it.
struct block_row {
  const std::uint64_t* words = nullptr;
  std::uint64_t blocks = 0;
  std::size_t stride = 8;

  [[nodiscard]] const std::uint64_t* at(std::uint64_t hash) const noexcept {
    return words + detail::multiply_high(hash, blocks) * stride;
  }
};

// Bit i: whether the block of hashes[i] covers masks[i]. At most 64 hashes. `next` are those that will be asked
// after these, of all rows: their lines are called for meanwhile.
[[nodiscard]] std::uint64_t covered(const block_row& row, std::span<const std::uint64_t> hashes,
                                    const block_mask* masks,
                                    std::span<const std::uint64_t> next = {}) noexcept;

// All of the above: a bitmap of which hashes one of the rows covers. `rows(visit)` calls visit for each row.
template <class Rows>
void answer_rows(const blocked_probes& probes, std::span<const std::uint64_t> hashes,
                 std::span<std::uint64_t> bitmap, Rows rows) noexcept {
  constexpr std::size_t piece = 64;
  std::array<block_mask, piece> masks;
  const auto piece_at = [&](std::size_t first) {
    return hashes.subspan(first, std::min(piece, hashes.size() - first));
  };
  for (std::size_t first = 0; first < hashes.size(); first += piece) {
    const auto now = piece_at(first);
    const auto next = piece_at(std::min(first + piece, hashes.size()));
    make_masks(probes, now, masks.data());
    std::uint64_t found = 0;
    rows([&](const block_row& row) { found |= covered(row, now, masks.data(), next); });
    bitmap[first / piece] = found;
  }
}

}  // namespace bloomery::kernel
