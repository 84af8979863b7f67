#include "bloomery/sketch/riblt.hpp"

#include <algorithm>
#include <cmath>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

namespace {

// Makes the check of an item independent of its walk.
constexpr std::uint64_t check_salt = 0x5bf0a8b145769f2dU;
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;

// Counts of real sets are below 2^32; this keeps sums of invented ones from overflowing.
constexpr std::int64_t largest_count = std::int64_t{1} << 48U;

void put(riblt_symbol& to, std::uint64_t item, std::int64_t sign) {
  to.sum ^= item;
  to.check ^= detail::riblt_check(item);
  to.count += sign;
}

bool alone(const riblt_symbol& s) {
  return (s.count == 1 || s.count == -1) && s.check == detail::riblt_check(s.sum);
}

// A symbol holds only items whose walk comes by. Without this question 32 bits of check would be
// few for millions of symbols; with it a wrong item gets through in one of 10^8 differences.
bool comes_by(std::uint64_t item, std::uint32_t symbol) {
  detail::riblt_walk walk(item);
  while (walk.at() < symbol) walk.advance();
  return walk.at() == symbol;
}

}  // namespace

namespace detail {

std::uint32_t riblt_check(std::uint64_t item) noexcept {
  return static_cast<std::uint32_t>(splitmix64(item ^ check_salt) >> 32U);
}

// P(next > j) = (i+1)(i+2) / ((j+1)(j+2)) from i on: the least j with (j+1)(j+2) >= (i+1)(i+2)/u.
void riblt_walk::advance() noexcept {
  const std::uint64_t draw = splitmix64(item_ + golden * draws_++);
  const double u = static_cast<double>((draw >> 11U) + 1) * 0x1p-53;
  const double from = (at_ + 1.0) * (at_ + 2.0);
  const double to = std::sqrt(from / u + 0.25) - 1.5;
  if (!(to < riblt_most_symbols)) {
    at_ = riblt_most_symbols;
    return;
  }
  const auto whole = static_cast<std::uint32_t>(to);
  at_ = std::max(at_ + 1, whole + (static_cast<double>(whole) < to ? 1U : 0U));
}

}  // namespace detail

riblt_encoder::riblt_encoder(std::span<const std::uint64_t> items) {
  walks_.reserve(items.size());
  for (const std::uint64_t item : items) walks_.emplace_back(item);
}

void riblt_encoder::extend(std::size_t to) {
  if (to <= made_.size()) return;
  if (to > riblt_most_symbols) {
    detail::throw_bad_argument("the number of symbols", std::uint64_t{to}, "at most 2^31");
  }
  made_.resize(to);
  for (detail::riblt_walk& walk : walks_) {
    for (; walk.at() < to; walk.advance()) put(made_[walk.at()], walk.item(), 1);
  }
}

std::span<const riblt_symbol> riblt_encoder::symbols(std::size_t first, std::size_t count) {
  if (count > riblt_most_symbols || first > riblt_most_symbols) extend(SIZE_MAX);
  extend(first + count);
  return std::span(made_).subspan(first, count);
}

riblt_symbol riblt_encoder::symbol(std::size_t i) {
  if (i >= made_.size())  // the steps grow, because each step visits every item
    extend(std::max({i + 1, made_.size() + made_.size() / 2, std::size_t{64}}));
  return made_[i];
}

bool riblt_decoder::complete() const noexcept {
  return !rest_.empty() && rest_.front() == riblt_symbol{};
}

void riblt_decoder::add(std::span<const riblt_symbol> next) {
  const std::size_t before = rest_.size();
  const auto own = here_.symbols(before, next.size());
  rest_.reserve(before + next.size());
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (next[i].count > largest_count || next[i].count < -largest_count) {
      detail::fail(errc::corrupt, "a symbol of no set: it counts too many items");
    }
    rest_.push_back({.sum = next[i].sum ^ own[i].sum,
                     .check = next[i].check ^ own[i].check,
                     .count = next[i].count - own[i].count});
  }
  for (found_item& found : found_) take_out(found);
  waiting_.clear();
  for (std::size_t i = before; i < rest_.size(); ++i) {
    waiting_.push_back(static_cast<std::uint32_t>(i));
  }
  peel();
}

// From the symbols that its walk has not reached yet.
void riblt_decoder::take_out(found_item& found) {
  for (; found.walk.at() < rest_.size(); found.walk.advance()) {
    riblt_symbol& s = rest_[found.walk.at()];
    put(s, found.walk.item(), -found.sign);
    if (s.count == 1 || s.count == -1) waiting_.push_back(found.walk.at());
  }
}

void riblt_decoder::peel() {
  while (!waiting_.empty()) {
    const std::uint32_t i = waiting_.back();
    waiting_.pop_back();
    const riblt_symbol s = rest_[i];
    if (!alone(s) || !comes_by(s.sum, i)) continue;
    // Each real item empties a symbol for good, so there are never more items than symbols.
    if (found_.size() == rest_.size()) {
      detail::fail(errc::corrupt, "symbols of no set: they tell more items than they can hold");
    }
    (s.count == 1 ? only_there_ : only_here_).push_back(s.sum);
    found_.push_back({.walk = detail::riblt_walk(s.sum), .sign = s.count});
    take_out(found_.back());
  }
}

}  // namespace bloomery
