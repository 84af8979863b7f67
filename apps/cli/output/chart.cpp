#include "cli/output/chart.hpp"

#include <fmt/format.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cmath>
#include <string_view>

namespace bloomery::cli {

namespace {

constexpr std::size_t usual_columns = 80;
constexpr std::size_t usual_rows = 24;
constexpr std::size_t narrowest_bar = 10;

std::string draw(double columns, bool blocks) {
  std::string text;
  if (!blocks) return text.append(static_cast<std::size_t>(std::lround(columns)), '#');
  constexpr std::array<std::string_view, 8> parts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(std::lround(columns * 8));
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text.append(parts[eighths % 8]);
}

}  // namespace

bool has_blocks() {
  std::setlocale(LC_CTYPE, "");
  return std::string_view(nl_langinfo(CODESET)) == "UTF-8";
}

std::size_t output_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual_columns;
  return size.ws_col;
}

std::size_t output_rows() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return usual_rows;
  return size.ws_row;
}

std::string bar_chart(const std::vector<bar>& bars, std::size_t columns) {
  std::size_t labels = 0;
  std::size_t texts = 0;
  double longest = 0;
  for (const bar& b : bars) {
    labels = std::max(labels, b.label.size());
    texts = std::max(texts, b.text.size());
    longest = std::max(longest, b.length);
  }
  const std::size_t others = labels + texts + 5;  // two spaces before all, two and one between
  const std::size_t room = columns > others + narrowest_bar ? columns - others : narrowest_bar;
  const bool blocks = has_blocks();
  std::string chart;
  for (const bar& b : bars) {
    const double length = longest > 0 ? b.length / longest * static_cast<double>(room) : 0;
    chart += fmt::format("  {:<{}}  {} {}\n", b.label, labels, draw(length, blocks), b.text);
  }
  return chart;
}

}  // namespace bloomery::cli
