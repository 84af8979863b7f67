// The loads of equal blocks, each key in one of them: means over a binomial distribution.
#pragma once

#include <algorithm>
#include <cmath>

#include "log_gamma.hpp"

namespace bloomery::sizing {

// The mean of f(load) over load ~ Binomial(n, 1/blocks), for an f that grows from 0 to 1. Starting
// 12 standard deviations below the mean loses less than 1e-30; it ends when the rest is negligible.
template <class Function>
double mean_over_loads(double n, double blocks, Function f) {
  if (blocks == 1) return static_cast<double>(f(n));
  const long double p = 1.0L / blocks;
  const long double mean = n * p;
  const long double first = std::floor(std::max(0.0L, mean - 12 * std::sqrt(mean) - 12));
  if (f(first) > 1 - 1e-12L)
    return 1.0;  // hopelessly overfull; the sum would only take long to say so
  long double chance =
      std::exp(log_gamma(n + 1.0L) - log_gamma(first + 1.0L) - log_gamma(n - first + 1.0L) +
               first * std::log(p) + (n - first) * std::log1p(-p));
  long double sum = 0;
  for (long double load = first; load <= n; ++load) {
    sum += chance * f(load);
    chance *= (n - load) / (load + 1) * p / (1 - p);
    if (load > mean && chance < 1e-12L * sum) break;
  }
  return static_cast<double>(std::min(1.0L, sum));
}

}  // namespace bloomery::sizing
