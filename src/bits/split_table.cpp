#include "bloomery/detail/bits/split_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "bloomery/detail/core/scratch.hpp"

namespace bloomery::detail {

namespace {

constexpr std::uint64_t least_slots = 16;

// The 1 after the fingerprint of a cell; 0 for an empty one.
constexpr std::uint32_t mark_of(std::uint32_t cell) noexcept { return cell & (0U - cell); }

// Whether each key that fits this cell fits one of the line: a fingerprint there begins the cell's.
bool has_all_of(const word_cells& cells, const std::uint64_t* line, std::uint32_t cell) noexcept {
  bool has = false;
  cells.each(line, [&](std::uint32_t there) {
    const std::uint32_t above = ~(2 * mark_of(there) - 1);
    has |= mark_of(there) >= mark_of(cell) && ((there ^ cell) & above) == 0;
  });
  return has;
}

// The bits that two fingerprints begin with, as a cell.
std::uint32_t common(std::uint32_t a, std::uint32_t b) noexcept {
  const std::uint32_t mark = std::max({mark_of(a), mark_of(b), std::bit_floor(a ^ b)});
  return (a & ~(2 * mark - 1)) | mark;
}

// Makes a cell of the line that is in use fit this one's keys too, with as many bits as possible.
void join_closest(const word_cells& cells, std::uint64_t* line, std::uint32_t cell) noexcept {
  std::uint32_t closest = 0;
  std::uint32_t least = UINT32_MAX;  // the mark after the common bits: the lower, the more of them
  std::uint32_t at = 0;
  std::uint32_t change = 0;
  cells.each(line, [&](std::uint32_t there) {
    const std::uint32_t joined = common(there, cell);
    if (there != 0 && mark_of(joined) < least) {
      least = mark_of(joined);
      closest = at;
      change = there ^ joined;
    }
    ++at;
  });
  line[closest / cells.count] ^=
      little_endian(std::uint64_t{change} << (closest % cells.count * cells.width));
}

struct new_line {  // a line in the making: where its next cell goes is known
  std::array<std::uint64_t, split_lines::words_per_line> words{};
  std::uint64_t used = 0;
  std::uint32_t word = 0;
  std::uint32_t shift = 0;

