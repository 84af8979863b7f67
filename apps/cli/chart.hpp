// Bars of text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bloomery::cli {

struct bar {
  std::string label;
  double length;     // the longest fills the line
  std::string text;  // after the bar
};

// How wide the terminal on standard output is; 80 columns when there is none.
[[nodiscard]] std::size_t output_columns();

// One line for each bar, at most `columns` wide: block characters to an eighth of a column where the locale has
// them, else #. Without colours.
[[nodiscard]] std::string bar_chart(const std::vector<bar>& bars, std::size_t columns);

}  // namespace bloomery::cli
