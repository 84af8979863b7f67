// The keys of a batch call as string_views, a piece at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bloomery/bloomery.h"
#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "handle.hpp"

namespace bloomery::c {

class key_views {
 public:
  static constexpr std::size_t piece = detail::batch_keys;

  // Throws errc::bad_argument for a layout that there is not, and for pointers that are missing.
  explicit key_views(const bloomery_keys* keys);

  [[nodiscard]] std::size_t count() const noexcept { return keys_.count; }
  [[nodiscard]] bool integers() const noexcept { return keys_.layout == BLOOMERY_INTEGERS; }
  [[nodiscard]] std::span<const std::uint64_t> numbers() const noexcept {
    return {static_cast<const std::uint64_t*>(keys_.data), keys_.count};
  }
  // The function that the filter has for these keys.
  [[nodiscard]] const any_hasher& hasher(const bloomery_filter& f) const {
    return integers() ? f.integers() : f.strings();
  }

  // At most `piece` of them; valid until the next call. Integers are strings of their eight bytes,
  // the least first, which the function for integers reads again.
  [[nodiscard]] std::span<const std::string_view> get(std::size_t first, std::size_t number);

  // Calls work(first, views) for all of them.
  template <class Work>
  void for_each(Work work) {
    for (std::size_t first = 0; first < count(); first += piece) {
      work(first, get(first, std::min(piece, count() - first)));
    }
  }

 private:
  template <class Offset>
  void view_column(std::size_t first, std::size_t number);

  bloomery_keys keys_;
  std::array<std::string_view, piece> views_;
  std::array<std::uint64_t, piece> numbers_;
};

void add_keys(bloomery_filter& f, key_views& keys);
[[nodiscard]] std::vector<std::uint64_t> all_hashes(const any_hasher& hasher, key_views& keys);

}  // namespace bloomery::c
