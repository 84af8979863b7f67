#include "bloomery/exchange/noisy.hpp"

#include <algorithm>
#include <cmath>

namespace bloomery {

namespace {

// The entropy of a yes or no, in bits.
double entropy(double p) {
  if (p <= 0 || p >= 1) return 0;
  return -p * std::log2(p) - (1 - p) * std::log2(1 - p);
}

void check_probability(std::string_view name, double p) {
  if (!(p >= 0 && p <= 1)) detail::throw_bad_argument(name, p, "from 0 to 1");
}

estimate mean_of_field(std::span<const comparison> all, estimate comparison::*field) {
  estimate mean;
  double variance = 0;
  for (const comparison& c : all) {
    mean.value += (c.*field).value;
    variance += (c.*field).standard_error * (c.*field).standard_error;
  }
  const auto number = static_cast<double>(all.size());
  mean.value /= number;
  mean.standard_error = std::sqrt(variance) / number;
  return mean;
}

}  // namespace

plan noisy_plan(const noisy_options& o) {
  if (o.keys == 0) detail::throw_bad_argument("the number of keys", o.keys, "above 0");
  if (!(o.fpr >= 0.001 && o.fpr <= 0.999)) {
    detail::throw_bad_argument("the fpr of a noisy filter", o.fpr, "from 0.001 to 0.999");
  }
  // A bit stays 0 with probability (1 - 1/m)^n.
  const double bits = -1 / std::expm1(std::log1p(-o.fpr) / static_cast<double>(o.keys));
  const plan p{.shape = {.kind = filter_kind::classic,
                         .probes = 1,
                         .bits = static_cast<std::uint64_t>(std::max(1.0, std::round(bits)))},
               .keys = o.keys};
  check_shape(p.shape);
  return p;
}

comparison mean_of(std::span<const comparison> all) {
  if (all.empty()) throw error(errc::bad_argument, "the mean of no estimates");
  comparison mean;
  for (estimate comparison::*field :
       {&comparison::keys_a, &comparison::keys_b, &comparison::keys_union,
        &comparison::keys_intersection, &comparison::only_a, &comparison::only_b,
        &comparison::jaccard}) {
    mean.*field = mean_of_field(all, field);
  }
  for (const comparison& c : all) mean.shared_bits += c.shared_bits;
  return mean;
}

double eavesdropper::together() const {
  check_probability("the fpr", fpr);
  check_probability("the prior", prior);
  return std::pow(fpr, filters);
}

double eavesdropper::posterior() const {
  const double yes = prior + (1 - prior) * together();
  return yes > 0 ? prior / yes : 0;
}

double eavesdropper::learned_bits() const {
  // He learns whether all of the filters say yes; how many of them say no tells him nothing more.
  const double rate = together();
  return std::max(0.0, entropy(prior + (1 - prior) * rate) - (1 - prior) * entropy(rate));
}

double eavesdropper::false_candidates(std::uint64_t dictionary, std::uint64_t members) const {
  if (members > dictionary) {
    detail::throw_bad_argument("the number of members", members, "at most that of the dictionary");
  }
  return static_cast<double>(dictionary - members) * together();
}

}  // namespace bloomery
