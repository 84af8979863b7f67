// Pictures made of text, for terminals: bars, and the figures of figure.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/output/figure.hpp"

namespace bloomery::cli {

struct bar {
  std::string label;
  double length;     // the longest fills the line
  std::string text;  // after the bar
};

[[nodiscard]] std::size_t output_columns();  // of the terminal; 80 without one
[[nodiscard]] std::size_t output_rows();     // likewise; 24 without one
[[nodiscard]] bool has_blocks();             // whether the locale has block characters

// A line for each bar, up to `columns` wide, in eighth blocks where the locale has them, else in #.
[[nodiscard]] std::string bar_chart(const std::vector<bar>& bars, std::size_t columns);

// A figure, panel under panel, with colours on a terminal unless NO_COLOR is set. Lines are quarter
// blocks where the locale has them; elsewhere each has its own letter, also before its name.
[[nodiscard]] std::string figure_chart(const figure& f, std::size_t columns);

}  // namespace bloomery::cli
