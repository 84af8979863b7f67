// Figures in files. One layout decides where things are; a canvas writes SVG or PNG.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output/figure.hpp"

namespace bloomery::cli {

struct stroke {
  hue colour = hue::ink;
  double width = 1;
  bool dashed = false;
};

enum class anchor { start, middle, end };

struct lettering {
  hue colour = hue::ink;
  double size = 12;
  bool bold = false;
  anchor at = anchor::start;
};

// Coordinates in pixels, from the top left.
class canvas {
 public:
  canvas() = default;
  canvas(const canvas&) = delete;
  canvas& operator=(const canvas&) = delete;
  virtual ~canvas() = default;

  virtual void line(const std::vector<point>& points, const stroke& s) = 0;
  virtual void area(const std::vector<point>& outline, hue colour) = 0;
  virtual void dot(point centre, double radius, hue colour) = 0;
  virtual void text(point base, std::string_view words, const lettering& l) = 0;
  // The bytes of the file.
  virtual std::string finish() = 0;
};

struct extent {
  double width;
  double height;
};
[[nodiscard]] std::unique_ptr<canvas> svg_canvas(extent size, std::string_view title);
// Twice as many pixels each way, for sharp screens.
[[nodiscard]] std::unique_ptr<canvas> png_canvas(extent size);

// Hexadecimal RRGGBB on light paper, and on dark.
struct tint {
  hue name;
  std::string_view light;
  std::string_view dark;
};
[[nodiscard]] const tint& tint_of(hue h) noexcept;

[[nodiscard]] extent extent_of(const figure& f);
void draw(const figure& f, canvas& c);

}  // namespace bloomery::cli
