#include "bloomery/route/multicast.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "bloomery/core/error.hpp"
#include "bloomery/set/algebra.hpp"

namespace bloomery {

// ---- a filter for each interface --------------------------------------------------------------

void multicast_router::add_link(link_id link) {
  if (interfaces_.has_link(link)) return;
  interfaces_.add_link(link);
  told_.push_back(
      {.link = link, .first = true, .summary = announced_summary(local_.filter().planned(), 0)});
}

void multicast_router::remove_link(link_id link) {
  interfaces_.remove_link(link);
  std::erase_if(told_, [&](const told& t) { return t.link == link; });
}

std::optional<announcement> multicast_router::change_for(link_id link) {
  const auto to = std::ranges::find(told_, link, &told::link);
  if (to == told_.end()) return std::nullopt;
  bit_array wanted(local_.filter().words());
  for (const told& other : told_) {
    const classic_filter* const behind = interfaces_.filter_of(other.link);
    if (other.link != link && behind != nullptr) detail::or_words(wanted.words(), behind->words());
  }
  auto change = to->summary.next(wanted.words());
  if (to->first) {
    to->first = false;
    return to->summary.whole();
  }
  return change;
}

std::vector<link_id> multicast_router::forward(std::uint64_t group,
                                               std::optional<link_id> from) const {
  std::vector<link_id> to = interfaces_.matching({.hashes = {group}, .covered = {}}, true);
  std::erase_if(to, [&](link_id link) { return from == link; });
  return to;
}

// ---- the tree in the message ------------------------------------------------------------------

namespace {

void check_route_shape(const source_route_shape& s) {
  if (s.bits == 0 || s.bits > 256) {
    detail::throw_bad_argument("the bits of a source route", std::uint64_t{s.bits}, "1 to 256");
  }
  if (s.probes == 0 || s.probes > s.bits / 2) {
    detail::throw_bad_argument("the bits a link", std::uint64_t{s.probes},
                               "from 1 to half of the route's");
  }
  if (s.candidates == 0 || s.candidates > 256) {
    detail::throw_bad_argument("the candidates", std::uint64_t{s.candidates}, "1 to 256");
  }
}

bool mask_covered(const link_mask& all, const link_mask& part) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((part[i] & ~all[i]) != 0) return false;
  }
  return true;
}

int ones_in(const link_mask& mask) {
  int ones = 0;
  for (const std::uint64_t word : mask) ones += std::popcount(word);
  return ones;
}

}  // namespace

source_route::source_route(std::span<const std::uint64_t> tree,
                           std::span<const std::uint64_t> others, const source_route_shape& s)
    : shape_(s) {
  check_route_shape(s);
  std::tuple best{std::numeric_limits<std::uint64_t>::max(), 0};
  for (std::uint32_t c = 0; c < s.candidates; ++c) {
    link_mask all{};
    for (const std::uint64_t link : tree) {
      const link_mask mask = mask_of(link, c, s.bits, s.probes);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] |= mask[i];
    }
    std::uint64_t taken = 0;
    for (const std::uint64_t link : others) {
      taken += std::uint64_t{mask_covered(all, mask_of(link, c, s.bits, s.probes))};
    }
    const std::tuple cost{taken, ones_in(all)};
    if (cost >= best) continue;
    best = cost;
    candidate_ = c;
    bits_ = all;
  }
}

source_route::source_route(const link_mask& bits, std::uint32_t candidate,
                           const source_route_shape& s)
    : shape_(s), candidate_(candidate), bits_(bits) {
  check_route_shape(s);
}

bool source_route::takes(std::uint64_t link) const {
  return mask_covered(bits_, mask_of(link, candidate_, shape_.bits, shape_.probes));
}

double source_route::fpr() const noexcept {
  return std::pow(static_cast<double>(ones_in(bits_)) / shape_.bits, shape_.probes);
}

}  // namespace bloomery
