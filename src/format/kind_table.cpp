// The table of kinds: a row for each. Adding a kind to the tool, the servers and the bindings is adding a row.
#include <array>

#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/partitioned.hpp"
#include "bloomery/filter/scalable.hpp"
#include "bloomery/filter/windowed.hpp"
#include "models.hpp"

namespace bloomery {

namespace detail {

namespace {

template <class Filter>
typename Filter::view view_of(const filter_version& v) {
  return typename Filter::view(v.header.planned, v.words, v.header.keys);
}

template <class Filter>
constexpr kind_row row_of() {
  kind_row row{};
  row.kind = Filter::kind;
  row.scheme = Filter::scheme;
  row.can = abilities_of_owner<Filter>();
  row.borrow = [](const filter_version& v) -> model_ptr {
    return std::make_unique<reading_model<typename Filter::view>>(view_of<Filter>(v));
  };
  row.copy = [](const filter_version& v) -> model_ptr {
    return std::make_unique<owning_model<Filter>>(Filter(view_of<Filter>(v)));
  };
  if constexpr (updatable<Filter>) {
    row.make = [](const plan& p) -> model_ptr {
      return std::make_unique<owning_model<Filter>>(Filter(p));
    };
  }
  return row;
}

constexpr std::array rows = {row_of<blocked_filter>(),     row_of<classic_filter>(),
                             row_of<partitioned_filter>(), row_of<digest_filter>(),
                             row_of<scalable_filter>(),    row_of<windowed_filter>()};

}  // namespace

std::span<const kind_row> kind_table() noexcept { return rows; }

}  // namespace detail

std::span<const filter_kind> all_kinds() noexcept {
  static constexpr std::array kinds = {filter_kind::blocked, filter_kind::classic,
                                       filter_kind::partitioned, filter_kind::scalable,
                                       filter_kind::windowed};
  return kinds;
}

abilities abilities_of(filter_kind kind) noexcept {
  for (const detail::kind_row& row : detail::kind_table()) {
    if (row.kind == kind) return row.can;
  }
  return {};
}

}  // namespace bloomery
