#include "bloomery/sketch/t_digest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

double checked_compression(double compression) {
  if (!(compression >= 1 && compression <= t_digest::most_compression)) {
    detail::throw_bad_argument("the compression", compression, "from 1 to 100000");
  }
  return compression;
}

void check_finite(double number) {
  if (!std::isfinite(number)) {
    detail::throw_bad_argument("a number of a t-digest", number, "finite");
  }
}

}  // namespace

t_digest::t_digest(double compression)
    : compression_(checked_compression(compression)), least_(no_number), largest_(no_number) {}

t_digest::t_digest(double compression, std::span<const centroid> nodes, double least,
                   double largest, pass_state passes)
    : compression_(checked_compression(compression)),
      least_(no_number),
      largest_(no_number),
      compressions_(passes.made) {
  if (nodes.empty()) return;
  constexpr double most_weight = 0x1p53;
  double before = least;
  for (const centroid& c : nodes) {
    if (!(c.weight > 0 && c.weight <= most_weight) || !(c.mean >= before) || !(c.mean <= largest)) {
      detail::fail(errc::corrupt, "the centroids of the t-digest are not in order");
    }
    before = c.mean;
    total_ += c.weight;
  }
  if (!std::isfinite(least) || !std::isfinite(largest) || total_ > most_weight) {
    detail::fail(errc::corrupt, "the t-digest has no least or no largest number");
  }
  least_ = least;
  largest_ = largest;
  if (passes.due) {
    // The next pass sorts all of them together, and equal ones keep their order wherever they wait.
    buffer_.assign(nodes.begin(), nodes.end());
    seen_valid_ = false;
  } else {
    merged_weight_ = total_;
    merged_.assign(nodes.begin(), nodes.end());
  }
}

std::size_t t_digest::capacity() const noexcept {
  return static_cast<std::size_t>(6 * std::ceil(compression_)) + 10;
}

std::size_t t_digest::memory_bytes() const noexcept {
  return (merged_.capacity() + buffer_.capacity() + seen_.capacity()) * sizeof(centroid);
}

// ---- added ------------------------------------------------------------------------------------

void t_digest::put(const centroid& c) {
  if (merged_.size() + buffer_.size() >= capacity()) compress();
  buffer_.push_back(c);
  total_ += c.weight;
  seen_valid_ = false;
}

void t_digest::add(double number) { add_batch({&number, 1}); }

void t_digest::add_batch(std::span<const double> numbers) {
  for (const double number : numbers) check_finite(number);
  for (const double number : numbers) {
    put({.mean = number, .weight = 1});
    least_ = std::fmin(least_, number);
    largest_ = std::fmax(largest_, number);
  }
}

void t_digest::merge(const t_digest& other) {
  const std::vector<centroid> copy(other.centroids().begin(), other.centroids().end());
  const double least = other.least_;
  const double largest = other.largest_;
  for (const centroid& c : copy) put(c);
  least_ = std::fmin(least_, least);
  largest_ = std::fmax(largest_, largest);
}

void t_digest::clear() noexcept {
  merged_.clear();
  buffer_.clear();
  seen_.clear();
  seen_valid_ = true;
  merged_weight_ = total_ = 0;
  least_ = largest_ = no_number;
  compressions_ = 0;
}

void t_digest::compress() {
  merged_ = compressed(compressions_ % 2 != 0);
  ++compressions_;
  merged_weight_ = total_;
  buffer_.clear();
  seen_.clear();
  seen_valid_ = false;
}

std::vector<centroid> t_digest::nodes() const {
  std::vector<centroid> all = merged_;
  all.insert(all.end(), buffer_.begin(), buffer_.end());
  std::ranges::stable_sort(all, {}, &centroid::mean);
  return all;
}

