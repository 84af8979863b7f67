// A picture as SVG. cairo's SVG is worse: without text that can be searched, selected or read aloud
// (letters become outlines of the machine's fonts, so no two machines agree on the bytes), without
// dark mode, and up to twelve times as large (75,196 bytes for docs/figures/probes.svg instead of
// 6,344). Here text is text, the bytes are the same everywhere, and colours are classes, so one
// file suits light and dark pages.
#include <fmt/format.h>

#include <array>

#include "cli/output/drawing.hpp"

namespace bloomery::cli {

namespace {

std::string as_xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&' || c == '<') {
      out += c == '&' ? "&amp;" : "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

// A tenth of a pixel: finer than anyone sees; compilers and C libraries still agree on it.
std::string number(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string colours(unsigned tint::*paper) {
  std::string rules;
  for (int i = 0; i <= static_cast<int>(hue::sky); ++i) {
    const unsigned rgb = tint_of(static_cast<hue>(i)).*paper;
    rules += fmt::format(".s{0}{{stroke:#{1:06x}}}.f{0}{{fill:#{1:06x}}}\n", i, rgb);
  }
  return rules;
}

// Points in the middle of a horizontal line, as most points of steps are, are left out.
std::string list_of(const std::vector<point>& points) {
  std::string list;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string y = number(points[i].y);
    if (i > 0 && i + 1 < points.size() && number(points[i - 1].y) == y &&
        number(points[i + 1].y) == y) {
      continue;
    }
    list += fmt::format("{}{},{}", i == 0 ? "" : " ", number(points[i].x), y);
  }
  return list;
}

std::string element(const mark& m) {
  constexpr std::array anchors = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  const int colour = static_cast<int>(m.colour);
  const std::string x = number(m.points.front().x);
  const std::string y = number(m.points.front().y);
  const std::string size = number(m.size);
  switch (m.form) {
    case mark::line:
      return fmt::format("<path class=\"s{}\" stroke-width=\"{}\"{} d=\"M{}\"/>\n", colour, size,
                         m.dashed ? " stroke-dasharray=\"5 4\"" : "", list_of(m.points));
    case mark::area:
      return fmt::format("<polygon class=\"f{}\" points=\"{}\"/>\n", colour, list_of(m.points));
    case mark::dot:
      return fmt::format("<circle class=\"f{} s0\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", colour, x, y,
                         size);
    default:
      return fmt::format("<text class=\"f{}\" x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}>{}</text>\n",
                         colour, x, y, size, m.bold ? " font-weight=\"600\"" : "",
                         anchors[static_cast<std::size_t>(m.at)], as_xml(m.text));
  }
}

}  // namespace

std::string svg_of(const picture& p) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n"
      "<style>\n"
      "text{{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}}\n"
      "path{{fill:none;stroke-linejoin:round}}\n"
      "{3}@media (prefers-color-scheme:dark){{\n{4}}}\n"
      "</style>\n"
      "<rect class=\"f0\" width=\"100%\" height=\"100%\"/>\n",
      p.width, p.height, as_xml(p.title), colours(&tint::light), colours(&tint::dark));
  for (const mark& m : p.marks) out += element(m);
  return out + "</svg>\n";
}

}  // namespace bloomery::cli
