// Attenuated Bloom filters (Rhea and Kubiatowicz 2002): for each neighbour an array of d filters,
// the i-th of what can be reached in i hops through it.
//
//     through B:   level 1 | keys of B            |     a query goes where the nearest level
//                  level 2 | of B's neighbours    |     promises the key, and comes back when it
//                  level 3 | of their neighbours  |     was a false promise
//
// What a node announces is the same for all neighbours: level 1 is its own filter, level i + 1 the
// union of the level i of all of them. So one copy of what was sent serves all links, and a node
// with 200 neighbours holds little more than their filters. That the union also has what came from
// the receiver does no harm: it is nearer on the way that the receiver has itself.
//
// Far levels change often and matter least: an announcement of level 2 and above waits until enough
// bits differ, or until the caller wants all out.
//
//     bloomery::attenuated_router node({.planned = plan, .depth = 3});
//     node.add_link(1);                    and send it whole()
//     node.take(1, announcement);          what comes from there
//     for (const auto& a : node.changes(false)) send_to_all(a);
//     for (const auto& p : node.promises(hash, 3)) ...the nearest first
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bloomery/route/summary.hpp"

namespace bloomery {

inline constexpr std::uint32_t most_depth = 16;

struct attenuated_options {
  plan planned;  // of all filters: classic, for as many keys as the fullest level has
  std::uint32_t depth = 3;
  double enough = 0.01;  // of the set bits must differ before a level above 1 is announced
};

class attenuated_router {
 public:
  // Throws errc::bad_argument for a depth that is 0 or above most_depth.
  explicit attenuated_router(const attenuated_options& o);

  [[nodiscard]] local_summary& local() noexcept { return local_; }
  [[nodiscard]] const local_summary& local() const noexcept { return local_; }
  [[nodiscard]] std::uint32_t depth() const noexcept {
    return static_cast<std::uint32_t>(levels_.size());
  }

  void add_link(link_id link);
  void remove_link(link_id link);
  // Throws errc::corrupt for a level that there is not, else as summary_table.
  void take(link_id link, const announcement& a);

  // For a new neighbour: what all others have. And what has changed since, for all: each level that
  // differs enough, or, with `all`, that differs.
  [[nodiscard]] std::vector<announcement> whole() const;
  [[nodiscard]] std::vector<announcement> changes(bool all);

  struct promise {
    link_id link = 0;
    std::uint32_t level = 0;

    friend bool operator==(const promise&, const promise&) = default;
  };
  // The links that promise it within so many hops, each at its nearest level, the nearest first.
  [[nodiscard]] std::vector<promise> promises(const route_query& q, std::uint32_t hops) const;

  [[nodiscard]] const summary_table& level(std::uint32_t number) const {
    return levels_.at(number - 1);
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept;  // of all neighbours' filters

 private:
  double enough_;
  local_summary local_;
  std::vector<summary_table> levels_;
  std::vector<announced_summary> announced_;
};

// One query on its way, as a walk that backs off; the state of one node that it has come to. The
// node asks one neighbour after the other until one has it:
//
//     attenuated_walk walk(node.promises(q, hops_left), came_from);
//     while (auto next = walk.next()) if (ask(next->link, hops_left - 1)) break;
class attenuated_walk {
 public:
  attenuated_walk() = default;
  attenuated_walk(std::vector<attenuated_router::promise> promises, std::optional<link_id> from);

  std::optional<attenuated_router::promise> next();

 private:
  std::vector<attenuated_router::promise> left_;  // the nearest last
};

}  // namespace bloomery
