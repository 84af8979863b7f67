// What a picture shows: panels with two axes, lines, bars and dots, in the units of the data. How
// it looks is left to those who draw it: drawing.hpp for files, chart.hpp for the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bloomery::cli {

// Colours by their part. Those of series suit people who see colours differently (after Okabe and
// Ito 2008). If series outnumber colours, the names at the ends of lines tell them apart.
enum class hue { paper, grid, muted, ink, blue, orange, green, purple, gold, sky };
[[nodiscard]] hue series_hue(std::size_t index) noexcept;  // colours repeat

struct point {
  double x = 0;
  double y = 0;
};

struct tick {
  double at;
  std::string text;
};

// From `first`, at the left or at the bottom, to `last`. The first may be the larger of the two.
struct axis {
  std::string label;
  double first = 0;
  double last = 1;
  bool log = false;
  std::vector<tick> ticks{};

  // 0 at the first value, 1 at the last. Values beyond them are drawn at the edge.
  [[nodiscard]] double place(double value) const noexcept;
};

[[nodiscard]] axis linear_axis(std::string label, double first, double last, double step);
[[nodiscard]] axis share_axis(std::string label);                            // 0 to 100 %
[[nodiscard]] axis rate_axis(std::string label, double first, double last);  // powers of ten
[[nodiscard]] axis size_axis(std::string label, double first, double last);  // powers of two

enum class series_style { line, dashes, bars };

struct series {
  std::string name{};  // stands at the end of the line; none when it is empty
  hue colour = hue::ink;
  series_style style = series_style::line;
  std::vector<point> points{};  // in the order of the axis; bars are equally wide
  std::vector<point> dots{};
};

struct guide {  // a line across the panel, such as the rate that was asked for
  bool upright = false;
  double at = 0;
  std::string text{};
};

struct panel {
  std::string title;
  axis x;
  axis y{};
  std::vector<series> all{};
  std::vector<guide> guides{};
};

struct figure {
  std::string title;
  std::vector<panel> panels{};
};

// A name at the right of a panel: where its line ends, and where on the y axis the name stands.
struct end_label {
  std::string text;
  hue colour = hue::ink;
  point line{};  // places on the axes, as axis::place gives them
  double at = 0;
};
// From bottom to top, at least `gap` from each other and as near as possible to their lines.
[[nodiscard]] std::vector<end_label> end_labels(const panel& p, double gap);

}  // namespace bloomery::cli
