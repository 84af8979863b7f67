// Which filters a join sends. join.cpp runs it.
#include <algorithm>
#include <cmath>

#include "bloomery/exchange/join.hpp"
#include "bloomery/exchange/sent_filter.hpp"

namespace bloomery {

join_plan plan_join(const table_counts& a, std::uint64_t keys_b, std::optional<double> shared) {
  const double keys_a = static_cast<double>(a.keys);
  const double least = std::min(keys_a, static_cast<double>(keys_b));
  const double both = shared ? std::clamp(*shared, 0.0, least) : least / 2;
  const double matching_bytes = a.keys == 0 ? 0 : static_cast<double>(a.bytes) * both / keys_a;
  const double strange_bytes = static_cast<double>(a.bytes) - matching_bytes;
  join_plan best{.row_bytes = static_cast<double>(a.bytes)};
  for (std::uint32_t offered = 0; offered <= most_fpr_bits; ++offered) {
    const double passing =
        both + (static_cast<double>(keys_b) - both) * std::ldexp(1.0, -static_cast<int>(offered));
    const sent_choice asked = choose_sent_filter(passing, strange_bytes, 1);
    if (asked.fpr_bits == 0) continue;  // then nobody needs A's filter
    const join_plan p{.offered_bits = offered,
                      .asked_bits = asked.fpr_bits,
                      .filter_bytes = sent_filter_bytes(keys_a, offered) + asked.filter_bytes,
                      .row_bytes = matching_bytes + asked.stranger_bytes};
    if (p.bytes() < best.bytes()) best = p;
  }
  return best;
}

}  // namespace bloomery
