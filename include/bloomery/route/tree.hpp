// Resource routing in a tree of nodes (Czerwinski and others 1999; Rhea and Kubiatowicz 2002).
//
//                 root                       each node knows, for each child, a filter of all that
//               /      \                     lies in the child's subtree. A query goes down every
//            node      node  {x, y}          branch that may match, and up: always, when all
//           /    \        \                  holders are wanted; only when nothing below has it,
//         {x}    {z}      {y}                when one is enough
//
// A resource may be a key, or a description of several: a query for a set of keys, or for a filter
// of them, then asks for what covers it. Changes travel up as deltas, and removals too, since each
// node counts its own keys. What is present and announced is never missed: a filter has no false
// negatives, and a child that has announced nothing yet is asked.
//
//     bloomery::tree_router node(plan);
//     node.local().add(hash);
//     node.children().add_link(3);
//     node.children().take(3, announcement);          // from the child
//     if (auto change = node.change()) send_up(*change);
//     for (link_id child : node.branches({.hashes = {hash}})) ask(child);
//
// Which node is whose parent is the caller's knowledge; spanning_tree chooses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "bloomery/route/summary.hpp"

namespace bloomery {

class tree_router {
 public:
  explicit tree_router(const plan& p) : local_(p), children_(p), announced_(p, 0) {}

  [[nodiscard]] local_summary& local() noexcept { return local_; }
  [[nodiscard]] const local_summary& local() const noexcept { return local_; }
  [[nodiscard]] summary_table& children() noexcept { return children_; }
  [[nodiscard]] const summary_table& children() const noexcept { return children_; }

  // For the parent: what a new one needs, and what has changed since the last call of change().
  [[nodiscard]] announcement whole() const { return announced_.whole(); }
  [[nodiscard]] std::optional<announcement> change();

  // The children whose subtrees may have it.
  [[nodiscard]] std::vector<link_id> branches(const route_query& q) const {
    return children_.matching(q, true);
  }

 private:
  local_summary local_;
  summary_table children_;
  announced_summary announced_;
};

// ---- who is whose parent ----------------------------------------------------------------------

// A node's view of the tree, which its neighbours hear.
struct tree_claim {
  std::uint64_t root = 0;      // the smallest name of all
  std::uint64_t sequence = 0;  // counted by the root: a sign that it lives
  std::uint32_t distance = 0;  // to the root, in hops
  std::uint64_t parent = 0;    // itself for the root

  friend bool operator==(const tree_claim&, const tree_claim&) = default;
};

// Makes a tree of any graph, as bridges do (Perlman 1985): everybody takes the smallest root that
// it hears of, and the neighbour that is nearest to it as parent. The root counts, and its count
// travels with the claims (Perkins and Bhagwat 1994). So what goes round in a circle, cut off from
// the root, does not grow any more: neighbours who are two counts behind others are no parents, and
// a root whose count has not grown for `longest_silence` is forgotten.
class spanning_tree {
 public:
  // A node counts on from `first_count` when it is the root. It must grow with each start, such as
  // a clock does: else the others take a root that comes back for an echo of the dead one.
  spanning_tree(std::uint64_t self, std::uint64_t longest_silence, std::uint64_t first_count = 0);

  void take(link_id link, std::uint64_t neighbour, const tree_claim& claim, std::uint64_t now);
  void drop(link_id link, std::uint64_t now);
  // The next count, if this node is the root. Call it in every beat.
  void beat(std::uint64_t now);

  [[nodiscard]] const tree_claim& claim() const noexcept { return claim_; }
  [[nodiscard]] std::optional<link_id> parent() const noexcept { return parent_; }
  [[nodiscard]] bool is_child(link_id link) const noexcept;

 private:
  struct heard {
    std::uint64_t neighbour = 0;
    tree_claim claim;
  };
  struct sign_of_life {
    std::uint64_t sequence = 0;
    std::uint64_t when = 0;
  };

  void choose(std::uint64_t now);
  [[nodiscard]] bool is_alive(std::uint64_t root, std::uint64_t now) const;

  std::uint64_t self_;
  std::uint64_t longest_silence_;
  std::uint64_t count_;
  tree_claim claim_;
  std::optional<link_id> parent_;
  std::map<link_id, heard> links_;
  std::map<std::uint64_t, sign_of_life> roots_;
};

}  // namespace bloomery
