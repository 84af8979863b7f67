#include "bloomery/sketch/heavy_hitters.hpp"

#include <algorithm>
#include <cmath>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace {

constexpr std::uint64_t most_candidates = std::uint64_t{1} << 20U;

}  // namespace

heavy_hitters::heavy_hitters(count_min& sketch, double phi) : sketch_(&sketch), phi_(phi) {
  if (!(phi > 0 && phi <= 1 && 2 / phi <= static_cast<double>(most_candidates))) {
    detail::throw_bad_argument("phi", phi, "from 2^-19 to 1");
  }
  capacity_ = static_cast<std::size_t>(std::ceil(2 / phi));
  candidates_.reserve(capacity_ + 1);
}

void heavy_hitters::add(std::uint64_t hash, std::uint64_t count) {
  sketch_->add(hash, count);
  const std::uint64_t counted = sketch_->count(hash);
  if (!sketch_->is_heavy(counted, phi_)) return;
  candidates_[hash] = counted;
  if (candidates_.size() > capacity_) make_room();
}

// Asks the sketch for the counts again: keys that were added to it without the tracker are not in
// those that were seen last.
void heavy_hitters::make_room() {
  auto least = candidates_.end();
  for (auto c = candidates_.begin(); c != candidates_.end();) {
    c->second = sketch_->count(c->first);
    if (!sketch_->is_heavy(c->second, phi_)) {
      c = candidates_.erase(c);
      continue;
    }
    const bool less = least == candidates_.end() || c->second < least->second ||
                      (c->second == least->second && c->first < least->first);
    if (less) least = c;
    ++c;
  }
  if (candidates_.size() > capacity_) candidates_.erase(least);
}

std::vector<heavy_hitters::entry> heavy_hitters::list() const {
  std::vector<entry> heavy;
  heavy.reserve(candidates_.size());
  for (const auto& candidate : candidates_) {
    const std::uint64_t counted = sketch_->count(candidate.first);
    if (sketch_->is_heavy(counted, phi_)) heavy.push_back({candidate.first, counted});
  }
  std::sort(heavy.begin(), heavy.end(), [](const entry& a, const entry& b) {
    return a.count != b.count ? a.count > b.count : a.hash < b.hash;
  });
  return heavy;
}

}  // namespace bloomery
