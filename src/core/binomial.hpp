// The tail of a binomial distribution, exact enough for numbers of trials up to 2^64.
#pragma once

namespace bloomery::sizing {

[[nodiscard]] long double log_falling(long double x, long double n);  // ln of x (x-1) ... (x-n+1)

// P(X >= value) for X ~ Binomial(trials, p), 0 < p < 1.
[[nodiscard]] double binomial_tail(long double trials, long double p, long double value);

}  // namespace bloomery::sizing
