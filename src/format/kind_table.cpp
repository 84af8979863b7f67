// The table of kinds: a row for each. Adding a kind to the tool, the servers and the bindings is
// adding a row.
#include <array>

#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/bloomier.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/counting.hpp"
#include "bloomery/filter/cuckoo.hpp"
#include "bloomery/filter/fuse.hpp"
#include "bloomery/filter/partitioned.hpp"
#include "bloomery/filter/ribbon.hpp"
#include "bloomery/filter/scalable.hpp"
#include "bloomery/filter/shard.hpp"
#include "bloomery/filter/windowed.hpp"
#include "bloomery/sketch/count_min.hpp"
#include "bloomery/sketch/spectral.hpp"
#include "models.hpp"
#include "top_k_model.hpp"

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
  row.shard = has_others_keys<Filter>;
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
  } else {
    row.build = [](const plan& p, std::span<const std::uint64_t> hashes,
                   std::span<const std::uint64_t> values, unsigned threads) -> model_ptr {
      if constexpr (has_values<Filter>) {
        return std::make_unique<owning_model<Filter>>(Filter(p, hashes, values, threads));
      } else {
        return std::make_unique<owning_model<Filter>>(Filter(p, hashes, threads));
      }
    };
  }
  return row;
}

// The sketch that keeps keys, not only hashes.
constexpr kind_row row_of_top_k() {
  kind_row row{};
  row.kind = top_k::kind;
  row.scheme = top_k::scheme;
  row.can = top_k_model::abilities_of_top_k;
  row.make = [](const plan& p) -> model_ptr { return std::make_unique<top_k_model>(top_k(p)); };
  row.borrow = [](const filter_version& v) -> model_ptr {
    return std::make_unique<reading_model<top_k_view>>(view_of<top_k>(v));
  };
  row.copy = [](const filter_version& v) -> model_ptr {
    return std::make_unique<top_k_model>(top_k(view_of<top_k>(v)));
  };
  return row;
}

constexpr std::array rows = {
    row_of<blocked_filter>(),  row_of<classic_filter>(),  row_of<partitioned_filter>(),
    row_of<digest_filter>(),   row_of<scalable_filter>(), row_of<windowed_filter>(),
    row_of<counting_filter>(), row_of<cuckoo_filter>(),   row_of<fuse_filter>(),
    row_of<ribbon_filter>(),   row_of<bloomier_filter>(), row_of<count_min>(),
    row_of<spectral_filter>(), row_of<shard_filter>(),    row_of_top_k()};

}  // namespace

std::span<const kind_row> kind_table() noexcept { return rows; }

}  // namespace detail

std::span<const filter_kind> all_kinds() noexcept {
  static constexpr std::array kinds = {
      filter_kind::blocked, filter_kind::classic,  filter_kind::partitioned, filter_kind::counting,
      filter_kind::cuckoo,  filter_kind::scalable, filter_kind::windowed,    filter_kind::fuse,
      filter_kind::ribbon,  filter_kind::bloomier, filter_kind::count_min,   filter_kind::spectral,
      filter_kind::top_k};
  return kinds;
}

abilities abilities_of(filter_kind kind) noexcept {
  for (const detail::kind_row& row : detail::kind_table()) {
    if (row.kind == kind) return row.can;
  }
  return {};
}

}  // namespace bloomery
