// Figures in files: `laid_out` decides where everything stands; SVG and PNG write its picture.
#pragma once

#include <string>
#include <vector>

#include "cli/output/figure.hpp"

namespace bloomery::cli {

// Around every figure.
inline constexpr double figure_margin = 20;

enum class anchor { start, middle, end };

// A line, a filled outline, a dot, or words at a point. Coordinates are pixels from the top left.
struct mark {
  enum { line, area, dot, words } form = line;
  std::vector<point> points{};
  hue colour = hue::ink;
  double size = 1;  // the width of a line, the radius of a dot or the height of letters
  bool dashed = false;
  bool bold = false;
  anchor at = anchor::start;  // which part of the words the point is
  std::string text{};
};

struct picture {
  std::string title;
  double width = 0;
  double height = 0;
  std::vector<mark> marks{};
};

[[nodiscard]] picture laid_out(const figure& f);

// The bytes of the file. A PNG has two pixels for each of the picture's, for sharp screens.
[[nodiscard]] std::string svg_of(const picture& p);
[[nodiscard]] std::string png_of(const picture& p);

struct tint {  // RRGGBB on light paper, and on dark
  unsigned light;
  unsigned dark;
};
[[nodiscard]] tint tint_of(hue h) noexcept;

}  // namespace bloomery::cli
