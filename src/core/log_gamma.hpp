// The logarithm of the gamma function, for several threads at once: std::lgamma writes the sign
// into a variable that all share.
#pragma once

#include <cmath>

namespace bloomery::sizing {

inline long double log_gamma(long double x) {
#ifdef __GLIBC__
  int sign = 0;
  return ::lgammal_r(x, &sign);
#else
  return std::lgamma(x);
#endif
}

}  // namespace bloomery::sizing
