// A sequence of calls on blocks of bits and of counters, which are lines of fingerprints and split
// blocks, too, by the kernels of every instruction set that this machine has, against the same
// calls for one key at a time, lane by lane: the same words and the same answers.
//
//     byte 0         probes
//     byte 1         width of a counter
//     bytes 2, 3     blocks
//     byte 4         how far apart the blocks of bits are
//     then calls     1 byte which, then a batch: its length, its kind and one key from which the
//                    others follow

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../src/kernel/blocked/blocked.hpp"
#include "../src/kernel/dispatch.hpp"
#include "../src/kernel/scalable/scalable.hpp"
#include "../src/kernel/split_block/split_block.hpp"
#include "bloomery/detail/hash/listed_lanes.hpp"
#include "bloomery/detail/hash/split_lanes.hpp"
#include "bloomery/hash/hash.hpp"
#include "input.hpp"

namespace {

using namespace bloomery;
using bloomery_fuzz::input;
using bloomery_fuzz::require;

struct layout {
  std::uint32_t probes;
  std::uint32_t width;
  std::uint64_t blocks;
  std::uint64_t stride;
};

// Keys and their hashes. Few different ones in every second batch, so that they meet in a group.
struct batch {
  explicit batch(input& in) {
    const std::size_t count = in.take(2) % 400;
    const std::uint64_t kind = in.take(1);
    std::uint64_t next = in.take(8);
    is_mixed = kind % 2 == 1;
    for (std::size_t i = 0; i < count; ++i) {
      const bool repeats = (kind & 2U) != 0 && i > 2 && next % 3 != 0;
      keys.push_back(repeats ? keys[next % i] : next);
      hashes.push_back(is_mixed ? mix64(keys.back(), seed) : keys.back());
      next = splitmix64(next);
    }
  }
  [[nodiscard]] kernel::key_run run() const {
    return {.keys = keys.data(), .count = keys.size(), .mixed = is_mixed, .spread_seed = seed};
  }

  static constexpr std::uint64_t seed = splitmix64(99);
  bool is_mixed = false;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint64_t> hashes;
};

// Lane by lane.
struct model {
  explicit model(const layout& l)
      : shape(l), tables(l.probes), bits(l.blocks * l.stride), counters(l.blocks * 8) {}

  [[nodiscard]] detail::listed_lanes lanes() const { return detail::listed_lanes(tables); }
  std::uint64_t* bits_of(std::uint64_t hash) {
    return bits.data() + detail::multiply_high(hash, shape.blocks) * shape.stride;
  }
  std::uint64_t* counters_of(std::uint64_t hash) {
    return counters.data() + detail::multiply_high(hash, shape.blocks) * 8;
  }
  std::uint64_t* split_block_of(std::uint64_t hash) {
    return counters.data() + detail::multiply_high(hash, shape.blocks * 2) * 4;
  }