  void append(const word_cells& cells, std::uint64_t cell) noexcept {
    words[word] |= cell << shift;
    shift += cells.width;
    const bool is_last = shift + cells.width > 64;
    word += is_last ? 1 : 0;
    shift = is_last ? 0 : shift;
    ++used;
  }
};

std::uint64_t stored_in(std::span<const std::uint64_t> slots) {
  const auto free = std::ranges::count(slots, std::uint64_t{0});
  return slots.size() - static_cast<std::uint64_t>(free);
}

bit_array copy_of(const std::uint64_t* words, std::uint64_t count) {
  return bit_array(std::span(words, static_cast<std::size_t>(count)));
}

}  // namespace

bool split_lines::contains_any(std::uint64_t hash) const noexcept {
  const std::uint64_t* const line = line_of(hash);
  return fits(line, cell_of(hash)) || (cells.is_full(line) && stash.contains(hash));
}

bool split_lines::in_stash(std::uint64_t hash) const noexcept { return stash.contains(hash); }

split_table::split_table(std::uint64_t lines, std::uint32_t cell_bits)
    : cells_(cell_bits), lines_(lines * bits_per_block) {}

split_table::split_table(const split_lines& other)
    : cells_(other.cells), lines_(copy_of(other.words, other.lines * split_lines::words_per_line)) {
  if (other.stash.count != 0) slots_ = copy_of(other.stash.slots, other.stash.count);
  used_ = cells_used(other);
  stashed_ = stored_in(slots_.words());
}

split_lines split_table::view() const noexcept {
  const auto words = lines_.words();
  const auto slots = slots_.words();
  return {.words = words.data(),
          .lines = words.size() / split_lines::words_per_line,
          .cells = cells_,
          .stash = {.slots = slots.data(), .count = slots.size()}};
}

bool split_table::append(std::uint64_t line, std::uint32_t cell) noexcept {
  std::uint64_t* const words = lines_.words().data() + line * split_lines::words_per_line;
  if (cells_.is_full(words)) return false;
  cells_.append(words, cell);
  ++used_;
  return true;
}

bool split_table::stash_is_full() const noexcept {
  return (stashed_ + 1) * 2 > slots_.words().size();
}

void split_table::place(std::uint64_t hash) noexcept {
  const auto slots = slots_.words();
  const std::uint64_t stored = hash_stash::stored(hash);
  std::uint64_t at = hash_stash::slot_of(stored, slots.size());
  for (std::uint64_t i = 0; i < hash_stash::most_steps; ++i, at = (at + 1) & (slots.size() - 1)) {
    if (slots[at] != 0) continue;
    slots[at] = little_endian(stored);
    ++stashed_;
    return;
  }
  const split_lines now = view();
  join_closest(cells_, lines_.words().data() + (now.line_of(hash) - now.words), now.cell_of(hash));
}

void split_table::stash(std::uint64_t hash) {
  if (stash_is_full()) {
    const std::uint64_t slots = slots_.words().size();
    const bit_array smaller =
        std::exchange(slots_, bit_array(std::max(least_slots, slots * 2) * 64));
    stashed_ = 0;
    for (const std::uint64_t slot : smaller.words()) {
      if (slot != 0) place(little_endian(slot));
    }
  }
  place(hash);
}

bool split_table::put_in_line(std::uint64_t hash) noexcept {
  const split_lines now = view();
  return append(multiply_high(hash, now.lines), now.cell_of(hash));
}

void split_table::put(std::uint64_t hash) {
  if (!put_in_line(hash)) stash(hash);
}

split_table::added split_table::add(std::span<const std::uint64_t> hashes, std::uint64_t most) {
  constexpr std::size_t ahead = 16;
  added result;
  const std::uint64_t slots = slots_.words().size();
  const split_lines now = view();  // holds until the stash becomes larger, which ends the loop
  for (; result.done < hashes.size() && slots_.words().size() == slots; ++result.done) {
    if (result.done + ahead < hashes.size()) {
      __builtin_prefetch(now.line_of(hashes[result.done + ahead]), 1);
    }
    const std::uint64_t hash = hashes[result.done];
    if (now.contains(hash)) continue;
    if (result.stored == most) break;
    if (!append(multiply_high(hash, now.lines), now.cell_of(hash))) {
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
  split_table larger(now.lines * 2, cells_.width);
  std::uint64_t* out = larger.lines_.words().data();
  const std::uint32_t first_bit = cells_.no_bits();
  for (std::uint64_t line = 0; line < now.lines; ++line) {
    detail::scratch<new_line, 2> halves;
    cells_.each(now.words + line * split_lines::words_per_line, [&](std::uint32_t cell) {
      if (cell == first_bit) {
        for (new_line& half : halves) half.append(cells_, cell);
      } else if (cell != 0) {
        halves[cell >> (cells_.width - 1)].append(cells_, (cell & (first_bit - 1)) << 1U);
      }
    });
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
    cells_.each(words, [&](std::uint32_t cell) {
      if (cell == 0 || has_all_of(cells_, own, cell)) return;
      if (!append(line, cell)) join_closest(cells_, own, cell);
    });
  }
  for (std::uint64_t i = 0; i < other.stash.count; ++i) {
    const std::uint64_t hash = little_endian(other.stash.slots[i]);
    if (hash != 0 && !view().contains(hash)) put(hash);
  }
}

double split_rate(const split_lines& table) noexcept {
  // A key that fits is not stored again, so chances add up; after a union this is an upper bound.
  double sum = 0;
  for (std::uint64_t line = 0; line < table.lines; ++line) {
    double chance = 0;
    table.cells.each(table.words + line * split_lines::words_per_line, [&](std::uint32_t cell) {
      // 2^-length of the fingerprint.
      chance += static_cast<double>(mark_of(cell)) / static_cast<double>(table.cells.no_bits());
    });
    sum += std::min(1.0, chance);
  }
  return sum / static_cast<double>(table.lines);
}

std::uint64_t cells_used(const split_lines& table) noexcept {
  std::uint64_t used = 0;
  for (std::uint64_t line = 0; line < table.lines; ++line) {
    table.cells.each(table.words + line * split_lines::words_per_line,
                     [&](std::uint32_t cell) { used += cell != 0 ? 1U : 0U; });
  }
  return used;
}

}  // namespace bloomery::detail
