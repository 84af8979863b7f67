#include "bloomery/detail/bits/split_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "bloomery/detail/core/scratch.hpp"

namespace bloomery::detail {

namespace {

constexpr std::uint16_t no_bits = 0x8000;  // a fingerprint of length 0: every key of the line fits
constexpr std::uint64_t least_slots = 16;

// Whether every key that fits this cell fits one of the line: a fingerprint there is how that of
// the cell begins.
bool has_all_of(const std::uint64_t* line, std::uint32_t cell) noexcept {
  for (std::size_t i = 0; i < cells_per_line; ++i) {
    const std::uint32_t there = split_lines::cell(line, i);
    const std::uint32_t end = there & (0U - there);
    const std::uint32_t above = ~(2 * end - 1);
    if (end >= (cell & (0U - cell)) && ((there ^ cell) & above) == 0) return true;
  }
  return false;
}

// The bits that two fingerprints begin with, as a cell.
std::uint32_t common(std::uint32_t a, std::uint32_t b) noexcept {
  const std::uint32_t end = std::max(a & (0U - a), b & (0U - b));
  const std::uint32_t differ = std::bit_floor((a ^ b) & 0xffffU);
  const std::uint32_t mark = std::max(end, differ);
  return (a & ~(2 * mark - 1)) | mark;
}

// Makes a cell of the line that is in use fit all keys of this one too, with as many of its bits as
// possible.
void join_closest(std::uint64_t* line, std::uint32_t cell) noexcept {
  std::size_t closest = 0;
  std::uint32_t least = UINT32_MAX;  // the mark behind the common bits: the lower, the more of them
  for (std::size_t i = 0; i < cells_per_line; ++i) {
    const std::uint32_t there = split_lines::cell(line, i);
    if (there == 0) continue;
    const std::uint32_t joined = common(there, cell);
    if ((joined & (0U - joined)) >= least) continue;
    least = joined & (0U - joined);
    closest = i;
  }
  const std::uint32_t joined = common(split_lines::cell(line, closest), cell);
  const std::size_t shift = closest % 4 * 16;
  const std::uint64_t others = little_endian(line[closest / 4]) & ~(std::uint64_t{0xffff} << shift);
  line[closest / 4] = little_endian(others | std::uint64_t{joined} << shift);
}

// A line in the making.
struct new_line {
  std::array<std::uint64_t, split_lines::words_per_line> words{};
  std::size_t used = 0;

