#include "cli/output/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace bloomery::cli {

namespace {

constexpr int most_ticks = 10;

// A logarithmic axis with ticks at the powers of a base, as many of them as there is room for.
template <class Write>
axis power_axis(std::string label, double first, double last, double base, Write write) {
  axis a{.label = std::move(label), .first = first, .last = last, .log = true};
  // A value that is a power but for rounding errors counts as one.
  const double slack = 1e-9;
  const auto [least, most] = std::minmax(first, last);
  const auto low = static_cast<int>(std::ceil(std::log(least) / std::log(base) - slack));
  const auto high = static_cast<int>(std::floor(std::log(most) / std::log(base) + slack));
  const int step = std::max(1, (high - low + most_ticks) / most_ticks);
  for (int power = low; power <= high; ++power) {
    if (power % step != 0) continue;
    const double at = std::pow(base, power);
    a.ticks.push_back({at, write(at)});
  }
  if (first > last) std::reverse(a.ticks.begin(), a.ticks.end());
  return a;
}

std::string rate_text(double rate) {
  return rate < 0.99e-4 ? fmt::format("1e{:.0f}", std::log10(rate))
                        : fmt::format("{:.6g} %", rate * 100);
}

std::string size_text(double size) {
  return size < 0x1p20 ? fmt::format("{:g}", size) : fmt::format("2^{:.0f}", std::log2(size));
}

// Moves labels apart until each is a gap above the one before it, and each as near as possible to
// its line. With i gaps subtracted from the place of label i the condition is that places ascend,
// and isotonic regression solves that: neighbours in the wrong order get their mean.
void spread(std::vector<end_label>& labels, double gap) {
  struct pool {
    double sum;
    int size;
  };
  std::vector<pool> pools;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    pools.push_back({labels[i].line.y - gap * static_cast<double>(i), 1});
    while (pools.size() > 1) {
      const pool last = pools.back();
      pool& before = pools[pools.size() - 2];
      if (before.sum * last.size <= last.sum * before.size) break;
      before = {before.sum + last.sum, before.size + last.size};
      pools.pop_back();
    }
  }
  const double room = std::max(0.0, 1 - gap * static_cast<double>(labels.size() - 1));
  std::size_t i = 0;
  for (const pool& one : pools) {
    const double base = std::clamp(one.sum / one.size, 0.0, room);
    for (int k = 0; k < one.size; ++k, ++i) labels[i].at = base + gap * static_cast<double>(i);
  }
}

}  // namespace

hue series_hue(std::size_t index) noexcept {
  constexpr std::array turns = {hue::blue,   hue::orange, hue::green,
                                hue::purple, hue::gold,   hue::sky};
  return turns[index % turns.size()];
}

double axis::place(double value) const noexcept {
  const double low = std::min(first, last);
  const double held = std::clamp(value, low, std::max(first, last));
  if (first == last) return 0;
  return log ? std::log(held / first) / std::log(last / first) : (held - first) / (last - first);
}

axis linear_axis(std::string label, double first, double last, double step) {
  axis a{.label = std::move(label), .first = first, .last = last};
  for (double at = std::ceil(first / step) * step; at <= last; at += step) {
    a.ticks.push_back({at, fmt::format("{:g}", at)});
  }
  return a;
}

axis share_axis(std::string label) {
  axis a{.label = std::move(label)};
  for (const int percent : {0, 25, 50, 75, 100}) {
    a.ticks.push_back({percent / 100.0, fmt::format("{} %", percent)});
  }
  return a;
}

axis rate_axis(std::string label, double first, double last) {
  return power_axis(std::move(label), first, last, 10, rate_text);
}

axis size_axis(std::string label, double first, double last) {
  return power_axis(std::move(label), first, last, 2, size_text);
}

std::vector<end_label> end_labels(const panel& p, double gap) {
  std::vector<end_label> labels;
  for (const series& s : p.all) {
    if (s.name.empty() || s.points.empty()) continue;
    const point end{p.x.place(s.points.back().x), p.y.place(s.points.back().y)};
    labels.push_back({.text = s.name, .colour = s.colour, .line = end});
  }
  for (const guide& g : p.guides) {
    if (g.upright) continue;
    labels.push_back({.text = g.text, .colour = hue::muted, .line = {1, p.y.place(g.at)}});
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const end_label& a, const end_label& b) { return a.line.y < b.line.y; });
  spread(labels, gap);
  return labels;
}

}  // namespace bloomery::cli
