#include "cli/output/array_change.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "bloomery/bits/counter_array.hpp"
#include "bloomery/filter/explanation.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/chart.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

constexpr std::uint64_t row_cells = 64;
constexpr std::uint64_t small_array = 16 * row_cells;

// ---- on a terminal ----------------------------------------------------------------------------

std::string glyph(std::uint64_t value, bool bits, bool blocks) {
  if (value == 0) return blocks ? "·" : ".";
  if (bits) return blocks ? "▪" : "#";
  return value < 10 ? std::to_string(value) : "+";
}

std::string line_of(const changed_row& row, std::uint64_t changed_cell::*state, bool bits,
                    bool blocks) {
  std::string text;
  for (const changed_cell& c : row.cells) text += glyph(c.*state, bits, blocks);
  return text;
}

std::string marks_of(const changed_row& row) {
  std::string text;
  for (const changed_cell& c : row.cells) text += c.before != c.after ? '^' : c.of_key ? '=' : ' ';
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// ---- as a picture -----------------------------------------------------------------------------

constexpr double side = 15;         // of a cell
constexpr double labels = 60;       // left of the cells
constexpr double key_space = 46;    // between before and after, where the key stands
constexpr double row_space = 26;    // between two rows
constexpr double head = 64;         // title and legend
constexpr double small_words = 10;  // numbers in cells
constexpr double words_size = 12;

class change_layout {
 public:
  explicit change_layout(const array_change& c) : change_(c) {
    made_.title = fmt::format("{} before and after adding {}", counted_cells(), c.key);
  }

  picture lay_out() {
    std::size_t widest = 32;  // cells: the legend needs that much
    for (const changed_row& row : change_.rows) widest = std::max(widest, row.cells.size());
    made_.width = figure_margin * 2 + labels + static_cast<double>(widest) * side;
    words({figure_margin, figure_margin + 14}, made_.title, hue::ink, 17, anchor::start, true);
    legend();
    double top = figure_margin + head;
    for (const changed_row& row : change_.rows) {
      draw_row(row, top);
      top += side * 2 + key_space + row_space;
    }
    made_.height = top - row_space + figure_margin;
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::string counted_cells() const {
    return fmt::format("{} {}", with_commas(change_.cells), change_.unit);
  }

  void words(point at, std::string text, hue colour, double size, anchor which = anchor::start,
             bool bold = false) {
    made_.marks.push_back({.form = mark::words,
                           .points = {at},
                           .colour = colour,
                           .size = size,
                           .bold = bold,
                           .at = which,
                           .text = std::move(text)});
  }

  void square(point corner, hue fill) {
    const std::vector<point> outline = {corner,
                                        {corner.x + side, corner.y},
                                        {corner.x + side, corner.y + side},
                                        {corner.x, corner.y + side},
                                        corner};
    made_.marks.push_back({.form = mark::area, .points = outline, .colour = fill});
    made_.marks.push_back({.points = outline, .colour = hue::grid});
  }

  void legend() {
    point at{figure_margin, figure_margin + 28};
    for (const auto& [fill, text] : {std::pair{hue::orange, "changed by the key"},
                                     std::pair{hue::blue, "the key's, set before"},
                                     std::pair{hue::muted, "set"}, std::pair{hue::paper, "0"}}) {
      square(at, fill);
      words({at.x + side + 6, at.y + 12}, text, hue::muted, words_size);
      at.x += side + 26 + static_cast<double>(std::string_view(text).size()) * 6.6;
    }
  }

  void draw_row(const changed_row& row, double top) {
    const double low = top + side + key_space;
    words({figure_margin, top + 12}, "before", hue::muted, words_size);
    words({figure_margin, low + 12}, "after", hue::muted, words_size);
    if (row.first != 0) {
      words({figure_margin, top - 5}, fmt::format("from {}", with_commas(row.first)), hue::muted,
            small_words);
    }
    double keys_middle = 0;
    double keys = 0;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const double x = figure_margin + labels + static_cast<double>(i) * side;
      draw_cell({x, top}, row.cells[i].before, false, row.cells[i].of_key);
      draw_cell({x, low}, row.cells[i].after, row.cells[i].before != row.cells[i].after,
                row.cells[i].of_key);
      if (!row.cells[i].of_key) continue;
      keys_middle += x + side / 2;
      ++keys;
    }
    if (keys == 0) return;
    const point name{keys_middle / keys, top + side + 18};
    words(name, change_.key, hue::ink, words_size, anchor::middle);
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (!row.cells[i].of_key) continue;
      const double x = figure_margin + labels + (static_cast<double>(i) + 0.5) * side;
      made_.marks.push_back({.points = {{name.x, name.y + 5}, {x, low - 1}}, .colour = hue::muted});
    }
  }

  void draw_cell(point corner, std::uint64_t value, bool changed, bool of_key) {
    const hue fill = changed      ? hue::orange
                     : value == 0 ? hue::paper
                     : of_key     ? hue::blue
                                  : hue::muted;
    square(corner, fill);
    if (value == 0) return;
    words({corner.x + side / 2, corner.y + 11}, value < 100 ? std::to_string(value) : "+",
          hue::paper, small_words, anchor::middle);
  }

  const array_change& change_;
  picture made_{};
};

