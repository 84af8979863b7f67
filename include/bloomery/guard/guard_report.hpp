// What a guard (guard/guard.hpp) has counted and measured, and whether it pays.
#pragma once

#include <cstdint>
#include <optional>

#include "bloomery/core/sizing.hpp"

namespace bloomery {

struct guard_report {
  std::uint64_t avoided = 0;  // lookups: the filter did not have the key
  std::uint64_t hit = 0;      // lookups that found the key
  std::uint64_t wasted = 0;   // lookups that did not: false positives, and keys that were removed
  // Means of the calls whose time was taken; empty before the first.
  std::optional<double> filter_ns = std::nullopt;
  std::optional<double> lookup_ns = std::nullopt;

  [[nodiscard]] std::uint64_t asked() const noexcept { return avoided + hit + wasted; }
  [[nodiscard]] std::uint64_t passed() const noexcept { return hit + wasted; }
  // Of the lookups.
  [[nodiscard]] double wasted_share() const noexcept { return share(wasted, passed()); }
  // Of the absent keys: the filter's rate as it was met, removed keys included.
  [[nodiscard]] double fpr() const noexcept { return share(wasted, avoided + wasted); }

  // Mean time of a call with the filter, by what was counted and measured, and without: that of a
  // lookup.
  [[nodiscard]] std::optional<double> guarded_ns() const {
    if (!filter_ns || !lookup_ns || asked() == 0) return std::nullopt;
    return sizing::mean_time({.present = static_cast<double>(hit),
                              .absent = static_cast<double>(avoided + wasted),
                              .fpr = fpr(),
                              .filter_time = *filter_ns,
                              .lookup_time = *lookup_ns});
  }
  [[nodiscard]] std::optional<double> unguarded_ns() const noexcept { return lookup_ns; }
  // Empty until both times are known.
  [[nodiscard]] std::optional<bool> pays() const {
    const std::optional<double> guarded = guarded_ns();
    if (!guarded) return std::nullopt;
    return *guarded < *lookup_ns;
  }

 private:
  [[nodiscard]] static double share(std::uint64_t part, std::uint64_t whole) noexcept {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

}  // namespace bloomery
