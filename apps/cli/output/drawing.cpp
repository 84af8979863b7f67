#include "cli/output/drawing.hpp"

#include <algorithm>
#include <array>

namespace bloomery::cli {

namespace {

constexpr double margin = 20;       // around the figure
constexpr double title_space = 34;  // of the figure
constexpr double head_space = 48;   // title and y label of a panel
constexpr double foot_space = 46;   // ticks and x label
constexpr double tick_space = 52;   // left of the plot
constexpr double plot_height = 330;
constexpr double connector = 16;  // from a line's end to its name
constexpr double label_gap = 15;
constexpr lettering label_letters{};

// Names are measured by the mean width of a letter: a canvas may not know its font.
double width_of(std::string_view text) {
  return static_cast<double>(text.size()) * label_letters.size * 0.57;
}

// A panel alone has the room of a page.
double plot_width(const figure& f) { return f.panels.size() == 1 ? 520 : 330; }

double label_space(const panel& p) {
  double widest = 0;
  for (const end_label& l : end_labels(p, 0)) widest = std::max(widest, width_of(l.text));
  return widest > 0 ? connector + widest : 0;
}

class panel_drawing {
 public:
  panel_drawing(const panel& p, canvas& c, point corner, double width)
      : panel_(p), canvas_(c), left_(corner.x), top_(corner.y), width_(width) {}

  void draw() {
    canvas_.text({left_ - tick_space, top_ - head_space + 14}, panel_.title,
                 {.size = 14, .bold = true});
    canvas_.text({left_ - tick_space, top_ - head_space + 32}, panel_.y.label,
                 {.colour = hue::muted});
    draw_bars();
    draw_axes();
    draw_guides();
    for (const series& s : panel_.all) draw_line(s);
    for (const end_label& l : end_labels(panel_, label_gap / plot_height)) draw_label(l);
  }

 private:
  [[nodiscard]] point at(double x_place, double y_place) const {
    return {left_ + x_place * width_, top_ + (1 - y_place) * plot_height};
  }
  [[nodiscard]] point at(const point& p) const {
    return at(panel_.x.place(p.x), panel_.y.place(p.y));
  }

  void draw_axes() {
    const stroke grid{.colour = hue::grid};
    for (const tick& t : panel_.y.ticks) {
      const double place = panel_.y.place(t.at);
      canvas_.line({at(0, place), at(1, place)}, grid);
      const point left = at(0, place);
      canvas_.text({left.x - 8, left.y + 4}, t.text, {.colour = hue::muted, .at = anchor::end});
    }
    for (const tick& t : panel_.x.ticks) {
      const point foot = at(panel_.x.place(t.at), 0);
      canvas_.line({foot, {foot.x, foot.y + 5}}, {.colour = hue::muted});
      canvas_.text({foot.x, foot.y + 19}, t.text, {.colour = hue::muted, .at = anchor::middle});
    }
    canvas_.line({at(0, 0), at(1, 0)}, {.colour = hue::muted});
    const point middle = at(0.5, 0);
    canvas_.text({middle.x, middle.y + 38}, panel_.x.label,
                 {.colour = hue::muted, .at = anchor::middle});
  }

  void draw_guides() {
    for (const guide& g : panel_.guides) {
      const stroke thin{.colour = hue::muted, .width = 1, .dashed = true};
      if (!g.upright) {
        const double place = panel_.y.place(g.at);
        canvas_.line({at(0, place), at(1, place)}, thin);
        continue;
      }
      const double place = panel_.x.place(g.at);
      canvas_.line({at(place, 0), at(place, 1)}, thin);
      const bool right = place < 0.6;
      const point top = at(place, 1);
      canvas_.text({top.x + (right ? 6 : -6), top.y + 12}, g.text,
                   {.colour = hue::muted, .at = right ? anchor::start : anchor::end});
    }
  }

  void draw_bars() {
    for (const series& s : panel_.all) {
      if (s.style != series_style::bars) continue;
      std::vector<point> outline = {at(0, 0)};
      const auto count = static_cast<double>(s.points.size());
      for (std::size_t i = 0; i < s.points.size(); ++i) {
        const double height = panel_.y.place(s.points[i].y);
        outline.push_back(at(static_cast<double>(i) / count, height));
        outline.push_back(at(static_cast<double>(i + 1) / count, height));
      }
      outline.push_back(at(1, 0));
      canvas_.area(outline, s.colour);
    }
  }

  void draw_line(const series& s) {
    if (s.style == series_style::bars) return;
    std::vector<point> points;
    for (const point& p : s.points) points.push_back(at(p));
    canvas_.line(points,
                 {.colour = s.colour, .width = 2, .dashed = s.style == series_style::dashes});
    for (const point& p : s.dots) canvas_.dot(at(p), 4, s.colour);
  }

  void draw_label(const end_label& l) {
    const point end = at(l.line.x, l.line.y);
    const point name = at(1, l.at);
    // A line that ends early is followed to the edge.
    if (l.line.x < 1) canvas_.line({end, {name.x, end.y}}, {.colour = hue::grid});
    canvas_.line({{name.x + 2, end.y}, {name.x + connector - 4, name.y}}, {.colour = l.colour});
    canvas_.text({name.x + connector, name.y + 4}, l.text, {.colour = l.colour});
  }

  const panel& panel_;
  canvas& canvas_;
  double left_;
  double top_;
  double width_;
};

}  // namespace

const tint& tint_of(hue h) noexcept {
  static constexpr std::array<tint, 10> tints = {{{hue::paper, "ffffff", "0d1117"},
                                                  {hue::grid, "d8dee4", "30363d"},
                                                  {hue::muted, "59636e", "9aa4af"},
                                                  {hue::ink, "1f2328", "e6edf3"},
                                                  {hue::blue, "0072b2", "58a6e0"},
                                                  {hue::orange, "d55e00", "f0883e"},
                                                  {hue::green, "008060", "2fc49a"},
                                                  {hue::purple, "b0508c", "dd93c2"},
                                                  {hue::gold, "a87900", "e3b341"},
                                                  {hue::sky, "2b97cf", "8fd3f7"}}};
  return tints[static_cast<std::size_t>(h)];
}

extent extent_of(const figure& f) {
  double width = margin;
  for (const panel& p : f.panels) {
    width += tick_space + plot_width(f) + label_space(p) + margin;
  }
  return {width, margin + title_space + head_space + plot_height + foot_space + margin / 2};
}

void draw(const figure& f, canvas& c) {
  c.text({margin, margin + 14}, f.title, {.size = 17, .bold = true});
  double left = margin;
  for (const panel& p : f.panels) {
    left += tick_space;
    panel_drawing(p, c, {left, margin + title_space + head_space}, plot_width(f)).draw();
    left += plot_width(f) + label_space(p) + margin;
  }
}

}  // namespace bloomery::cli
