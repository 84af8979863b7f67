// A figure as SVG: text that is the same on every machine, small enough to be kept with documents.
// Colours are classes, so that one file suits light and dark pages.
#include <fmt/format.h>

#include <iterator>

#include "cli/output/drawing.hpp"

namespace bloomery::cli {

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

// A tenth of a pixel: finer than anyone sees, coarse enough that all compilers and C libraries
// agree on it.
std::string number(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string style_sheet() {
  std::string light;
  std::string dark;
  for (int i = 0; i <= static_cast<int>(hue::sky); ++i) {
    const tint& t = tint_of(static_cast<hue>(i));
    light += fmt::format(".s{0}{{stroke:#{1}}}.f{0}{{fill:#{1}}}\n", i, t.light);
    dark += fmt::format(".s{0}{{stroke:#{1}}}.f{0}{{fill:#{1}}}\n", i, t.dark);
  }
  return fmt::format(
      "<style>\n"
      "text{{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}}\n"
      "path{{fill:none;stroke-linejoin:round}}\n"
      "{}@media (prefers-color-scheme:dark){{\n{}}}\n"
      "</style>\n",
      light, dark);
}

class svg final : public canvas {
 public:
  svg(extent size, std::string_view title) {
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n{3}"
        "<rect class=\"f0\" width=\"100%\" height=\"100%\"/>\n",
        size.width, size.height, escaped(title), style_sheet());
  }

  void line(const std::vector<point>& points, const stroke& s) override {
    add("<path class=\"s{}\" stroke-width=\"{}\"{} d=\"{}\"/>\n", static_cast<int>(s.colour),
        number(s.width), s.dashed ? " stroke-dasharray=\"5 4\"" : "", path_of(points));
  }
  void area(const std::vector<point>& outline, hue colour) override {
    add("<polygon class=\"f{}\" points=\"{}\"/>\n", static_cast<int>(colour),
        path_of(outline).substr(1));
  }
  void dot(point centre, double radius, hue colour) override {
    add("<circle class=\"f{} s0\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", static_cast<int>(colour),
        number(centre.x), number(centre.y), number(radius));
  }
  void text(point base, std::string_view words, const lettering& l) override {
    add("<text class=\"f{}\" x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}>{}</text>\n",
        static_cast<int>(l.colour), number(base.x), number(base.y), number(l.size),
        l.bold ? " font-weight=\"600\"" : "",
        l.at == anchor::start    ? ""
        : l.at == anchor::middle ? " text-anchor=\"middle\""
                                 : " text-anchor=\"end\"",
        escaped(words));
  }
  std::string finish() override { return out_ + "</svg>\n"; }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), form, std::forward<Values>(values)...);
  }

  // What lies on a straight line, as most points of steps do, is left out.
  static std::string path_of(const std::vector<point>& points) {
    std::string path = "M";
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::string y = number(points[i].y);
      if (i > 0 && i + 1 < points.size() && number(points[i - 1].y) == y &&
          number(points[i + 1].y) == y) {
        continue;
      }
      path += fmt::format("{}{},{}", i == 0 ? "" : " ", number(points[i].x), y);
    }
    return path;
  }

  std::string out_;
};

}  // namespace

std::unique_ptr<canvas> svg_canvas(extent size, std::string_view title) {
  return std::make_unique<svg>(size, title);
}

}  // namespace bloomery::cli
