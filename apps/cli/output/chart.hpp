// Bars and figures of text.
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

// How wide the terminal on standard output is; 80 columns when there is none.
[[nodiscard]] std::size_t output_columns();
// Whether the locale has block characters.
[[nodiscard]] bool has_blocks();

// One line for each bar, at most `columns` wide: block characters to an eighth of a column where
// the locale has them, else #. Without colours.
[[nodiscard]] std::string bar_chart(const std::vector<bar>& bars, std::size_t columns);

// A figure, panel under panel: quarter blocks where the locale has them, else a letter for each
// line, which its name at the right begins with. In colours on a terminal, unless NO_COLOR says no.
[[nodiscard]] std::string figure_chart(const figure& f, std::size_t columns);

}  // namespace bloomery::cli