  layout shape;
  detail::lane_tables tables;
  std::vector<std::uint64_t> bits;
  std::vector<std::uint64_t> counters;
};

void require_bitmap(std::span<const std::uint64_t> bitmap, const std::vector<bool>& answers) {
  for (std::size_t i = 0; i < bitmap.size() * 64; ++i) {
    const bool expected = i < answers.size() && answers[i];
    require(((bitmap[i / 64] >> (i % 64)) & 1U) == (expected ? 1U : 0U));
  }
}

constexpr std::uint32_t cell_widths[] = {16, 12, 21, 32};

// Adds to lines of fingerprints by a kernel and by calls for one key.
void play_adding(const batch& b, kernel::level level, detail::split_lines lines,
                 std::vector<std::uint64_t> words) {
  std::vector<std::uint64_t> expected = words;
  std::vector<std::uint64_t> full((b.keys.size() + 63) / 64, ~std::uint64_t{0});
  std::vector<std::uint64_t> fresh = full;
  lines.words = words.data();
  const std::uint64_t appended = kernel::scalable_kernels_of(level).add(
      lines, words.data(), b.run(), full.data(), fresh.data());
  lines.words = expected.data();
  std::uint64_t put = 0;
  std::vector<bool> answers;
  std::vector<bool> stored;
  for (const std::uint64_t h : b.hashes) {
    std::uint64_t* const line = expected.data() + (lines.line_of(h) - lines.words);
    const bool fits = lines.fits(line, lines.cell_of(h));
    answers.push_back(!fits && lines.cells.is_full(line));
    stored.push_back(!fits && !answers.back());
    if (!stored.back()) continue;
    lines.cells.append(line, lines.cell_of(h));
    ++put;
  }
  require(appended == put);
  require(words == expected);
  require_bitmap(full, answers);
  require_bitmap(fresh, stored);
}

// One call by the kernels on `mine`, and by the model.
void play(unsigned call, const batch& b, kernel::level level, model& mine, model& expected) {
  const kernel::blocked_kernels& kernels = kernel::blocked_kernels_of(level);
  const layout& l = mine.shape;
  const kernel::changing_blocks bits{mine.bits.data(), l.blocks, l.probes, 1, l.stride};
  const kernel::changing_blocks counters{mine.counters.data(), l.blocks, l.probes, l.width};
  const kernel::const_blocks asked_bits{mine.bits.data(), l.blocks, l.probes, 1, l.stride};
  const kernel::const_blocks asked{mine.counters.data(), l.blocks, l.probes, l.width};
  std::vector<std::uint64_t> bitmap((b.keys.size() + 63) / 64, ~std::uint64_t{0});
  std::vector<bool> answers;
  std::size_t changed = 0;
  // In the bits, too: any words are planes.
  const std::uint32_t sharing = call / 16 + 1;
  kernel::changing_blocks changed_planes = bits;
  changed_planes.planes = {32 / sharing, 1U << call / 12 % sharing * (32 / sharing)};
  kernel::const_blocks asked_planes = asked_bits;
  asked_planes.planes = changed_planes.planes;
  asked_planes.planes.first |= 1;
  switch (call % 12) {
    case 0:
      kernels.add(bits, b.run());
      for (const std::uint64_t h : b.hashes) expected.lanes().set(h, expected.bits_of(h));
      break;
    case 1:
      for (const std::uint64_t h : b.hashes) {
        changed += expected.lanes().covered(h, expected.bits_of(h)) ? 0U : 1U;
        expected.lanes().set(h, expected.bits_of(h));
      }
      require(kernels.add_new(bits, b.run()) == changed);
      break;
    case 2:
      kernels.contains(asked_bits, b.run(), bitmap.data());
      for (const std::uint64_t h : b.hashes) {
        answers.push_back(expected.lanes().covered(h, expected.bits_of(h)));
      }
      require_bitmap(bitmap, answers);
      break;
    case 3:
      kernels.add_counted(counters, b.run());
      for (const std::uint64_t h : b.hashes) {
        expected.lanes().increment(h, expected.counters_of(h), l.width);
      }
      break;
    case 4:
      for (const std::uint64_t h : b.hashes) {
        changed += expected.lanes().decrement(h, expected.counters_of(h), l.width) ? 1U : 0U;
      }
      require(kernels.remove_counted(counters, b.run()) == changed);
      break;
    case 5:
      kernels.contains_counted(asked, b.run(), bitmap.data());
      for (const std::uint64_t h : b.hashes) {
        answers.push_back(expected.lanes().counted(h, expected.counters_of(h), l.width));
      }
      require_bitmap(bitmap, answers);
      break;
    case 6: {
      // Any words are fingerprints. The first few are the stash, which may be without a free slot.
      const detail::split_lines lines{.words = mine.counters.data(),
                                      .lines = l.blocks,
                                      .cells = detail::word_cells(cell_widths[b.keys.size() % 4]),
                                      .stash = {.slots = mine.counters.data(), .count = 8}};
      kernel::scalable_kernels_of(level).contains(lines, b.run(), bitmap.data());
      for (const std::uint64_t h : b.hashes) answers.push_back(lines.contains(h));
      require_bitmap(bitmap, answers);
      play_adding(b, level, lines, mine.counters);
      break;
    }
    case 7: {
      std::vector<std::uint64_t> counts(b.keys.size());
      kernels.count(asked, b.run(), counts.data());
      for (std::size_t i = 0; i < counts.size(); ++i) {
        const std::uint64_t h = b.hashes[i];
        require(counts[i] == expected.lanes().least(h, expected.counters_of(h), l.width));
      }
      break;
    }
    case 8:
      kernel::split_block_kernels_of(level).add(
          {.words = mine.counters.data(), .blocks = l.blocks * 2, .stride = 4}, b.run());
      for (const std::uint64_t h : b.hashes) {
        detail::listed_split_lanes::set(h, expected.split_block_of(h));
      }
      break;
    case 9:
      for (const std::uint64_t h : b.hashes) {
        changed += expected.lanes().set_in(h, expected.bits_of(h), changed_planes.planes) ? 1U : 0U;
      }
      require(kernels.add_new_in(changed_planes, b.run()) == changed);
      break;
    case 10:
      kernels.contains_in(asked_planes, b.run(), bitmap.data());
      for (const std::uint64_t h : b.hashes) {
        answers.push_back(expected.lanes().covered_in(h, expected.bits_of(h), asked_planes.planes));
      }
      require_bitmap(bitmap, answers);
      break;
    default:
      kernel::split_block_kernels_of(level).contains(
          {.words = mine.counters.data(), .blocks = l.blocks * 2, .stride = 4}, b.run(),
          bitmap.data());
      for (const std::uint64_t h : b.hashes) {
        answers.push_back(detail::listed_split_lanes::covered(h, expected.split_block_of(h)));
      }
      require_bitmap(bitmap, answers);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input in(data, size);
  layout l{};
  l.probes = static_cast<std::uint32_t>(in.take(1) % 16 + 1);
  l.width = std::uint32_t{2} << (in.take(1) % 4);
  l.blocks = in.take(2) % 6000 + 1;  // up to more than the portable kernels take to be in the cache
  l.stride = (in.take(1) % 3 + 1) * 8;
  for (const kernel::level level : kernel::levels) {
    if (!kernel::available(level)) continue;
    input calls = in;
    model mine(l);
    model expected(l);
    while (!calls.empty()) {
      const auto call = static_cast<unsigned>(calls.take(1));
      play(call, batch(calls), level, mine, expected);
    }
    require(mine.bits == expected.bits);
    require(mine.counters == expected.counters);
  }
  return 0;
}
