#include "bloomery/filter/cell_fill.hpp"

#include <algorithm>
#include <bit>

#include "bloomery/bits/counter_array.hpp"

namespace bloomery {

namespace {

cell_slice count_word(std::uint64_t word, std::uint32_t width) {
  cell_slice s{.cells = 64 / width};
  for (std::uint64_t i = 0; i < s.cells; ++i)
    s.used += detail::get_bits(&word, i * width, width) != 0 ? 1U : 0U;
  return s;
}

// 64 cells are as many words as a cell has bits, so they begin and end with a word.
cell_slice count_group(const std::uint64_t* words, std::uint64_t bits, std::uint32_t width) {
  cell_slice s{.cells = std::min<std::uint64_t>(64, bits / width)};
  if (64 % width == 0) {
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(width, bits / 64); ++i) {
      const std::uint64_t word = detail::nonzero_cells(detail::little_endian(words[i]), width);
      s.used += static_cast<std::uint64_t>(std::popcount(word));
    }
    return s;
  }
  for (std::uint64_t i = 0; i < s.cells; ++i) {
    s.used += detail::get_bits(words, i * width, width) != 0 ? 1U : 0U;
  }
  return s;
}

}  // namespace

std::vector<cell_slice> fill_slices(const cell_array& a, std::size_t most) {
  const std::uint32_t width = a.cell_bits;
  const std::size_t step = a.in_words ? 1 : width;  // words of a group
  std::uint64_t groups = 0;
  for (const auto part : a.parts) groups += (part.size() + step - 1) / step;
  std::vector<cell_slice> slices(static_cast<std::size_t>(std::min<std::uint64_t>(groups, most)));
  std::uint64_t group = 0;
  for (const auto part : a.parts) {
    for (std::size_t at = 0; at < part.size() && !slices.empty(); at += step, ++group) {
      const cell_slice s = a.in_words
                               ? count_word(part[at], width)
                               : count_group(part.data() + at, (part.size() - at) * 64, width);
      cell_slice& into = slices[static_cast<std::size_t>(group * slices.size() / groups)];
      into.cells += s.cells;
      into.used += s.used;
    }
  }
  return slices;
}

}  // namespace bloomery
