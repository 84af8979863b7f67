// Formulas for classic and partitioned filters, bounds and costs. docs/math.md derives them.
#include "bloomery/core/sizing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "binomial.hpp"
#include "checks.hpp"

namespace bloomery::sizing {

namespace {

// 1 - (1 - 1/cells)^balls, without losing digits when 1/cells is tiny.
double occupied_fraction(double balls, double cells) {
  return -std::expm1(balls * std::log1p(-1.0 / cells));
}

void check_classic(std::uint64_t keys, std::uint64_t bits, std::uint32_t probes) {
  check_keys(keys);
  check_bits(bits);
  check_probes(probes, max_probes);
}

double as_double(std::uint64_t value) { return static_cast<double>(value); }

}  // namespace

double classic_fpr(std::uint64_t keys, std::uint64_t bits, std::uint32_t probes) {
  check_classic(keys, bits, probes);
  return std::pow(occupied_fraction(as_double(keys) * probes, as_double(bits)), probes);
}

double classic_fpr_approx(std::uint64_t keys, std::uint64_t bits, std::uint32_t probes) {
  check_classic(keys, bits, probes);
  return classic_fpr_approx(as_double(bits) / as_double(keys), probes);
}

double classic_fpr_approx(double bits_per_key, std::uint32_t probes) {
  check_positive("bits per key", bits_per_key);
  check_probes(probes, max_probes);
  return std::pow(-std::expm1(-static_cast<double>(probes) / bits_per_key), probes);
}

double classic_fpr_expected(std::uint64_t keys, std::uint64_t bits, std::uint32_t probes) {
  check_classic(keys, bits, probes);
  if (bits == 1) return 1.0;
  const double m = as_double(bits);
  const double balls = as_double(keys) * probes;
  const double fill = occupied_fraction(balls, m);
  // Var(zeros)/m^2, with q2 the chance that two given bits both stay 0 and q1 that one does:
  // (q1 - q2)/m + q2 - q1^2. The second difference is near 0, so take it through expm1.
  const double log_q1 = balls * std::log1p(-1.0 / m);
  const double log_q2 = balls * std::log1p(-2.0 / m);
  const double q1 = std::exp(log_q1);
  const double q2 = std::exp(log_q2);
  const double variance = (q1 - q2) / m + q1 * q1 * std::expm1(log_q2 - 2.0 * log_q1);
  const double k = probes;
  const double correction = 0.5 * k * (k - 1.0) * std::max(0.0, variance) / (fill * fill);
  return std::min(1.0, std::pow(fill, k) * (1.0 + correction));
}

double partitioned_fpr(std::uint64_t keys, std::uint64_t bits, std::uint32_t probes) {
  check_classic(keys, bits, probes);
  if (bits < probes) detail::throw_bad_argument("the number of bits", bits, "at least the probes");
  const double slice = as_double(bits) / probes;
  return std::pow(occupied_fraction(as_double(keys), slice), probes);
}

double ideal_probes(double bits_per_key) {
  check_positive("bits per key", bits_per_key);
  return bits_per_key * std::numbers::ln2;
}

std::optional<std::uint32_t> cheapest_probes(std::uint64_t keys, std::uint64_t bits, double fpr) {
  check_fpr(fpr);
  for (std::uint32_t probes = 1; probes <= max_probes; ++probes) {
    if (classic_fpr(keys, bits, probes) <= fpr) return probes;
  }
  return std::nullopt;
}

double bits_per_key(std::uint32_t probes, double fpr) {
  check_fpr(fpr);
  if (probes == 0)
    detail::throw_bad_argument("the number of probes", std::uint64_t{0}, "at least 1");
  const double k = probes;
  return -k / std::log1p(-std::pow(fpr, 1.0 / k));
}

length shortest_length(std::uint64_t keys, double fpr) {
  check_keys(keys);
  length best{.bits = as_double(keys) * bits_per_key(1, fpr), .probes = 1};
  for (std::uint32_t probes = 2; probes <= 100; ++probes) {
    const double bits = as_double(keys) * bits_per_key(probes, fpr);
    if (bits < best.bits) best = {.bits = bits, .probes = probes};
  }
  return best;
}

// ---- bounds -----------------------------------------------------------------------------------

namespace {

double counter_tail(std::uint64_t keys, std::uint64_t counters, std::uint32_t probes,
                    std::uint32_t value) {
  check_classic(keys, counters, probes);
  if (value == 0) return 1.0;
  const double increments = as_double(keys) * probes;
  if (counters == 1) return value <= increments ? 1.0 : 0.0;
  return binomial_tail(increments, 1.0L / as_double(counters), value);
}

}  // namespace

double lower_bound_bits(std::uint64_t keys, double fpr) {
  check_keys(keys);
  check_fpr(fpr);
  return as_double(keys) * -std::log2(fpr);
}

double lower_bound_bits(std::uint64_t keys, double fpr, double universe) {
  check_keys(keys);
  check_fpr(fpr);
  if (!(universe >= as_double(keys) && std::isfinite(universe))) {
    detail::throw_bad_argument("the universe", universe, "at least the number of keys, and finite");
  }
  const long double n = static_cast<long double>(keys);
  const long double u = universe;
  const long double accepted = n + fpr * (u - n);
  return static_cast<double>((log_falling(u, n) - log_falling(accepted, n)) /
                             std::numbers::ln2_v<long double>);
}

double concentration_bound(std::uint64_t keys, std::uint64_t bits, std::uint32_t probes,
                           double deviation) {
  check_classic(keys, bits, probes);
  check_positive("the deviation", deviation);
  const double m = as_double(bits);
  const double exponent = -2.0 * deviation * deviation * m * m / (as_double(keys) * probes);
  return std::min(1.0, 2.0 * std::exp(exponent));
}

double concentration_deviation(std::uint64_t keys, std::uint64_t bits, std::uint32_t probes,
                               double probability) {
  check_classic(keys, bits, probes);
  if (!(probability > 0.0 && probability < 1.0)) {
    detail::throw_bad_argument("the probability", probability, "above 0 and below 1");
  }
  return std::sqrt(as_double(keys) * probes * std::log(2.0 / probability) / 2.0) / as_double(bits);
}

double overflow_bound(std::uint64_t keys, std::uint64_t counters, std::uint32_t probes,
                      std::uint32_t value, std::uint64_t sets) {
  return std::min(1.0, expected_overflows(keys, counters, probes, value) * as_double(sets));
}

double overflow_bound_loose(std::uint64_t counters, std::uint32_t value, std::uint64_t sets) {
  check_bits(counters);
  if (value == 0) return 1.0;
  const double j = value;
  const double tail = std::pow(std::numbers::e * std::numbers::ln2 / j, j);
  return std::min(1.0, as_double(counters) * tail * as_double(sets));
}

double expected_overflows(std::uint64_t keys, std::uint64_t counters, std::uint32_t probes,
                          std::uint32_t value) {
  return as_double(counters) * counter_tail(keys, counters, probes, value);
}

double sent_bits_per_key(double bits_per_key, std::uint32_t probes) {
  check_positive("bits per key", bits_per_key);
  check_probes(probes, max_probes);
  const double zero = std::exp(-static_cast<double>(probes) / bits_per_key);
  const double set = -std::expm1(-static_cast<double>(probes) / bits_per_key);
  if (zero == 0.0) return 0.0;
  return bits_per_key * -(zero * std::log2(zero) + set * std::log2(set));
}

packed_choice best_packed(double sent, double most) {
  check_positive("bits per key sent", sent);
  check_positive("bits per key in memory", most);
  packed_choice best{.fpr = 1};
  for (std::uint32_t probes = 1; probes <= max_probes; ++probes) {
    // For given probes a longer array has fewer false positives and takes more to send.
    double low = 0;
    double high = most;
    for (int i = 0; i < 100 && sent_bits_per_key(high, probes) > sent; ++i) {
      const double middle = (low + high) / 2;
      (sent_bits_per_key(middle, probes) <= sent ? low : high) = middle;
    }
    const double bits = sent_bits_per_key(high, probes) <= sent ? high : low;
    if (bits <= 0) continue;
    const double rate = classic_fpr_approx(bits, probes);
    if (rate < best.fpr) {
      best = {.bits_per_key = bits,
              .probes = probes,
              .sent_bits_per_key = sent_bits_per_key(bits, probes),
              .fpr = rate};
    }
  }
  return best;
}

packed_choice smallest_packed(double fpr, double most) {
  check_fpr(fpr);
  check_positive("bits per key in memory", most);
  packed_choice best;
  for (std::uint32_t probes = 1; probes <= max_probes; ++probes) {
    const double bits = bits_per_key(probes, fpr);
    if (bits > most) continue;
    const double sent = sent_bits_per_key(bits, probes);
    if (best.probes == 0 || sent < best.sent_bits_per_key) {
      best = {.bits_per_key = bits, .probes = probes, .sent_bits_per_key = sent, .fpr = fpr};
    }
  }
  if (best.probes != 0) return best;
  detail::throw_bad_argument(
      "bits per key in memory", most,
      "enough for the rate: at least " + detail::to_text(shortest_length(1, fpr).bits));
}

double mean_time(const guarded_lookup& g) {
  const auto at_least_zero = [](const char* name, double value) {
    if (!(value >= 0.0 && std::isfinite(value))) {
      detail::throw_bad_argument(name, value, "at least 0 and finite");
    }
  };
  at_least_zero("the number of present keys", g.present);
  at_least_zero("the number of absent keys", g.absent);
  at_least_zero("the filter's time", g.filter_time);
  at_least_zero("the lookup's time", g.lookup_time);
  if (!(g.fpr >= 0.0 && g.fpr <= 1.0)) detail::throw_bad_argument("fpr", g.fpr, "from 0 to 1");
  check_positive("the number of queries", g.present + g.absent);
  const double lookups = g.present + g.fpr * g.absent;
  return g.filter_time + lookups * g.lookup_time / (g.present + g.absent);
}

}  // namespace bloomery::sizing