  void append(std::uint64_t cell) noexcept {
    words[used / 4] |= cell << (used % 4 * 16);
    ++used;
  }
};

std::uint64_t stored_in(std::span<const std::uint64_t> slots) {
  const auto free = std::ranges::count(slots, std::uint64_t{0});
  return slots.size() - static_cast<std::uint64_t>(free);
}

void place(std::span<std::uint64_t> slots, std::uint64_t stored) noexcept {
  std::uint64_t at = hash_stash::slot_of(stored, slots.size());
  while (slots[at] != 0) at = (at + 1) & (slots.size() - 1);
  slots[at] = little_endian(stored);
}

bit_array copy_of(const std::uint64_t* words, std::uint64_t count) {
  bit_array copy(count * 64);
  std::copy_n(words, count, copy.words().data());
  return copy;
}

}  // namespace

split_table::split_table(std::uint64_t lines) : lines_(lines * bits_per_block) {}

split_table::split_table(const split_lines& other)
    : lines_(copy_of(other.words, other.lines * split_lines::words_per_line)) {
  if (other.stash.count != 0) slots_ = copy_of(other.stash.slots, other.stash.count);
  used_ = cells_used(other);
  stashed_ = stored_in(slots_.words());
}

split_lines split_table::view() const noexcept {
  const auto words = lines_.words();
  const auto slots = slots_.words();
  return {.words = words.data(),
          .lines = words.size() / split_lines::words_per_line,
          .stash = {.slots = slots.data(), .count = slots.size()}};
}

bool split_table::append(std::uint64_t line, std::uint16_t cell) noexcept {
  std::uint64_t* const words = lines_.words().data() + line * split_lines::words_per_line;
  if (split_lines::is_full(words)) return false;
  const std::size_t free = split_lines::first_free(words);
  words[free / 4] |= little_endian(std::uint64_t{cell} << (free % 4 * 16));
  ++used_;
  return true;
}

bool split_table::stash_is_full() const noexcept {
  return (stashed_ + 1) * 2 > slots_.words().size();
}

void split_table::stash(std::uint64_t hash) {
  const auto slots = slots_.words();
  if (stash_is_full()) {
    bit_array larger(std::max(least_slots, std::uint64_t{slots.size()} * 2) * 64);
    for (const std::uint64_t slot : slots) {
      if (slot != 0) place(larger.words(), little_endian(slot));
    }
    slots_ = std::move(larger);
  }
  place(slots_.words(), hash_stash::stored(hash));
  ++stashed_;
}

bool split_table::put_in_line(std::uint64_t hash) noexcept {
  const split_lines now = view();
  // The last of the 16 bits makes room for the 1.
  return append(multiply_high(hash, now.lines), static_cast<std::uint16_t>(now.rest_of(hash) | 1U));
}

void split_table::put(std::uint64_t hash) {
  if (!put_in_line(hash)) stash(hash);
}

split_table::added split_table::add(std::span<const std::uint64_t> hashes, std::uint64_t most) {
  constexpr std::size_t ahead = 16;
  added result;
  const std::uint64_t slots = slots_.words().size();
  for (; result.done < hashes.size() && slots_.words().size() == slots; ++result.done) {
    const split_lines now = view();
    if (result.done + ahead < hashes.size()) {
      __builtin_prefetch(now.line_of(hashes[result.done + ahead]), 1);
    }
    const std::uint64_t hash = hashes[result.done];
    if (now.contains(hash)) continue;
    if (result.stored == most) break;
    if (!put_in_line(hash)) {
      // There may be no memory for more slots. Then the keys before this one are done with.
      if (stash_is_full() && result.done != 0) break;
      stash(hash);
    }
    ++result.stored;
  }
  return result;
}

split_table split_table::doubled() const {
  const split_lines now = view();
  split_table larger(now.lines * 2);
  std::uint64_t* out = larger.lines_.words().data();
  for (std::uint64_t line = 0; line < now.lines; ++line) {
    const std::uint64_t* const words = now.words + line * split_lines::words_per_line;
    detail::scratch<new_line, 2> halves;
    for (std::size_t i = 0; i < cells_per_line; ++i) {
      const std::uint16_t cell = split_lines::cell(words, i);
      if (cell == 0) continue;
      if (cell == no_bits) {
        for (new_line& half : halves) half.append(cell);
      } else {
        halves[cell >> 15U].append((std::uint64_t{cell} << 1U) & 0xffffU);
      }
    }
    for (const new_line& half : halves) {
      out = std::ranges::transform(half.words, out, little_endian).out;
      larger.used_ += half.used;
    }
  }
  for (const std::uint64_t slot : slots_.words()) {
    if (slot != 0) larger.put(little_endian(slot));
  }
  return larger;
}

void split_table::put_all(const split_lines& other) {
  for (std::uint64_t line = 0; line < other.lines; ++line) {
    std::uint64_t* const own = lines_.words().data() + line * split_lines::words_per_line;
    const std::uint64_t* const words = other.words + line * split_lines::words_per_line;
    for (std::size_t i = 0; i < cells_per_line; ++i) {
      const std::uint16_t cell = split_lines::cell(words, i);
      if (cell == 0 || has_all_of(own, cell)) continue;
      if (!append(line, cell)) join_closest(own, cell);
    }
  }
  for (std::uint64_t i = 0; i < other.stash.count; ++i) {
    const std::uint64_t hash = little_endian(other.stash.slots[i]);
    if (hash != 0 && !view().contains(hash)) put(hash);
  }
}

double split_rate(const split_lines& table) noexcept {
  // The fingerprints of one length are as good as independent of each other.
  double sum = 0;
  for (std::uint64_t line = 0; line < table.lines; ++line) {
    double none = 1;
    for (std::size_t i = 0; i < cells_per_line; ++i) {
      const std::uint32_t cell =
          split_lines::cell(table.words + line * split_lines::words_per_line, i);
      // 2^-length: the lowest bit of the cell is 2^(15 - length).
      none *= 1 - static_cast<double>(cell & (0U - cell)) / 32768;
    }
    sum += 1 - none;
  }
  return sum / static_cast<double>(table.lines);
}

std::uint64_t cells_used(const split_lines& table) noexcept {
  std::uint64_t used = 0;
  for (std::uint64_t i = 0; i < table.lines * cells_per_line; ++i) {
    used += split_lines::cell(table.words, i) != 0 ? 1U : 0U;
  }
  return used;
}

}  // namespace bloomery::detail
