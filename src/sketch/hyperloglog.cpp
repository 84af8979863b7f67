#include "bloomery/sketch/hyperloglog.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace {

// The two series of Ertl 2017, section 4: sigma for the registers that are still 0, tau for those
// that can rise no more. Both add terms until nothing changes.
double sigma(double x) {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double sum = x;
  for (double y = 1, before = -1; sum != before; y += y) {
    x *= x;
    before = sum;
    sum += x * y;
  }
  return sum;
}

double tau(double x) {
  if (x == 0 || x == 1) return 0;
  double sum = 1 - x;
  for (double y = 1, before = -1; sum != before;) {
    x = std::sqrt(x);
    y /= 2;
    before = sum;
    sum -= (1 - x) * (1 - x) * y;
  }
  return sum / 3;
}

}  // namespace

hyperloglog::hyperloglog(std::uint32_t precision) : precision_(precision) {
  if (precision < min_precision || precision > max_precision) {
    detail::throw_bad_argument("the precision", std::uint64_t{precision}, "from 8 to 20");
  }
  registers_.resize(std::size_t{1} << precision);
  few_.resize(registers_.size() / 8);
}

bool hyperloglog::keep(std::uint64_t hash) noexcept {
  if (hash == 0) {
    zero_ = true;
    return true;
  }
  // Hashes are random, so their upper bits are a place.
  std::size_t slot = static_cast<std::size_t>(hash >> (64 - (precision_ - 3)));
  while (few_[slot] != 0 && few_[slot] != hash) slot = (slot + 1) % few_.size();
  if (few_[slot] == hash) return true;
  if (few_keys_ == few_.size() / 2) return false;
  few_[slot] = hash;
  ++few_keys_;
  return true;
}

template <class Visit>
void hyperloglog::for_each_of_few(Visit visit) const {
  if (zero_) visit(0);
  for (const std::uint64_t hash : few_) {
    if (hash != 0) visit(hash);
  }
}

void hyperloglog::leave_few() {
  for_each_of_few([&](std::uint64_t hash) { raise({&hash, 1}); });
  few_.clear();
  few_.shrink_to_fit();
}

void hyperloglog::raise(std::span<const std::uint64_t> hashes) noexcept {
  const unsigned shift = 64 - precision_;
  const std::uint64_t stop = std::uint64_t{1} << (precision_ - 1);  // behind the last bit
  for (const std::uint64_t hash : hashes) {
    std::uint8_t& at = registers_[static_cast<std::size_t>(hash >> shift)];
    const int first = std::countl_zero((hash << precision_) | stop) + 1;
    at = std::max(at, static_cast<std::uint8_t>(first));
  }
}

void hyperloglog::add_batch(std::span<const std::uint64_t> hashes) {
  while (exact() && !hashes.empty()) {
    if (keep(hashes.front())) {
      hashes = hashes.subspan(1);
    } else {
      leave_few();
    }
  }
  raise(hashes);
}

void hyperloglog::merge(const hyperloglog& other) {
  if (precision_ != other.precision_) {
    detail::fail(errc::mismatch, "the counters differ in precision");
  }
  if (other.exact()) return other.for_each_of_few([&](std::uint64_t hash) { add(hash); });
  if (exact()) leave_few();
  for (std::size_t i = 0; i < registers_.size(); ++i) {
    registers_[i] = std::max(registers_[i], other.registers_[i]);
  }
}

double hyperloglog::keys() const noexcept {
  if (exact()) return static_cast<double>(few_keys_ + (zero_ ? 1 : 0));
  std::array<std::uint64_t, 66> count{};
  for (const std::uint8_t r : registers_) ++count[r];
  const auto m = static_cast<double>(registers_.size());
  const std::size_t last = 64 - precision_;  // registers above this have seen zeros alone
  double z = m * tau(1 - static_cast<double>(count[last + 1]) / m);
  for (std::size_t k = last; k > 0; --k) z = (z + static_cast<double>(count[k])) / 2;
  z += m * sigma(static_cast<double>(count[0]) / m);
  return m / (2 * std::numbers::ln2) * m / z;
}

double hyperloglog::standard_error() const noexcept {
  return exact() ? 0 : 1.04 / std::sqrt(static_cast<double>(registers_.size()));
}

std::uint64_t hyperloglog::keys_at_most() const noexcept {
  const double most = std::ceil(keys() * (1 + 4 * standard_error()));
  return most < 0x1p64 ? static_cast<std::uint64_t>(most) : UINT64_MAX;
}

}  // namespace bloomery
