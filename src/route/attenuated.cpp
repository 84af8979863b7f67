#include "bloomery/route/attenuated.hpp"

#include <algorithm>
#include <cmath>

#include "bloomery/core/error.hpp"

namespace bloomery {

attenuated_router::attenuated_router(const attenuated_options& o)
    : enough_(o.enough), local_(o.planned) {
  if (o.depth == 0 || o.depth > most_depth) {
    detail::throw_bad_argument("the depth", std::uint64_t{o.depth}, "from 1 to 16");
  }
  for (std::uint32_t level = 1; level <= o.depth; ++level) {
    levels_.emplace_back(o.planned);
    announced_.emplace_back(o.planned, level);
  }
}

void attenuated_router::add_link(link_id link) {
  for (summary_table& level : levels_) level.add_link(link);
}

void attenuated_router::remove_link(link_id link) {
  for (summary_table& level : levels_) level.remove_link(link);
}

void attenuated_router::take(link_id link, const announcement& a) {
  if (a.level == 0 || a.level > depth()) {
    detail::fail(errc::corrupt, "an announcement of level " + std::to_string(a.level) +
                                    " where the levels are 1 to " + std::to_string(depth()));
  }
  levels_[a.level - 1].take(link, a);
}

std::vector<announcement> attenuated_router::whole() const {
  std::vector<announcement> all;
  for (const announced_summary& level : announced_) all.push_back(level.whole());
  return all;
}

std::vector<announcement> attenuated_router::changes(bool all) {
  std::vector<announcement> sent;
  for (std::size_t i = 0; i < announced_.size(); ++i) {
    const classic_filter& now = i == 0 ? local_.filter() : levels_[i - 1].merged();
    std::uint64_t least = 1;
    if (i != 0 && !all) {
      least += static_cast<std::uint64_t>(enough_ * static_cast<double>(now.bits_set()));
    }
    if (auto a = announced_[i].next(now.words(), least)) sent.push_back(*std::move(a));
  }
  return sent;
}

std::vector<attenuated_router::promise> attenuated_router::promises(const route_query& q,
                                                                    std::uint32_t hops) const {
  std::vector<promise> all;
  for (std::uint32_t i = 0; i < std::min(hops, depth()); ++i) {
    for (const link_id link : levels_[i].matching(q, false)) {
      if (std::ranges::find(all, link, &promise::link) == all.end()) {
        all.push_back({.link = link, .level = i + 1});
      }
    }
  }
  return all;
}

std::uint64_t attenuated_router::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const summary_table& level : levels_) sum += level.bytes();
  return sum;
}

attenuated_walk::attenuated_walk(std::vector<attenuated_router::promise> promises,
                                 std::optional<link_id> from)
    : left_(std::move(promises)) {
  std::erase_if(left_, [&](const auto& p) { return from == p.link; });
  std::ranges::reverse(left_);
}

std::optional<attenuated_router::promise> attenuated_walk::next() {
  if (left_.empty()) return std::nullopt;
  const attenuated_router::promise nearest = left_.back();
  left_.pop_back();
  return nearest;
}

}  // namespace bloomery
