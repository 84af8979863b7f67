// The table of filter types: how each is made, from a plan, from its keys, from words. Which types
// there are is in all_filters.hpp, what is known of their kinds in core/kind_table.hpp.
#include "filter_table.hpp"

#include <array>

#include "bloomery/format/all_filters.hpp"
#include "core/kind_table.hpp"
#include "owning_face.hpp"

namespace bloomery::detail {

namespace {

template <class Filter>
typename Filter::view view_of(const filter_version& v) {
  return typename Filter::view(v.header.planned, v.words, v.header.keys);
}

template <class Filter>
constexpr filter_row row_of() {
  filter_row row{};
  row.kind = Filter::kind;
  row.scheme = Filter::scheme;
  row.shard = has_others_keys<Filter>;
  row.borrow = [](const filter_version& v) -> face_ptr {
    return std::make_unique<reading_face<typename Filter::view>>(view_of<Filter>(v));
  };
  row.copy = [](const filter_version& v) -> face_ptr {
    return std::make_unique<owning_face<Filter>>(Filter(view_of<Filter>(v)));
  };
  if constexpr (abilities_of_owner<Filter>().add) {
    row.make = [](const plan& p) -> face_ptr {
      return std::make_unique<owning_face<Filter>>(Filter(p));
    };
  } else {
    row.build = [](const plan& p, std::span<const std::uint64_t> hashes,
                   std::span<const std::uint64_t> values, unsigned threads) -> face_ptr {
      if constexpr (has_values<Filter>) {
        return std::make_unique<owning_face<Filter>>(Filter(p, hashes, values, threads));
      } else {
        return std::make_unique<owning_face<Filter>>(Filter(p, hashes, threads));
      }
    };
  }
  return row;
}

// ---- all of them ------------------------------------------------------------------------------

template <class... Filters, class... Others>
constexpr auto rows_of(filter_list<Filters...>, filter_list<Others...>) {
  return std::array{row_of<Filters>()..., row_of<Others>()...};
}
constexpr auto rows = rows_of(all_filters{}, special_filters{});

// Each kind has one type, and the kind's row says of it what the type can do.
template <class Filter>
constexpr bool is_as_its_kind_says() {
  // By number, because the undefined-behaviour sanitizer compares no addresses in constants.
  constexpr auto row = static_cast<std::size_t>(
      std::ranges::find(kind_table, Filter::kind, &kind_row::kind) - kind_table.begin());
  static_assert(row < kind_table.size(), "the filter's kind has no row in core/kind_table.hpp");
  static_assert(kind_table[row].can == abilities_of_owner<Filter>(),
                "the row says what it cannot do");
  return true;
}
template <class... Filters>
constexpr bool each_kind_has_its_filter(filter_list<Filters...>) {
  return (is_as_its_kind_says<Filters>() && ...) &&
         std::ranges::all_of(kind_table, [](const kind_row& kind) {
           return (int{Filters::kind == kind.kind} + ...) == 1;
         });
}
static_assert(each_kind_has_its_filter(all_filters{}),
              "a kind of core/kind_table.hpp lacks its type in all_filters.hpp, or has two");

}  // namespace

std::span<const filter_row> filter_table() noexcept { return rows; }

}  // namespace bloomery::detail
