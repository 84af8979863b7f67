#include "bloomery/route/home.hpp"

#include <algorithm>

#include "bloomery/core/error.hpp"

namespace bloomery {

home_ring::home_ring(std::span<const std::uint64_t> nodes) : nodes_(nodes.begin(), nodes.end()) {
  std::ranges::sort(nodes_);
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
}

bool home_ring::add(std::uint64_t node) {
  const auto at = std::ranges::lower_bound(nodes_, node);
  if (at != nodes_.end() && *at == node) return false;
  nodes_.insert(at, node);
  return true;
}

bool home_ring::remove(std::uint64_t node) {
  const auto at = std::ranges::lower_bound(nodes_, node);
  if (at == nodes_.end() || *at != node) return false;
  nodes_.erase(at);
  return true;
}

std::uint64_t home_ring::home_of(std::uint64_t hash) const {
  if (nodes_.empty()) detail::fail(errc::bad_argument, "a ring without nodes has no homes");
  const auto at = std::ranges::lower_bound(nodes_, hash);
  return at == nodes_.end() ? nodes_.front() : *at;
}

std::vector<std::uint64_t> home_ring::homes_of(std::uint64_t hash, std::size_t copies) const {
  std::vector<std::uint64_t> all;
  const auto first =
      static_cast<std::size_t>(std::ranges::lower_bound(nodes_, hash) - nodes_.begin());
  for (std::size_t i = 0; i < std::min(copies, nodes_.size()); ++i) {
    all.push_back(nodes_[(first + i) % nodes_.size()]);
  }
  return all;
}

// Differences of numbers are distances around the circle: they wrap as the circle does.
std::uint64_t home_ring::next_hop(std::uint64_t at, std::uint64_t hash) const {
  const std::uint64_t home = home_of(hash);
  if (at == home) return at;
  // The finger that is farthest on, but not behind the home.
  const std::uint64_t whole = home - at;
  for (std::uint32_t step = 64; step-- > 0;) {
    const std::uint64_t jump = std::uint64_t{1} << step;
    if (jump > whole) continue;
    const std::uint64_t finger = home_of(at + jump);
    if (finger - at <= whole) return finger;
  }
  return home;
}

std::vector<std::uint64_t> home_ring::fingers(std::uint64_t node) const {
  std::vector<std::uint64_t> all;
  if (nodes_.empty()) return all;
  for (std::uint32_t step = 0; step < 64; ++step) {
    const std::uint64_t finger = home_of(node + (std::uint64_t{1} << step));
    if (finger != node && (all.empty() || all.back() != finger)) all.push_back(finger);
  }
  return all;
}

}  // namespace bloomery
