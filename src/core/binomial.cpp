#include "binomial.hpp"

#include <algorithm>
#include <cmath>

#include "log_gamma.hpp"

namespace bloomery::sizing {

// The difference of lgammas loses all digits near 2^64: Stirling's series is subtracted termwise.
long double log_falling(long double x, long double n) {
  const long double rest = x - n;
  if (rest < 1e6L) return log_gamma(x + 1) - log_gamma(rest + 1);
  return n * std::log(x) - (rest + 0.5L) * std::log1p(-n / x) - n + 1 / (12 * x) - 1 / (12 * rest);
}

// Summed outwards from `value`, away from the mean, where the terms fall from the first one on.
double binomial_tail(long double trials, long double p, long double value) {
  if (value > trials) return 0.0;
  const long double odds = p / (1 - p);
  const bool above_mean = value > trials * p;
  const long double first = above_mean ? value : value - 1;
  long double term = std::exp(log_falling(trials, first) - log_gamma(first + 1) +
                              first * std::log(p) + (trials - first) * std::log1p(-p));
  long double sum = 0;
  for (long double j = first; j >= 0 && j <= trials; j += above_mean ? 1 : -1) {
    sum += term;
    term *= above_mean ? (trials - j) / (j + 1) * odds : j / (trials - j + 1) / odds;
    if (term <= 1e-18L * sum) break;
  }
  return static_cast<double>(std::clamp(above_mean ? sum : 1 - sum, 0.0L, 1.0L));
}

}  // namespace bloomery::sizing
