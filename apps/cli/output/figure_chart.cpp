// Figures on a terminal: panels are grids of characters; a quarter block is two by two points.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "cli/output/chart.hpp"

namespace bloomery::cli {

namespace {

constexpr std::size_t narrowest_plot = 20;
constexpr std::size_t line_rows = 16;
constexpr std::size_t bar_rows = 8;

bool wants_colours() {
  const char* const no = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return isatty(STDOUT_FILENO) != 0 && !dumb && (no == nullptr || *no == '\0');
}

std::string_view colour_code(hue h) {
  constexpr std::array<std::string_view, 10> codes = {"",   "2",  "2",  "",   "34",
                                                      "31", "32", "35", "33", "36"};
  return codes[static_cast<std::size_t>(h)];
}

struct cell {
  std::string glyph = " ";
  unsigned quarters = 0;  // a bit each: 1 and 2 are the upper ones, 4 and 8 the lower ones
  hue colour = hue::ink;
};

constexpr std::array<std::string_view, 16> quarter_blocks = {
    " ", "▘", "▝", "▀", "▖", "▌", "▞", "▛", "▗", "▚", "▐", "▜", "▄", "▙", "▟", "█"};
constexpr std::array<std::string_view, 9> lower_blocks = {" ", "▁", "▂", "▃", "▄",
                                                          "▅", "▆", "▇", "█"};

// The height of a line above a place on the x axis; none before its first point and after its last.
std::optional<double> height_at(const panel& p, const series& s, double place) {
  for (std::size_t i = 1; i < s.points.size(); ++i) {
    const double left = p.x.place(s.points[i - 1].x);
    const double right = p.x.place(s.points[i].x);
    if (place < left || place > right) continue;
    const double share = right > left ? (place - left) / (right - left) : 1;
    const double low = p.y.place(s.points[i - 1].y);
    return low + share * (p.y.place(s.points[i].y) - low);
  }
  return std::nullopt;
}

class panel_chart {
 public:
  panel_chart(const panel& p, std::size_t columns, bool blocks, bool colours)
      : panel_(p), blocks_(blocks), colours_(colours), rows_(rows_of(p)) {
    for (const tick& t : p.y.ticks) left_ = std::max(left_, t.text.size());
    std::size_t names = 0;
    for (const end_label& l : end_labels(p, 0))
      names = std::max(names, l.text.size() + (blocks ? 1 : 3));
    const std::size_t others = left_ + 2 + names;
    width_ = columns > others + narrowest_plot ? columns - others : narrowest_plot;
    cells_.resize(rows_ * width_);
  }

  std::string draw() {
    draw_guides();
    for (std::size_t i = 0; i < panel_.all.size(); ++i) {
      const series& s = panel_.all[i];
      if (s.style != series_style::bars) draw_line(s, letter_of(i));
      for (const point& dot : s.dots) {
        put(column_of(dot.x), row_of(panel_.y.place(dot.y)), blocks_ ? "●" : "*", s.colour);
      }
    }
    // Bars cover lines: a character cannot show both, and bars are what was measured.
    for (const series& s : panel_.all) {
      if (s.style == series_style::bars) draw_bars(s);
    }
    draw_guide_texts();
    return text();
  }

 private:
  static std::size_t rows_of(const panel& p) {
    const bool bars = std::any_of(p.all.begin(), p.all.end(),
                                  [](const series& s) { return s.style == series_style::bars; });
    return std::max(bars ? bar_rows : line_rows, end_labels(p, 0).size() + 2);
  }
  static char letter_of(std::size_t series) { return static_cast<char>('a' + series % 26); }

  [[nodiscard]] std::size_t row_of(double place) const {
    const double row = (1 - place) * static_cast<double>(rows_);
    return std::min(rows_ - 1, static_cast<std::size_t>(row));
  }
  [[nodiscard]] std::size_t column_of(double x) const {
    return std::min(width_ - 1,
                    static_cast<std::size_t>(panel_.x.place(x) * static_cast<double>(width_)));
  }
  void put(std::size_t column, std::size_t row, std::string_view glyph, hue colour) {
    cells_[row * width_ + column] = {.glyph = std::string(glyph), .colour = colour};
  }

  void draw_guides() {
    for (const guide& g : panel_.guides) {
      if (g.upright) {
        for (std::size_t row = 0; row < rows_; ++row) {
          put(column_of(g.at), row, blocks_ ? "┊" : ":", hue::muted);
        }
        continue;
      }
      for (std::size_t column = 0; column < width_; ++column) {
        put(column, row_of(panel_.y.place(g.at)), blocks_ ? "┄" : ".", hue::muted);
      }
    }
  }

  // What upright guides mean, in the first row. Drawn after the lines: a curve with a few cells
  // missing can be read, a word cannot.
  void draw_guide_texts() {
    for (const guide& g : panel_.guides) {
      if (!g.upright) continue;
      const std::size_t start = column_of(g.at) + 1;
      for (std::size_t i = 0; i < g.text.size() && start + i < width_; ++i) {
        put(start + i, 0, std::string_view(g.text).substr(i, 1), hue::muted);
      }
    }
  }

