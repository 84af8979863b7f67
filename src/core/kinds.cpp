#include "bloomery/core/kinds.hpp"

#include "bloomery/core/error.hpp"
#include "kind_table.hpp"

namespace bloomery {

namespace {

// Two rows with one number would be one kind with two meanings.
constexpr bool numbers_differ() {
  return std::ranges::all_of(kind_table, [](const kind_row& row) {
    return std::ranges::count(kind_table, row.kind, &kind_row::kind) == 1;
  });
}
static_assert(numbers_differ());

}  // namespace

const kind_row& row_of(filter_kind kind) {
  const kind_row* const row = find_row(kind);
  if (row == nullptr) detail::fail(errc::bad_argument, "unknown kind of filter");
  return *row;
}

std::string_view kind_name(filter_kind kind) noexcept {
  const kind_row* const row = find_row(kind);
  return row == nullptr ? "unknown" : row->name;
}

abilities abilities_of(filter_kind kind) noexcept {
  const kind_row* const row = find_row(kind);
  return row == nullptr ? abilities{} : row->can;
}

std::span<const filter_kind> all_kinds() noexcept {
  static constexpr auto kinds = [] {
    std::array<filter_kind, kind_table.size()> all{};
    std::ranges::transform(kind_table, all.begin(), &kind_row::kind);
    return all;
  }();
  return kinds;
}

std::optional<filter_kind> kind_from_name(std::string_view name) noexcept {
  const auto row = std::ranges::find(kind_table, name, &kind_row::name);
  return row == kind_table.end() ? std::nullopt : std::optional(row->kind);
}

std::optional<filter_kind> kind_from_number(std::uint64_t number) noexcept {
  const auto kind = static_cast<filter_kind>(number);
  const bool known = static_cast<std::uint64_t>(kind) == number && find_row(kind) != nullptr;
  return known ? std::optional(kind) : std::nullopt;
}

bool is_of_bits(filter_kind kind) noexcept {
  const kind_row* const row = find_row(kind);
  return row != nullptr && row->layout != position_layout::none && row->cell_bits.most == 0;
}

bool keeps_repetitions(filter_kind kind) noexcept {
  const kind_row* const row = find_row(kind);
  return row != nullptr && row->keeps_repetitions;
}

bool has_chosen_cells(filter_kind kind) noexcept {
  const kind_row* const row = find_row(kind);
  return row != nullptr && row->cells_are_chosen;
}

position_layout layout_of(const shape& s) noexcept {
  const kind_row* const row = find_row(s.kind);
  if (row == nullptr || row->layout == position_layout::none) return position_layout::none;
  return s.block_bits != 0 ? position_layout::blocks : row->layout;
}

}  // namespace bloomery
