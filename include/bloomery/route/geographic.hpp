// Finding things by squares of a map (Hsiao 2001; Broder and Mitzenmacher 2004, 6.3): a square of
// side 2^L is divided into four, each of these again, down to squares of side 1, one node each.
//
//     +-------+---+---+     A node has L + 1 levels of filters: of itself, and at level l of the
//     |       | 1 | 1 |     three other quarters of its square of side 2^l. A query goes to the
//     |   2   +---+---+     smallest square that may have it, to the node at its centre, which
//     |       | 1 | N |     does the same within that square. So it takes at most L messages and
//     +-------+---+---+     2 * 2^L unit steps, two more than lie between opposite corners, when
//     |   2   |   2   |     no filter is wrong; after a false promise it tries the next candidate.
//     +-------+-------+
//
//     bloomery::geographic_router node({.levels = 3, .at = {5, 2}, .planned = plan});
//     node.local().add(hash);
//     node.take(2, quarter, announcement);                    // from the centre of that square
//     for (const auto& s : node.candidates(q, 3)) ask(s.centre(), s);
#pragma once

#include <cstdint>
#include <vector>

#include "bloomery/route/summary.hpp"

namespace bloomery {

struct map_point {
  std::uint32_t x = 0;
  std::uint32_t y = 0;

  friend bool operator==(const map_point&, const map_point&) = default;
};

// A square of side 2^level whose corner's coordinates are multiples of that.
struct map_square {
  std::uint32_t level = 0;
  map_point corner;

  [[nodiscard]] static map_square around(map_point p, std::uint32_t level) noexcept;
  [[nodiscard]] bool contains(map_point p) const noexcept { return around(p, level) == *this; }
  // The node that a message to this square goes to: right and above of the middle.
  [[nodiscard]] map_point centre() const noexcept;
  // Its four quarters, of the level below; errc::bad_argument at level 0.
  [[nodiscard]] map_square quarter(std::uint32_t number) const;

  friend bool operator==(const map_square&, const map_square&) = default;
};

inline constexpr std::uint32_t most_map_levels = 15;

struct geographic_options {
  std::uint32_t levels = 1;  // L: the side of the map is 2^L
  map_point at;
  plan planned;  // of all filters: classic, for as many keys as a quarter of the map has
};

class geographic_router {
 public:
  // Throws errc::bad_argument for no level, more than most_map_levels, or a point off the map.
  explicit geographic_router(const geographic_options& o);

  [[nodiscard]] local_summary& local() noexcept { return local_; }

  // What lies in another quarter of our square of this level. A quarter that is our own, or a level
  // that there is not: errc::bad_argument.
  void take(std::uint32_t level, std::uint32_t quarter, const announcement& a);
  // What lies in our own square of this level: for the nodes of its three siblings, as a change
  // from the last call for that level.
  [[nodiscard]] std::optional<announcement> change(std::uint32_t level);

  // The squares that may have it, the smallest first, inside our square of this level.
  [[nodiscard]] std::vector<map_square> candidates(const route_query& q,
                                                   std::uint32_t within) const;

  [[nodiscard]] std::uint32_t levels() const noexcept {
    return static_cast<std::uint32_t>(siblings_.size());
  }
  [[nodiscard]] map_point at() const noexcept { return at_; }

 private:
  map_point at_;
  local_summary local_;
  std::vector<summary_table> siblings_;  // of levels 1 to L; the links are the quarters
  struct told {
    bool first = true;
    announced_summary summary;
  };
  std::vector<told> announced_;  // of levels 0 to L - 1
};

}  // namespace bloomery
