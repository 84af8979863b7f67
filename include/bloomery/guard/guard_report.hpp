// What a guard (guard/guard.hpp) has counted and measured, and whether it pays.
#pragma once

#include <cstdint>
#include <optional>

#include "bloomery/core/sizing.hpp"

namespace bloomery {

struct guard_report {
  std::uint64_t avoided = 0;  // lookups that the filter made unnecessary
  std::uint64_t hit = 0;      // lookups that found the key
  std::uint64_t wasted = 0;   // lookups that found nothing: false positives and removed keys
  // Mean times of the calls that were timed; empty before the first one.
  std::optional<double> filter_ns = std::nullopt;
  std::optional<double> lookup_ns = std::nullopt;

  [[nodiscard]] std::uint64_t asked() const noexcept { return avoided + hit + wasted; }
  [[nodiscard]] std::uint64_t passed() const noexcept { return hit + wasted; }
  // The share of the lookups that found nothing.
  [[nodiscard]] double wasted_share() const noexcept { return share(wasted, passed()); }
  // The false-positive rate observed; keys that were removed from the store count as false.
  [[nodiscard]] double fpr() const noexcept { return share(wasted, avoided + wasted); }

  // The mean time of a call with the filter; without it, that of a lookup.
  [[nodiscard]] std::optional<double> guarded_ns() const {
    if (!filter_ns || !lookup_ns || asked() == 0) return std::nullopt;
    return sizing::mean_time({.present = static_cast<double>(hit),
                              .absent = static_cast<double>(avoided + wasted),
                              .fpr = fpr(),
                              .filter_time = *filter_ns,
                              .lookup_time = *lookup_ns});
  }
  [[nodiscard]] std::optional<double> unguarded_ns() const noexcept { return lookup_ns; }
  // Whether the filter saves time; empty until both times are known.
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
