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

// How wide the terminal on standard output is; 80 columns when there is none.
[[nodiscard]] std::size_t output_columns();
// Whether the locale's character set has block characters.
[[nodiscard]] bool has_blocks();

// One line for each bar, at most `columns` wide, in block characters of an eighth of a column where
// the locale has them and in # elsewhere.
[[nodiscard]] std::string bar_chart(const std::vector<bar>& bars, std::size_t columns);

// A figure, panel under panel. Lines are drawn with quarter blocks where the locale has them;
// elsewhere each line is drawn with a letter of its own, which also stands before its name. On a
// terminal it has colours, unless NO_COLOR is set.
[[nodiscard]] std::string figure_chart(const figure& f, std::size_t columns);

}  // namespace bloomery::cli
