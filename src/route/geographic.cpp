#include "bloomery/route/geographic.hpp"

#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/set/algebra.hpp"

namespace bloomery {

map_square map_square::around(map_point p, std::uint32_t level) noexcept {
  const std::uint32_t mask = ~((std::uint32_t{1} << level) - 1);
  return {.level = level, .corner = {.x = p.x & mask, .y = p.y & mask}};
}

map_point map_square::centre() const noexcept {
  const std::uint32_t half = level == 0 ? 0 : std::uint32_t{1} << (level - 1);
  return {.x = corner.x + half, .y = corner.y + half};
}

map_square map_square::quarter(std::uint32_t number) const {
  if (level == 0) detail::fail(errc::bad_argument, "a square of side 1 has no quarters");
  const std::uint32_t half = std::uint32_t{1} << (level - 1);
  return {.level = level - 1,
          .corner = {.x = corner.x + ((number & 1U) != 0 ? half : 0),
                     .y = corner.y + ((number & 2U) != 0 ? half : 0)}};
}

geographic_router::geographic_router(const geographic_options& o) : at_(o.at), local_(o.planned) {
  if (o.levels == 0 || o.levels > most_map_levels) {
    detail::throw_bad_argument("the levels of a map", std::uint64_t{o.levels}, "from 1 to 15");
  }
  const std::uint32_t side = std::uint32_t{1} << o.levels;
  if (o.at.x >= side || o.at.y >= side) {
    detail::throw_bad_argument("a coordinate", std::uint64_t{std::max(o.at.x, o.at.y)},
                               "below the side of the map, " + std::to_string(side));
  }
  for (std::uint32_t level = 1; level <= o.levels; ++level) {
    summary_table& quarters = siblings_.emplace_back(o.planned);
    for (link_id quarter = 0; quarter < 4; ++quarter) {
      if (!map_square::around(at_, level).quarter(quarter).contains(at_)) {
        quarters.add_link(quarter);
      }
    }
    announced_.push_back({.first = true, .summary = announced_summary(o.planned, level - 1)});
  }
}

void geographic_router::take(std::uint32_t level, std::uint32_t quarter, const announcement& a) {
  if (level == 0 || level > levels()) {
    detail::throw_bad_argument("the level", std::uint64_t{level}, "one of the map's");
  }
  siblings_[level - 1].take(quarter, a);
}

std::optional<announcement> geographic_router::change(std::uint32_t level) {
  if (level >= levels()) {
    detail::throw_bad_argument("the level", std::uint64_t{level}, "below that of the whole map");
  }
  bit_array all(local_.filter().words());
  for (std::uint32_t below = 0; below < level; ++below) {
    detail::or_words(all.words(), siblings_[below].merged().words());
  }
  told& to = announced_[level];
  auto change = to.summary.next(all.words());
  if (!to.first) return change;
  to.first = false;
  return to.summary.whole();
}

std::vector<map_square> geographic_router::candidates(const route_query& q,
                                                      std::uint32_t within) const {
  std::vector<map_square> all;
  for (std::uint32_t level = 1; level <= std::min(within, levels()); ++level) {
    for (const link_id quarter : siblings_[level - 1].matching(q, false)) {
      all.push_back(map_square::around(at_, level).quarter(quarter));
    }
  }
  return all;
}

}  // namespace bloomery