// One pass over all of them in order, which joins neighbours as long as they weigh less together
// than one may at either end of their ranks. Every other pass goes backwards, so that no end is
// favoured.
std::vector<centroid> t_digest::compressed(bool backwards) const {
  std::vector<centroid> all = nodes();
  if (all.empty()) return all;
  if (backwards) std::ranges::reverse(all);
  const double steps = 2 * compression_;
  const double z = 4 * std::log(std::max(1.0, total_ / steps)) + 24;
  const auto most = [&](double below) {
    const double q = std::clamp(below / total_, 0.0, 1.0);
    return total_ * q * (1 - q) * z / steps;
  };
  std::vector<centroid> out;
  double below = 0;
  centroid now = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double together = now.weight + all[i].weight;
    if (together <= std::min(most(below), most(below + together))) {
      now.mean += (all[i].mean - now.mean) * (all[i].weight / together);
      now.weight = together;
    } else {
      below += now.weight;
      out.push_back(now);
      now = all[i];
    }
  }
  out.push_back(now);
  if (backwards) std::ranges::reverse(out);
  // Rounding may leave two means a bit out of order.
  std::ranges::stable_sort(out, {}, &centroid::mean);
  return out;
}

std::span<const centroid> t_digest::centroids() const {
  if (buffer_.empty()) return merged_;
  if (!seen_valid_) {
    seen_ = compressed(compressions_ % 2 != 0);
    seen_valid_ = true;
  }
  return seen_;
}

// ---- asked ------------------------------------------------------------------------------------

template <class Visit>
void t_digest::walk(Visit visit) const {
  const auto all = centroids();
  const auto point = [&](double rank, double value) {
    return visit(rank, std::clamp(value, least_, largest_));
  };
  double below = 0;
  if (all.front().weight > 1 && !point(std::min(0.5, all.front().weight / 4), least_)) return;
  for (const centroid& c : all) {
    const bool single = c.weight <= 1;
    if (single ? !point(below, c.mean) || !point(below + c.weight, c.mean)
               : !point(below + c.weight / 2, c.mean)) {
      return;
    }
    below += c.weight;
  }
  if (all.back().weight > 1) point(total_ - std::min(0.5, all.back().weight / 4), largest_);
}

double t_digest::value_at(double rank) const {
  double last_rank = 0;
  double last = least_;
  double answer = largest_;
  walk([&](double at, double value) {
    if (at > rank) {
      const double share = at > last_rank ? (rank - last_rank) / (at - last_rank) : 1;
      answer = last + (value - last) * std::clamp(share, 0.0, 1.0);
      return false;
    }
    last_rank = at;
    last = value;
    return true;
  });
  return answer;
}

double t_digest::quantile(double share) const {
  if (total_ == 0) return no_number;
  if (!(share > 0)) return least_;
  if (share >= 1) return largest_;
  return value_at(share * total_);
}

t_digest::rank_range t_digest::ranks(double number) const {
  if (total_ == 0) return {.below = no_number, .not_above = no_number};
  if (!(number >= least_)) return {};
  if (number > largest_) return {.below = total_, .not_above = total_};
  double first = 0;  // the ranks where the curve is at this number
  double end = total_;
  double last_rank = 0;
  double last = least_;
  bool found = false;
  walk([&](double at, double value) {
    const auto crossing = [&] {
      return value > last ? last_rank + (at - last_rank) * ((number - last) / (value - last)) : at;
    };
    if (!found && value >= number) {
      found = true;
      first = last >= number ? last_rank : crossing();
    }
    if (value > number) {
      end = last >= number ? last_rank : crossing();
      return false;
    }
    last_rank = at;
    last = value;
    return true;
  });
  if (!found) first = last_rank;
  return {.below = first, .not_above = end};
}

double t_digest::trimmed_mean(double low_share, double high_share) const {
  const double low = std::clamp(low_share, 0.0, 1.0) * total_;
  const double high = std::clamp(high_share, 0.0, 1.0) * total_;
  double below = 0;
  double weight = 0;
  double mean = 0;
  for (const centroid& c : centroids()) {
    const double part = std::min(high, below + c.weight) - std::max(low, below);
    below += c.weight;
    if (part <= 0) continue;
    weight += part;
    mean += (c.mean - mean) * (part / weight);
  }
  return weight > 0 ? mean : no_number;
}

}  // namespace bloomery
