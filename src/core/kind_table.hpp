// The table of kinds: all that the library knows of a kind is in its row, and whoever needs it asks
// the row. src/format/filter_table.cpp has the types, and checks that each row has its filter.
// Adding a kind is adding a row here, the two functions that it names, and its type there.
#pragma once

#include <algorithm>
#include <array>

#include "bloomery/core/kinds.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "bloomery/core/sizing_static.hpp"
#include "bloomery/detail/core/window_geometry.hpp"
#include "doubling.hpp"
#include "growth.hpp"

namespace bloomery {

// ---- planners and models ----------------------------------------------------------------------

// make_plan (planner.cpp) has checked that `keys` and exactly one of fpr, bits_per_key and bytes
// are given, and fills in the plan's keys, fpr_target and fpr afterwards: each planner returns the
// shape with the mean rate that was asked for, each model the expected rate of a shape that holds
// `keys` keys, at least one, and each scatter how far one filter lies from that, as its relative
// standard deviation.
namespace sizing {

// make_plan without the margin for one draw: for filters that are parts of others.
[[nodiscard]] plan plan_for_mean(const request& r);

[[nodiscard]] shape shape_for_bits(const request& r);
[[nodiscard]] double fpr_of_classic(const shape& s, std::uint64_t keys);
[[nodiscard]] double fpr_of_partitioned(const shape& s, std::uint64_t keys);
[[nodiscard]] double fpr_of_blocked(const shape& s, std::uint64_t keys);
[[nodiscard]] double fpr_of_split_block(const shape& s, std::uint64_t keys);
[[nodiscard]] double scatter_of_classic(const shape& s, std::uint64_t keys);
[[nodiscard]] double scatter_of_partitioned(const shape& s, std::uint64_t keys);
[[nodiscard]] double scatter_of_blocked(const shape& s, std::uint64_t keys);
[[nodiscard]] double scatter_of_split_block(const shape& s, std::uint64_t keys);

[[nodiscard]] shape shape_for_counting(const request& r);
[[nodiscard]] double fpr_of_counting(const shape& s, std::uint64_t keys);
[[nodiscard]] double scatter_of_counting(const shape& s, std::uint64_t keys);
[[nodiscard]] shape shape_for_cuckoo(const request& r);
[[nodiscard]] double fpr_of_cuckoo(const shape& s, std::uint64_t keys);

[[nodiscard]] shape shape_for_scalable(const request& r);
[[nodiscard]] double fpr_of_scalable(const shape& s, std::uint64_t keys);
void check_scalable(const shape& s);  // the width of its cells
[[nodiscard]] shape shape_for_layered(const request& r);
[[nodiscard]] double fpr_of_layered(const shape& s, std::uint64_t keys);
[[nodiscard]] double scatter_of_layered(const shape& s, std::uint64_t keys);
void check_layered(const shape& s);  // the rule by which it grows
[[nodiscard]] shape shape_for_windowed(const request& r);
[[nodiscard]] double fpr_of_windowed(const shape& s, std::uint64_t keys);
[[nodiscard]] double scatter_of_windowed(const shape& s, std::uint64_t keys);
void check_windowed(const shape& s);  // how many generations share a line

[[nodiscard]] shape shape_for_fuse(const request& r);
[[nodiscard]] shape shape_for_ribbon(const request& r);
[[nodiscard]] shape shape_for_bloomier(const request& r);
[[nodiscard]] double fpr_of_static(const shape& s, std::uint64_t keys);

[[nodiscard]] shape shape_for_count_min(const request& r);
void check_count_min(const shape& s);  // whole lines, and what has room in one
[[nodiscard]] double fpr_of_count_min(const shape& s, std::uint64_t keys);
[[nodiscard]] double scatter_of_count_min(const shape& s, std::uint64_t keys);
[[nodiscard]] shape shape_for_spectral(const request& r);
[[nodiscard]] double fpr_of_spectral(const shape& s, std::uint64_t keys);
[[nodiscard]] double scatter_of_spectral(const shape& s, std::uint64_t keys);
[[nodiscard]] shape shape_for_top_k(const request& r);
[[nodiscard]] double fpr_of_top_k(const shape& s, std::uint64_t keys);

}  // namespace sizing

// ---- a row ------------------------------------------------------------------------------------

// What `block_bits` of a kind is.
enum class block_use : std::uint8_t {
  none,           // 0
  lines,          // 512: blocks are cache lines
  lines_or_none,  // either of them
  half_lines,     // 256
  buckets,        // of 1 to 255 whole cells
};

struct limits {
  std::uint32_t least = 0;
  std::uint32_t most = 0;
};

struct kind_row {  // the limits are promises of docs/format.md
  filter_kind kind;
  std::string_view name;
  abilities can = {};
  bool keeps_repetitions = false;                  // a key that is added again takes space again
  position_layout layout = position_layout::none;  // blocks also where block_bits says so
  block_use blocks = block_use::none;
  std::uint64_t unit_bits = 64;  // the array is a multiple of this
  limits probes = {1, max_probes};
  limits cell_bits = {};
  bool cells_are_chosen = false;  // a request may say how wide
  bool cell_is_power = false;     // 2, 4, 8, ... only: cells never straddle words
  limits variant = {};
  void (*check)(const shape& s) = nullptr;  // what the numbers above do not say
  shape (*plan)(const sizing::request& r);
  double (*fpr)(const shape& s, std::uint64_t keys);
  // Null where the rate follows from the shape: fingerprints do not overlap by chance.
  double (*scatter)(const shape& s, std::uint64_t keys) = nullptr;
  // Cache lines that a lookup reads; without it one in filters of lines, else one for each probe.
  std::uint32_t (*lines)(const shape& s) = nullptr;
  bool adds_to_one_line = false;  // else an add needs as many lines as a lookup
};

// ---- the rows, in the order of docs and listings ----------------------------------------------

inline constexpr std::array kind_table = {
    kind_row{.kind = filter_kind::blocked,
             .name = "blocked",
             .can = {.add = true, .add_concurrently = true, .merge = true},
             .layout = position_layout::blocks,
             .blocks = block_use::lines,
             .unit_bits = bits_per_block,
             .plan = sizing::shape_for_bits,
             .fpr = sizing::fpr_of_blocked,
             .scatter = sizing::scatter_of_blocked},
    kind_row{.kind = filter_kind::classic,
             .name = "classic",
             .can = {.add = true, .add_concurrently = true, .merge = true},
             .layout = position_layout::anywhere,
             .unit_bits = 1,
             .plan = sizing::shape_for_bits,
             .fpr = sizing::fpr_of_classic,
             .scatter = sizing::scatter_of_classic},
    kind_row{.kind = filter_kind::partitioned,
             .name = "partitioned",
             .can = {.add = true, .add_concurrently = true, .merge = true},
             .layout = position_layout::slices,
             .unit_bits = 1,
             .plan = sizing::shape_for_bits,
             .fpr = sizing::fpr_of_partitioned,
             .scatter = sizing::scatter_of_partitioned},
    kind_row{.kind = filter_kind::split_block,
             .name = "split-block",
             .can = {.add = true, .add_concurrently = true, .merge = true},
             .layout = position_layout::blocks,
             .blocks = block_use::half_lines,
             .unit_bits = bits_per_split_block,
             .probes = {split_probes, split_probes},
             .plan = sizing::shape_for_bits,
             .fpr = sizing::fpr_of_split_block,
             .scatter = sizing::scatter_of_split_block,
             .lines = [](const shape&) { return 1U; }},
    kind_row{
        .kind = filter_kind::counting,
        .name = "counting",
        .can =
            {.add = true, .add_concurrently = true, .remove = true, .count = true, .merge = true},
        .layout = position_layout::anywhere,
        .blocks = block_use::lines_or_none,
        .cell_bits = {2, 16},
        .cells_are_chosen = true,
        .cell_is_power = true,
        .plan = sizing::shape_for_counting,
        .fpr = sizing::fpr_of_counting,
        .scatter = sizing::scatter_of_counting},
    kind_row{.kind = filter_kind::cuckoo,
             .name = "cuckoo",
             .can = {.add = true, .remove = true, .count = true},
             .keeps_repetitions = true,
             .blocks = block_use::buckets,
             .probes = {2, 2},
             .cell_bits = {4, 32},
             .cells_are_chosen = true,
             .plan = sizing::shape_for_cuckoo,
             .fpr = sizing::fpr_of_cuckoo},
    kind_row{.kind = filter_kind::scalable,
             .name = "scalable",
             .can = {.add = true, .merge = true, .grow = true},
             .blocks = block_use::lines,
             .unit_bits = bits_per_block,
             .probes = {1, 1},
             .cell_bits = {12, 32},
             .variant = {0, doubling::most_doublings},
             .check = sizing::check_scalable,
             .plan = sizing::shape_for_scalable,
             .fpr = sizing::fpr_of_scalable},
    kind_row{.kind = filter_kind::layered,
             .name = "layered",
             .can = {.add = true, .merge = true, .grow = true},
             .blocks = block_use::lines,
             .unit_bits = bits_per_block,
             .variant = {growth::least_factor, (1U << 17U) - 1},
             .check = sizing::check_layered,
             .plan = sizing::shape_for_layered,
             .fpr = sizing::fpr_of_layered,
             .scatter = sizing::scatter_of_layered},
    kind_row{.kind = filter_kind::windowed,
             .name = "windowed",
             .can = {.add = true, .forget = true},
             .keeps_repetitions = true,
             .blocks = block_use::lines,
             .unit_bits = bits_per_block,
             .cell_bits = {1, detail::most_sharing},
             .variant = {1, 63},
             .check = sizing::check_windowed,
             .plan = sizing::shape_for_windowed,
             .fpr = sizing::fpr_of_windowed,
             .scatter = sizing::scatter_of_windowed,
             .lines = [](const shape& s) { return detail::window_geometry(s).lines; },
             .adds_to_one_line = true},
    kind_row{.kind = filter_kind::fuse,
             .name = "fuse",
             .probes = {3, 4},
             .cell_bits = {8, 32},
             .cells_are_chosen = true,
             .cell_is_power = true,
             .plan = sizing::shape_for_fuse,
             .fpr = sizing::fpr_of_static},
    kind_row{.kind = filter_kind::ribbon,
             .name = "ribbon",
             .probes = {1, 1},
             .cell_bits = {1, 32},
             .cells_are_chosen = true,
             .plan = sizing::shape_for_ribbon,
             .fpr = sizing::fpr_of_static,
             // Thresholds, then 128 rows of every column.
             .lines = [](const shape& s) { return 1 + (s.cell_bits * 16 + 63) / 64; }},
    kind_row{.kind = filter_kind::bloomier,
             .name = "bloomier",
             .can = {.value = true},
             .probes = {3, 4},
             .cell_bits = {1, 96},
             .cells_are_chosen = true,
             .variant = {1, 64},
             .check = sizing::check_bloomier,
             .plan = sizing::shape_for_bloomier,
             .fpr = sizing::fpr_of_static,
             // The value has a cell of its own.
             .lines = [](const shape& s) { return s.probes + 1; }},
    kind_row{.kind = filter_kind::count_min,
             .name = "count-min",
             .can = {.add = true, .remove = true, .count = true, .merge = true},
             .cell_bits = {8, 64},
             .cells_are_chosen = true,
             .cell_is_power = true,
             .variant = {0, 5},
             .check = sizing::check_count_min,
             .plan = sizing::shape_for_count_min,
             .fpr = sizing::fpr_of_count_min,
             .scatter = sizing::scatter_of_count_min,
             .lines = [](const shape& s) { return sizing::count_min_in_lines(s) ? 1 : s.probes; }},
    kind_row{.kind = filter_kind::spectral,
             .name = "spectral",
             .can = {.add = true, .remove = true, .count = true, .merge = true},
             .cell_bits = {8, 64},
             .cells_are_chosen = true,
             .cell_is_power = true,
             .variant = {0, 2},
             .plan = sizing::shape_for_spectral,
             .fpr = sizing::fpr_of_spectral,
             .scatter = sizing::scatter_of_spectral},
    kind_row{.kind = filter_kind::top_k,
             .name = "top-k",
             .can = {.add = true, .count = true, .lists_top = true},
             .cell_bits = {32, 32},
             .cell_is_power = true,
             .variant = {1, 1U << 20U},
             .plan = sizing::shape_for_top_k,
             .fpr = sizing::fpr_of_top_k},
};

// The row of a kind; null for a number that no kind has.
[[nodiscard]] constexpr const kind_row* find_row(filter_kind kind) noexcept {
  const auto row = std::ranges::find(kind_table, kind, &kind_row::kind);
  return row == kind_table.end() ? nullptr : &*row;
}

// Throws errc::bad_argument for such a number.
[[nodiscard]] const kind_row& row_of(filter_kind kind);

}  // namespace bloomery
