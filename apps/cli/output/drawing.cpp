#include "cli/output/drawing.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bloomery::cli {

namespace {

constexpr double title_space = 34;  // the title of the figure
constexpr double head_space = 48;   // title and y label of a panel
constexpr double foot_space = 46;   // ticks and x label
constexpr double tick_space = 52;   // left of the plot
constexpr double plot_height = 330;
constexpr double connector = 16;  // from a line's end to its name
constexpr double label_gap = 15;
constexpr double letters = 12;

// A panel alone has the room of a page.
double plot_width(const figure& f) { return f.panels.size() == 1 ? 520 : 330; }

// Names are measured by the mean width of a letter, because an SVG does not know its font.
double label_space(const panel& p) {
  std::size_t widest = 0;
  for (const end_label& l : end_labels(p, 0)) widest = std::max(widest, l.text.size());
  return widest > 0 ? connector + static_cast<double>(widest) * letters * 0.57 : 0;
}

class panel_layout {
 public:
  panel_layout(const panel& p, std::vector<mark>& marks, point corner, double width)
      : panel_(p), marks_(marks), left_(corner.x), top_(corner.y), width_(width) {}

  void lay_out() {
    marks_.push_back({.form = mark::words,
                      .points = {{left_ - tick_space, top_ - head_space + 14}},
                      .size = 14,
                      .bold = true,
                      .text = panel_.title});
    words({left_ - tick_space, top_ - head_space + 32}, panel_.y.label);
    for (const series& s : panel_.all) {
      if (s.style == series_style::bars) bars(s);
    }
    axes();
    guides();
    for (const series& s : panel_.all) {
      if (s.style != series_style::bars) curve(s);
    }
    for (const end_label& l : end_labels(panel_, label_gap / plot_height)) name(l);
  }

 private:
  [[nodiscard]] point at(double x_place, double y_place) const {
    return {left_ + x_place * width_, top_ + (1 - y_place) * plot_height};
  }
  [[nodiscard]] point at(const point& p) const {
    return at(panel_.x.place(p.x), panel_.y.place(p.y));
  }

  void line(point from, point to, hue colour, bool dashed = false) {
    marks_.push_back({.points = {from, to}, .colour = colour, .dashed = dashed});
  }
  void words(point base, std::string text, anchor which = anchor::start, hue colour = hue::muted) {
    marks_.push_back({.form = mark::words,
                      .points = {base},
                      .colour = colour,
                      .size = letters,
                      .at = which,
                      .text = std::move(text)});
  }

  void axes() {
    for (const tick& t : panel_.y.ticks) {
      const point left = at(0, panel_.y.place(t.at));
      line(left, {left.x + width_, left.y}, hue::grid);
      words({left.x - 8, left.y + 4}, t.text, anchor::end);
    }
    for (const tick& t : panel_.x.ticks) {
      const point foot = at(panel_.x.place(t.at), 0);
      line(foot, {foot.x, foot.y + 5}, hue::muted);
      words({foot.x, foot.y + 19}, t.text, anchor::middle);
    }
    line(at(0, 0), at(1, 0), hue::muted);
    const point middle = at(0.5, 0);
    words({middle.x, middle.y + 38}, panel_.x.label, anchor::middle);
  }

  void guides() {
    for (const guide& g : panel_.guides) {
      if (!g.upright) {
        const double place = panel_.y.place(g.at);
        line(at(0, place), at(1, place), hue::muted, true);
        continue;
      }
      const double place = panel_.x.place(g.at);
      line(at(place, 0), at(place, 1), hue::muted, true);
      const bool right = place < 0.6;
      const point top = at(place, 1);
      words({top.x + (right ? 6 : -6), top.y + 12}, g.text, right ? anchor::start : anchor::end);
    }
  }

  void bars(const series& s) {
    std::vector<point> outline = {at(0, 0)};
    const auto count = static_cast<double>(s.points.size());
    for (std::size_t i = 0; i < s.points.size(); ++i) {
      const double height = panel_.y.place(s.points[i].y);
      outline.push_back(at(static_cast<double>(i) / count, height));
      outline.push_back(at(static_cast<double>(i + 1) / count, height));
    }
    outline.push_back(at(1, 0));
    marks_.push_back({.form = mark::area, .points = std::move(outline), .colour = s.colour});
  }

  void curve(const series& s) {
    std::vector<point> points;
    for (const point& p : s.points) points.push_back(at(p));
    marks_.push_back({.points = std::move(points),
                      .colour = s.colour,
                      .size = 2,
                      .dashed = s.style == series_style::dashes});
    for (const point& p : s.dots) {
      marks_.push_back({.form = mark::dot, .points = {at(p)}, .colour = s.colour, .size = 4});
    }
  }

  void name(const end_label& l) {
    const point end = at(l.line.x, l.line.y);
    const point base = at(1, l.at);
    // A line that ends early is followed to the edge.
    if (l.line.x < 1) line(end, {base.x, end.y}, hue::grid);
    line({base.x + 2, end.y}, {base.x + connector - 4, base.y}, l.colour);
    words({base.x + connector, base.y + 4}, l.text, anchor::start, l.colour);
  }

  const panel& panel_;
  std::vector<mark>& marks_;
  double left_;
  double top_;
  double width_;
};

}  // namespace

tint tint_of(hue h) noexcept {
  static constexpr std::array<tint, 10> tints = {{{0xffffff, 0x0d1117},    // paper
                                                  {0xd8dee4, 0x30363d},    // grid
                                                  {0x59636e, 0x9aa4af},    // muted
                                                  {0x1f2328, 0xe6edf3},    // ink
                                                  {0x0072b2, 0x58a6e0},    // blue
                                                  {0xd55e00, 0xf0883e},    // orange
                                                  {0x008060, 0x2fc49a},    // green
                                                  {0xb0508c, 0xdd93c2},    // purple
                                                  {0xa87900, 0xe3b341},    // gold
                                                  {0x2b97cf, 0x8fd3f7}}};  // sky
  return tints[static_cast<std::size_t>(h)];
}

picture laid_out(const figure& f) {
  picture made{.title = f.title};
  made.marks.push_back({.form = mark::words,
                        .points = {{figure_margin, figure_margin + 14}},
                        .size = 17,
                        .bold = true,
                        .text = f.title});
  double left = figure_margin;
  constexpr double top = figure_margin + title_space + head_space;
  for (const panel& p : f.panels) {
    left += tick_space;
    panel_layout(p, made.marks, {left, top}, plot_width(f)).lay_out();
    left += plot_width(f) + label_space(p) + figure_margin;
  }
  made.width = left;
  made.height = top + plot_height + foot_space + figure_margin / 2;
  return made;
}

}  // namespace bloomery::cli