std::string printable(std::string_view key) {  // quoted, control characters escaped, valid UTF-8
  constexpr std::size_t longest = 40;
  std::string text =
      nlohmann::json(key).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() <= longest) return text;
  return nlohmann::json(text.substr(1, longest - 4) + "...")
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

array_change add_and_compare(any_filter& f, std::string_view key, std::string_view shown,
                             const std::string& path) {
  const explanation e = f->explain(key, *f.hasher());
  const bool has_places = !e.places.empty() && f.can().add;
  require(has_places, f, path, "has no array of bits or counters that a key changes");
  std::vector<std::uint64_t> mine;
  for (const key_place& p : e.places) mine.push_back(p.position);
  std::sort(mine.begin(), mine.end());
  const auto words = f->cells().parts.front();
  const std::vector<std::uint64_t> before(words.begin(), words.end());
  f.add({&key, 1});
  const cell_array after = f->cells();
  array_change made{
      .key = printable(shown), .unit = after.unit, .cells = before.size() * 64 / after.cell_bits};
  const auto value = [&](const std::uint64_t* from, std::uint64_t i) {
    return detail::get_bits(from, i * after.cell_bits, after.cell_bits);
  };
  for (std::uint64_t first = 0; first < made.cells; first += row_cells) {
    const std::uint64_t end = std::min(made.cells, first + row_cells);
    const auto place = std::lower_bound(mine.begin(), mine.end(), first);
    if (made.cells > small_array && (place == mine.end() || *place >= end)) continue;
    changed_row row{.first = first};
    for (std::uint64_t i = first; i < end; ++i) {
      row.cells.push_back({value(before.data(), i), value(after.parts.front().data(), i),
                           std::binary_search(mine.begin(), mine.end(), i)});
    }
    made.rows.push_back(std::move(row));
  }
  return made;
}

std::string change_chart(const array_change& c) {
  const bool blocks = has_blocks();
  const bool bits = c.unit == "bits";
  const bool all = c.cells <= small_array;
  std::string text =
      fmt::format("array    {} {}{}, before and after adding {}\n", with_commas(c.cells), c.unit,
                  all ? "" : ", where the key's are", c.key);
  for (const changed_row& row : c.rows) {
    if (c.rows.size() > 1 || !all) {
      text += fmt::format("         {} {} to {}\n", c.unit, with_commas(row.first),
                          with_commas(row.first + row.cells.size() - 1));
    }
    for (const auto& [name, state] :
         {std::pair{"before", &changed_cell::before}, std::pair{"after", &changed_cell::after}}) {
      text += fmt::format("{:<8} {}\n", name, line_of(row, state, bits, blocks));
    }
    const std::string marks = marks_of(row);
    if (!marks.empty()) text += "         " + marks + "\n";
  }
  return text + "         ^ changed by the key   = the key's too, set before\n";
}

picture change_picture(const array_change& c) { return change_layout(c).lay_out(); }

}  // namespace bloomery::cli
