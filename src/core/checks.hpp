// Argument checks that the sizing functions share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"

namespace bloomery::sizing {

// The model gives the mean over hash functions. A filter is one draw and a measurement another:
// planning for less keeps measured rates at or below the target. At 1 % it costs 0.05 bits a key.
inline constexpr double planned_share = 0.98;

inline void check_keys(std::uint64_t keys) {
  if (keys == 0) detail::throw_bad_argument("the number of keys", keys, "at least 1");
}

inline void check_bits(std::uint64_t bits) {
  if (bits == 0 || bits > max_bits) {
    detail::throw_bad_argument("the number of bits", bits, "from 1 to 2^48");
  }
}

inline void check_probes(std::uint32_t probes, std::uint32_t most) {
  if (probes == 0 || probes > most) {
    detail::throw_bad_argument("the number of probes", std::uint64_t{probes},
                               "from 1 to " + detail::to_text(std::uint64_t{most}));
  }
}

// One of the numbers of a shape, against what its kind allows.
inline void check_range(std::string_view name, std::uint32_t value, std::uint32_t least,
                        std::uint32_t most, std::string_view kind) {
  if (value >= least && value <= most) return;
  const std::string range = least == most ? detail::to_text(std::uint64_t{least})
                                          : "from " + detail::to_text(std::uint64_t{least}) +
                                                " to " + detail::to_text(std::uint64_t{most});
  detail::throw_bad_argument(name, std::uint64_t{value},
                             range + " in a " + std::string(kind) + " filter");
}

inline void check_fpr(double fpr) {
  if (!(fpr > 0.0 && fpr < 1.0)) detail::throw_bad_argument("fpr", fpr, "above 0 and below 1");
}

// A rate that a 64-bit hash can honour: at least keys/2^60.
inline void check_fpr(double fpr, std::uint64_t keys) {
  check_fpr(fpr);
  const double limit = static_cast<double>(keys) * 0x1p-60;
  if (fpr >= limit) return;
  detail::fail(errc::unreachable, "a 64-bit hash cannot honour an fpr of " + detail::to_text(fpr) +
                                      " for " + detail::to_text(keys) +
                                      " keys; the limit is keys/2^60, here " +
                                      detail::to_text(limit));
}

[[noreturn]] inline void throw_too_large(const request& r) {
  detail::fail(
      errc::bad_argument,
      detail::to_text(r.keys) +
          " keys would need more than the limit of 2^48 bits; use fewer keys or a higher fpr");
}

// Refuses what no part of a filter can be, for so many keys and this share of the rate. The planner
// of a part would name the numbers of that, which nobody has given.
inline void check_part(const request& r, std::uint64_t keys, double share) {
  check_fpr(*r.fpr, r.keys);
  if (*r.fpr * share < std::max(blocked_fpr_limit, static_cast<double>(keys) * 0x1p-60)) {
    detail::fail(errc::unreachable,
                 "a " + std::string(kind_name(r.kind)) + " filter cannot honour an fpr of " +
                     detail::to_text(*r.fpr) + " for " + detail::to_text(r.keys) +
                     " keys: its parts have a share of it each, and the limit "
                     "of a part is 1e-9 and its keys/2^60");
  }
  if (lower_bound_bits(r.keys, *r.fpr) > static_cast<double>(max_bits)) {
    detail::fail(errc::bad_argument,
                 detail::to_text(r.keys) +
                     " keys would need more than the limit of 2^48 bits; use fewer keys or a "
                     "higher fpr");
  }
}

inline void check_positive(const char* name, double value) {
  if (!(value > 0.0 && std::isfinite(value))) {
    detail::throw_bad_argument(name, value, "above 0 and finite");
  }
}

}  // namespace bloomery::sizing
