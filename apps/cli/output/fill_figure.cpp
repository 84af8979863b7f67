#include "cli/output/fill_figure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bloomery/core/sizing.hpp"
#include "bloomery/filter/cell_fill.hpp"
#include "bloomery/filter/explanation.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

constexpr std::size_t most_slices = 100;

}  // namespace

figure fill_figure(const any_filter& f, const std::string& path) {
  const shape& s = f.shape();
  const cell_array array = f->cells();
  require(!array.parts.empty(), f, path,
          "has no empty places to show; --plot is for the other kinds");
  panel p{.title = fmt::format("Fill from the beginning to the end of the array: {:.2f} % in all",
                               f->fill() * 100),
          .x = share_axis("place in the array"),
          .y = share_axis(fmt::format("share of the {} that are not 0", array.unit))};
  series bars{.colour = hue::blue, .style = series_style::bars};
  const std::vector<cell_slice> slices = fill_slices(array, most_slices);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    bars.points.push_back({(static_cast<double>(i) + 0.5) / static_cast<double>(slices.size()),
                           static_cast<double>(slices[i].used) /
                               std::max(1.0, static_cast<double>(slices[i].cells))});
  }
  p.all.push_back(std::move(bars));
  if (layout_of(s) != position_layout::none) {
    const double expected = sizing::expected_fill(s, contents_of(f).keys);
    p.all.push_back({.name = fmt::format("expected {:.2f} %", expected * 100),
                     .colour = hue::orange,
                     .style = series_style::dashes,
                     .points = {{0, expected}, {1, expected}}});
  }
  return {.title = fmt::format("{} filter, {}", kind_name(s.kind), counted(f.keys(), "key")),
          .panels = {std::move(p)}};
}

}  // namespace bloomery::cli
