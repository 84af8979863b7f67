// What a join will cost and how large it will be. join.cpp runs it.
#include <algorithm>
#include <cmath>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/join.hpp"
#include "bloomery/exchange/sent_filter.hpp"

namespace bloomery {

namespace {

double as_double(std::uint64_t value) { return static_cast<double>(value); }

// Rows of a key: the mean, and the variance among the keys of the table.
struct occurrence {
  double mean = 0;
  double variance = 0;

  explicit occurrence(const table_counts& t) {
    if (t.keys == 0) return;
    const double keys = as_double(t.keys);
    mean = as_double(t.rows) / keys;
    variance = std::max(0.0, t.squares / keys - mean * mean);
  }
  [[nodiscard]] double second_moment() const { return variance + mean * mean; }
};

// With a share of f of the strangers among what passed: how much of it is none.
double without_strangers(double passed, double all, double fpr) {
  return std::clamp((passed - fpr * all) / (1 - fpr), 0.0, all);
}

}  // namespace

join_plan plan_join(const table_counts& a, std::uint64_t keys_b, std::optional<double> shared) {
  const double keys_a = as_double(a.keys);
  const double least = std::min(keys_a, as_double(keys_b));
  const double both = shared ? std::clamp(*shared, 0.0, least) : least / 2;
  const double matching_bytes = a.keys == 0 ? 0 : as_double(a.bytes) * both / keys_a;
  const double strange_bytes = as_double(a.bytes) - matching_bytes;
  join_plan best{.row_bytes = as_double(a.bytes)};
  for (std::uint32_t offered = 0; offered <= most_fpr_bits; ++offered) {
    const double passing =
        both + (as_double(keys_b) - both) * std::ldexp(1.0, -static_cast<int>(offered));
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

// Each stranger passes with probability f on its own, so the rows that pass by mistake have the variance f (1 - f) times the
// sum of the strangers' squares. And when d keys of A meet d of the K keys of B at random, the sum of the products of their
// numbers of rows has the variance S^2 (sum a^2 - (sum a)^2 / K), with S^2 the variance in B with K - 1 below.
estimate estimate_join(const passed_counts& passed, double fpr, const table_counts& a,
                       const table_counts& b) {
  if (!(fpr >= 0 && fpr < 1)) detail::throw_bad_argument("fpr", fpr, "at least 0 and below 1");
  if (a.keys == 0 || b.keys == 0) return {};
  const occurrence in_b(b);
  const double rows = without_strangers(passed.rows, as_double(a.rows), fpr);
  const double squares = without_strangers(passed.squares, a.squares, fpr);
  const double by_filter = fpr / (1 - fpr) * (a.squares - squares);
  const double keys_b = as_double(b.keys);
  const double spread = b.keys < 2 ? 0 : in_b.variance * keys_b / (keys_b - 1);
  const double by_meeting = spread * std::max(0.0, squares - rows * rows / keys_b);
  return {.value = in_b.mean * rows,
          .standard_error = std::sqrt(in_b.mean * in_b.mean * by_filter + by_meeting)};
}

estimate estimate_join(const estimate& shared_keys, const table_counts& a, const table_counts& b) {
  const occurrence in_a(a);
  const occurrence in_b(b);
  const double mean = in_a.mean * in_b.mean;
  const double variance = in_a.second_moment() * in_b.second_moment() - mean * mean;
  const double error = mean * shared_keys.standard_error;
  return {.value = mean * shared_keys.value,
          .standard_error = std::sqrt(error * error + shared_keys.value * std::max(0.0, variance))};
}

}  // namespace bloomery
