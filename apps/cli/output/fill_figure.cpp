#include "cli/output/fill_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "bloomery/bits/counter_array.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/filter/explanation.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

constexpr std::uint64_t most_slices = 100;

struct slice {  // a share of the array: cells, and those of them that are not 0
  std::uint64_t cells = 0;
  std::uint64_t used = 0;
};

slice count_word(std::uint64_t word, std::uint32_t width) {
  slice s{.cells = 64 / width};
  for (std::uint64_t i = 0; i < s.cells; ++i)
    s.used += detail::get_bits(&word, i * width, width) != 0 ? 1U : 0U;
  return s;
}

// 64 cells are as many words as a cell has bits, so they begin and end with a word.
slice count_group(const std::uint64_t* words, std::uint64_t bits, std::uint32_t width) {
  slice s{.cells = std::min<std::uint64_t>(64, bits / width)};
  if (64 % width == 0) {
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(width, bits / 64); ++i) {
      const std::uint64_t word = detail::nonzero_cells(detail::little_endian(words[i]), width);
      s.used += static_cast<std::uint64_t>(std::popcount(word));
    }
    return s;
  }
  for (std::uint64_t i = 0; i < s.cells; ++i) {
    s.used += detail::get_bits(words, i * width, width) != 0 ? 1U : 0U;
  }
  return s;
}

std::vector<slice> slices_of(const cell_array& a) {
  const std::uint32_t width = a.cell_bits;
  const std::size_t step = a.in_words ? 1 : width;  // words of a group
  std::uint64_t groups = 0;
  for (const auto part : a.parts) groups += (part.size() + step - 1) / step;
  std::vector<slice> slices(static_cast<std::size_t>(std::min(groups, most_slices)));
  std::uint64_t group = 0;
  for (const auto part : a.parts) {
    for (std::size_t at = 0; at < part.size(); at += step, ++group) {
      const slice s = a.in_words ? count_word(part[at], width)
                                 : count_group(part.data() + at, (part.size() - at) * 64, width);
      slice& into = slices[static_cast<std::size_t>(group * slices.size() / groups)];
      into.cells += s.cells;
      into.used += s.used;
    }
  }
  return slices;
}

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
  const std::vector<slice> slices = slices_of(array);
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
