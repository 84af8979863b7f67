// What is read from all lines of a count-min sketch that has the counters of a key in one line.
#include "bloomery/sketch/count_min.hpp"
#include "cells.hpp"

namespace bloomery {

std::uint64_t count_min_view::used_in_line(std::uint64_t line, std::uint32_t row) const noexcept {
  const sketch_detail::cell_format cells(shape().cell_bits);
  const std::uint64_t* const words =
      words_ + sizing::count_min_preamble_bits / 64 + line * (bits_per_block / 64);
  std::uint64_t used = 0;
  for (std::uint64_t i = row * line_row_; i < (row + 1) * line_row_; ++i) {
    used += cells.get(words, i) != 0 ? 1U : 0U;
  }
  return used;
}

double count_min_view::fill_of_lines() const noexcept {
  std::uint64_t used = 0;
  for (std::uint64_t line = 0; line < lines_; ++line) {
    for (std::uint32_t j = 0; j < depth(); ++j) used += used_in_line(line, j);
  }
  return static_cast<double>(used) / static_cast<double>(width_ * depth());
}

double count_min_view::fpr_of_lines() const noexcept {
  double sum = 0;
  for (std::uint64_t line = 0; line < lines_; ++line) {
    double rate = 1;
    for (std::uint32_t j = 0; j < depth(); ++j) {
      rate *= static_cast<double>(used_in_line(line, j)) / static_cast<double>(line_row_);
    }
    sum += rate;
  }
  return sum / static_cast<double>(lines_);
}

}  // namespace bloomery
