// Size and rate of the toy filter: of m bits n keys leave one alone with (1 - 1/m)^n.
#include <cmath>

#include "bloomery/core/error.hpp"
#include "checks.hpp"
#include "kind_table.hpp"

namespace bloomery::sizing {

shape shape_for_toy(const request& r) {
  const auto keys = static_cast<double>(r.keys);
  double bits = 0;
  if (r.fpr) {
    check_fpr(*r.fpr);
    bits = std::ceil(keys / -std::log1p(-planned_share * *r.fpr));
  } else {
    bits = r.bytes ? static_cast<double>(*r.bytes) * 8 : keys * *r.bits_per_key;
  }
  if (!(bits <= static_cast<double>(max_bits - 64))) {
    detail::throw_bad_argument("the number of bits", bits, "at most 2^48");
  }
  const std::uint64_t words = static_cast<std::uint64_t>(bits) / 64 + (r.fpr ? 1 : 0);
  return {.kind = r.kind, .probes = 1, .bits = words * 64};
}

double fpr_of_toy(const shape& s, std::uint64_t keys) {
  return -std::expm1(static_cast<double>(keys) * std::log1p(-1 / static_cast<double>(s.bits)));
}

}  // namespace bloomery::sizing
