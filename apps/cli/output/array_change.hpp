// The array of a filter before and after a key is added to it, as the figures of the literature
// show it (Ceglowski 2004, figures 1 to 4; Broder and Mitzenmacher 2004, figure 1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/format/any_filter.hpp"
#include "cli/output/drawing.hpp"

namespace bloomery::cli {

struct changed_cell {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  bool of_key = false;  // one of those that belong to the key
};

struct changed_row {
  std::uint64_t first = 0;  // the number of its first cell
  std::vector<changed_cell> cells{};
};

struct array_change {
  std::string key;        // in quotes, such that it can be printed
  std::string_view unit;  // "bits" or "counters"
  std::uint64_t cells = 0;
  std::vector<changed_row> rows{};  // all of a small array, else those with cells of the key
};

// Adds the key to the filter, which is in memory. Throws errc::unsupported, naming the file, when
// its kind has no array in which keys have places, or cannot be added to.
[[nodiscard]] array_change add_and_compare(any_filter& f, std::string_view key,
                                           std::string_view shown, const std::string& path);

[[nodiscard]] std::string change_chart(const array_change& c);  // for the terminal
[[nodiscard]] picture change_picture(const array_change& c);

}  // namespace bloomery::cli