  void draw_bars(const series& s) {
    for (std::size_t column = 0; column < width_; ++column) {
      const double height = panel_.y.place(s.points[column * s.points.size() / width_].y);
      const auto eighths =
          static_cast<std::size_t>(std::lround(height * static_cast<double>(rows_) * 8));
      for (std::size_t up = 0; up * 8 < eighths; ++up) {
        const std::size_t part = std::min<std::size_t>(8, eighths - up * 8);
        if (!blocks_ && part < 4) continue;
        put(column, rows_ - 1 - up, blocks_ ? lower_blocks[part] : "#", s.colour);
      }
    }
  }

  void draw_line(const series& s, char letter) {
    const std::size_t fine = blocks_ ? 2 : 1;
    const std::size_t heights = rows_ * fine;
    std::optional<std::size_t> before;
    for (std::size_t i = 0; i < width_ * fine; ++i) {
      const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(width_ * fine);
      const std::optional<double> height = height_at(panel_, s, place);
      if (!height) continue;
      const auto down = std::min(
          heights - 1, static_cast<std::size_t>((1 - *height) * static_cast<double>(heights)));
      // A steep line fills the rows between this height and the one before, so it has no gaps.
      std::size_t from = before.value_or(down);
      if (from < down) ++from;
      if (from > down) --from;
      before = down;
      if (s.style == series_style::dashes && i / fine % 2 == 1) continue;
      for (std::size_t y = std::min(from, down); y <= std::max(from, down); ++y) {
        touch(i, y, fine, s, letter);
      }
    }
  }

  void touch(std::size_t x, std::size_t y, std::size_t fine, const series& s, char letter) {
    cell& c = cells_[y / fine * width_ + x / fine];
    const unsigned quarter = 1U << (y % 2 * 2 + x % 2);
    c.quarters = blocks_ ? c.quarters | quarter : 0;
    c.glyph = blocks_ ? std::string(quarter_blocks[c.quarters]) : std::string(1, letter);
    c.colour = s.colour;
  }

  [[nodiscard]] std::string painted(std::string_view words, hue colour) const {
    const std::string_view code = colour_code(colour);
    if (!colours_ || code.empty() || words.empty()) return std::string(words);
    return fmt::format("\x1b[{}m{}\x1b[0m", code, words);
  }

  [[nodiscard]] std::string name_of(const end_label& l) const {
    if (blocks_) return l.text;
    for (std::size_t i = 0; i < panel_.all.size(); ++i) {
      const series& s = panel_.all[i];
      if (s.name == l.text && s.style != series_style::bars) {
        return fmt::format("{} {}", letter_of(i), l.text);
      }
    }
    return l.text;
  }

  [[nodiscard]] std::string row_text(std::size_t row) const {
    std::string out;
    for (std::size_t column = 0; column < width_;) {
      const hue colour = cells_[row * width_ + column].colour;
      std::string run;
      for (; column < width_ && cells_[row * width_ + column].colour == colour; ++column) {
        run += cells_[row * width_ + column].glyph;
      }
      out += painted(run, colour);
    }
    return out;
  }

  [[nodiscard]] std::string text() const {
    std::vector<std::string> ticks(rows_);
    std::vector<std::string> names(rows_);
    for (const tick& t : panel_.y.ticks) ticks[row_of(panel_.y.place(t.at))] = t.text;
    for (const end_label& l : end_labels(panel_, 1.0 / static_cast<double>(rows_ - 1))) {
      const double row = (1 - l.at) * static_cast<double>(rows_ - 1);
      names[static_cast<std::size_t>(std::lround(row))] = painted(name_of(l), l.colour);
    }
    std::string out = fmt::format("{}\n{}\n", panel_.title, panel_.y.label);
    for (std::size_t row = 0; row < rows_; ++row) {
      std::string line = fmt::format("{:>{}} {}{} {}", ticks[row], left_, blocks_ ? "│" : "|",
                                     row_text(row), names[row]);
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    return out + foot();
  }

  [[nodiscard]] std::string foot() const {
    std::string rule;
    for (std::size_t column = 0; column < width_; ++column) rule += blocks_ ? "─" : "-";
    std::string marks(width_ + left_ + 8, ' ');
    std::size_t free = 0;
    for (const tick& t : panel_.x.ticks) {
      const std::size_t middle = left_ + 2 + column_of(t.at);
      const std::size_t start = middle - std::min(middle, t.text.size() / 2);
      if (start < free || start + t.text.size() > marks.size()) continue;
      marks.replace(start, t.text.size(), t.text);
      free = start + t.text.size() + 1;
    }
    marks.erase(marks.find_last_not_of(' ') + 1);
    const std::size_t indent = left_ + 2 + (width_ - std::min(width_, panel_.x.label.size())) / 2;
    return fmt::format("{:>{}} {}{}\n{}\n{:>{}}\n", "", left_, blocks_ ? "└" : "+", rule, marks,
                       panel_.x.label, indent + panel_.x.label.size());
  }

  const panel& panel_;
  bool blocks_;
  bool colours_;
  std::size_t rows_;
  std::size_t left_ = 0;
  std::size_t width_ = 0;
  std::vector<cell> cells_;
};

}  // namespace

std::string figure_chart(const figure& f, std::size_t columns) {
  std::string out = f.title + "\n";
  for (const panel& p : f.panels) {
    out += "\n" + panel_chart(p, columns, has_blocks(), wants_colours()).draw();
  }
  return out;
}

}  // namespace bloomery::cli
