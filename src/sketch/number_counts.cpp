#include "bloomery/sketch/number_counts.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

#include "bloomery/core/error.hpp"
#include "ranks.hpp"

namespace bloomery {

namespace {

constexpr std::uint32_t number_bits = 32;
constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63U;

// Negative numbers have the sign bit, and grow as their bits fall.
std::uint64_t key_of_number(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  return ((bits & sign_bit) != 0 ? ~bits : bits | sign_bit) >> (64 - number_bits);
}

// Rounded to so many decimal digits.
double rounded(double number, int digits) {
  char text[40];
  const auto end =
      std::to_chars(text, text + sizeof text, number, std::chars_format::scientific, digits - 1);
  double shorter = 0;
  std::from_chars(text, end.ptr, shorter);
  return shorter + 0.0;
}

// The number of this key with the fewest decimal digits, by its least one (in magnitude), which may
// be the whole number that was meant, and by the one in the middle.
double number_of_key(std::uint64_t key) {
  constexpr std::uint64_t low_bits = ~std::uint64_t{0} >> number_bits;
  const std::uint64_t turned = key << (64 - number_bits);
  const std::uint64_t least = (turned & sign_bit) != 0 ? turned & ~sign_bit : ~(turned | low_bits);
  const double ends[] = {std::bit_cast<double>(least),
                         std::bit_cast<double>(least | (low_bits / 2 + 1))};
  for (int digits = 1; digits < 17; ++digits) {
    for (const double number : ends) {
      const double shorter = std::isfinite(number) ? rounded(number, digits) : number;
      if (key_of_number(shorter) == key) return shorter;
    }
  }
  return ends[0];
}

}  // namespace

number_counts::number_counts(const number_options& o) : options_(o) {
  // The sketch would say so, but only when it is needed.
  static_cast<void>(dyadic_counts({.key_bits = 1, .epsilon = o.epsilon, .delta = o.delta}));
}

void number_counts::add_batch(std::span<const double> numbers) {
  constexpr std::size_t most_pending = std::size_t{1} << 18U;
  for (const double number : numbers) {
    if (std::isnan(number)) detail::fail(errc::bad_argument, "NaN is not a number to be counted");
  }
  for (const double number : numbers) {
    const double same = number + 0.0;  // -0 becomes 0
    least_ = total_ == 0 ? same : std::min(least_, same);
    largest_ = total_ == 0 ? same : std::max(largest_, same);
    ++total_;
    pending_.push_back(same);
    if (pending_.size() >= most_pending) take_pending();
  }
}

void number_counts::take_pending() {
  if (pending_.empty()) return;
  std::sort(pending_.begin(), pending_.end());
  merge_pending();
  pending_.clear();
  if (sketch_ || held_.size() > options_.exact) sketch_held();
}

void number_counts::merge_pending() {
  std::vector<counted_number> merged;
  merged.reserve(held_.size() + pending_.size());
  auto held = held_.cbegin();
  for (auto from = pending_.cbegin(); from != pending_.cend();) {
    const auto to = std::upper_bound(from, pending_.cend(), *from);
    while (held != held_.cend() && held->number < *from) merged.push_back(*held++);
    merged.push_back({*from, static_cast<std::uint64_t>(to - from)});
    if (held != held_.cend() && held->number == *from) merged.back().count += (held++)->count;
    from = to;
  }
  merged.insert(merged.end(), held, held_.cend());
  held_ = std::move(merged);
}

void number_counts::sketch_held() {
  if (!sketch_) {
    sketch_.emplace(dyadic_options{.key_bits = number_bits,
                                   .epsilon = options_.epsilon,
                                   .delta = options_.delta,
                                   .seed = options_.seed});
  }
  std::vector<counted_prefix> keys;
  keys.reserve(held_.size());
  for (const counted_number& n : held_) keys.push_back({key_of_number(n.number), n.count});
  sketch_->add_sorted(std::move(keys));
  held_ = {};
}

bool number_counts::exact() {
  take_pending();
  return !sketch_;
}

double number_counts::quantile(double share) {
  const std::uint64_t wanted = sketch_detail::rank_of(share, total_);
  if (total_ == 0) detail::fail(errc::bad_argument, "there are no quantiles of no numbers");
  take_pending();
  if (wanted <= 1) return least_;
  if (wanted >= total_) return largest_;
  if (sketch_) return std::clamp(number_of_key(sketch_->quantile(share)), least_, largest_);
  std::uint64_t seen = 0;
  for (const counted_number& n : held_) {
    seen += n.count;
    if (seen >= wanted) return n.number;
  }
  return largest_;
}

std::uint64_t number_counts::count_range(double first, double last) {
  take_pending();
  if (!(first <= last) || total_ == 0) return 0;
  first += 0.0;
  last += 0.0;
  if (first <= least_ && last >= largest_) return total_;
  if (first > largest_ || last < least_) return 0;
  if (sketch_) return sketch_->count_range(key_of_number(first), key_of_number(last));
  std::uint64_t sum = 0;
  auto at = std::ranges::lower_bound(held_, first, {}, &counted_number::number);
  for (; at != held_.end() && at->number <= last; ++at) sum += at->count;
  return sum;
}

}  // namespace bloomery
