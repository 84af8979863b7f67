#include "gpu/partition.hpp"

#include <algorithm>
#include <cmath>

namespace bloomery::gpu {

namespace {

// A range of blocks that is filled in shared memory: three thread blocks, of 72 KiB each, share a
// multiprocessor, so that one reads while another writes.
constexpr std::uint64_t most_range_blocks = 1150;
// Fewer bins would leave multiprocessors without work, and many threads at one counter.
constexpr std::uint32_t fewest_bits = 8;
constexpr std::uint32_t most_level_bits = 9;
// Below these, the launches and the half-empty tiles take longer than adding key by key.
constexpr std::uint64_t fewest_keys = std::uint64_t{1} << 20U;
constexpr std::uint64_t fewest_keys_a_bin = 64;
// Thread blocks that all multiprocessors work on at a time, four times over.
constexpr std::uint64_t enough_pieces = std::uint64_t{4} * 3 * 132;

constexpr std::size_t aligned(std::size_t bytes) noexcept { return (bytes + 255) / 256 * 256; }

std::uint64_t capacity_for(double mean) noexcept {
  return static_cast<std::uint64_t>(mean + 8 * std::sqrt(mean) + 64) / 16 * 16;
}

}  // namespace

std::uint64_t partition::hashes_of(std::size_t level) const noexcept {
  const deal_level& l = levels[level];
  return l.capacity << (l.bits_before + l.bits);
}

std::size_t partition::counter_bytes() const noexcept {
  std::size_t counters = 0;
  for (std::size_t i = 0; i < count; ++i) {
    counters += std::size_t{1} << (levels[i].bits_before + levels[i].bits);
  }
  return aligned(counters * sizeof(std::uint32_t));
}

// A level reads what the level before has written, so that two buffers do for three.
std::uint64_t partition::buffer(std::size_t number) const noexcept {
  std::uint64_t most = 0;
  for (std::size_t i = number; i < count; i += 2) most = std::max(most, hashes_of(i));
  return aligned(most * sizeof(std::uint64_t));
}

partition partition::of(std::uint64_t blocks, std::uint64_t keys) noexcept {
  partition p;
  std::uint32_t bits = fewest_bits;
  while ((blocks >> bits) + 2 > most_range_blocks) ++bits;
  const auto levels_needed = (bits + most_level_bits - 1) / most_level_bits;
  // With less than a key a block, writing all ranges takes longer than a line for each key: 10
  // against 13 G keys a second with 2^28 keys and 32 GiB on an H200, 14 with 16 GiB.
  if (levels_needed > most_levels || keys < blocks || keys < fewest_keys ||
      keys >> bits < fewest_keys_a_bin) {
    return p;
  }
  p.count = levels_needed;
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < p.count; ++i) {
    const auto left = static_cast<std::uint32_t>(p.count - i);
    deal_level& l = p.levels[i];
    l.bits_before = before;
    l.bits = (bits - before + left - 1) / left;
    before += l.bits;
    l.capacity = capacity_for(std::ldexp(static_cast<double>(keys), -static_cast<int>(before)));
  }
  const std::uint64_t bins = std::uint64_t{1} << bits;
  p.pieces = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, enough_pieces / bins));
  p.bytes = p.counter_bytes() + p.buffer(0) + p.buffer(1);
  return p;
}

void partition::place(std::byte* scratch) noexcept {
  auto* counters = reinterpret_cast<std::uint32_t*>(scratch);
  std::byte* const buffers[2] = {scratch + counter_bytes(), scratch + counter_bytes() + buffer(0)};
  for (std::size_t i = 0; i < count; ++i) {
    deal_level& l = levels[i];
    l.counts = counters;
    counters += std::size_t{1} << (l.bits_before + l.bits);
    l.hashes = reinterpret_cast<std::uint64_t*>(buffers[i % 2]);
  }
}

}  // namespace bloomery::gpu
