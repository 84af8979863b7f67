#include "bloomery/route/tree.hpp"

#include <algorithm>
#include <tuple>

#include "bloomery/set/algebra.hpp"

namespace bloomery {

std::optional<announcement> tree_router::change() {
  bit_array all(local_.filter().words());
  detail::or_words(all.words(), children_.merged().words());
  return announced_.next(all.words());
}

namespace {

constexpr std::uint32_t farthest = 255;      // hops: no network that a tree suits is as deep
constexpr std::uint64_t counts_behind = 2;   // that a parent may be
constexpr std::size_t most_roots = 100'000;  // remembered

}  // namespace

spanning_tree::spanning_tree(std::uint64_t self, std::uint64_t longest_silence,
                             std::uint64_t first_count)
    : self_(self),
      longest_silence_(longest_silence),
      count_(first_count),
      claim_{.root = self, .sequence = first_count, .distance = 0, .parent = self} {}

bool spanning_tree::is_child(link_id link) const noexcept {
  const auto at = links_.find(link);
  return at != links_.end() && at->second.claim.parent == self_;
}

bool spanning_tree::is_alive(std::uint64_t root, std::uint64_t now) const {
  const auto at = roots_.find(root);
  return at != roots_.end() && now - std::min(now, at->second.when) <= longest_silence_;
}

void spanning_tree::take(link_id link, std::uint64_t neighbour, const tree_claim& claim,
                         std::uint64_t now) {
  links_[link] = {.neighbour = neighbour, .claim = claim};
  const auto [at, fresh] = roots_.try_emplace(claim.root, sign_of_life{claim.sequence, now});
  if (!fresh && claim.sequence > at->second.sequence) at->second = {claim.sequence, now};
  if (roots_.size() > most_roots) roots_.erase(std::prev(roots_.end()));
  choose(now);
}

void spanning_tree::drop(link_id link, std::uint64_t now) {
  links_.erase(link);
  choose(now);
}

void spanning_tree::beat(std::uint64_t now) {
  choose(now);
  if (claim_.root == self_) claim_.sequence = ++count_;
}

void spanning_tree::choose(std::uint64_t now) {
  const auto usable = [&](const heard& h) {
    return h.claim.parent != self_ && h.claim.root < self_ && h.claim.distance < farthest &&
           is_alive(h.claim.root, now);
  };
  std::uint64_t root = self_;
  for (const auto& [link, h] : links_) {
    if (usable(h)) root = std::min(root, h.claim.root);
  }
  std::uint64_t newest = 0;
  for (const auto& [link, h] : links_) {
    if (usable(h) && h.claim.root == root) newest = std::max(newest, h.claim.sequence);
  }
  // The nearest; of equal ones the parent so far, since a change costs a whole announcement.
  std::optional<std::tuple<std::uint32_t, bool, std::uint64_t, link_id>> best;
  for (const auto& [link, h] : links_) {
    if (!usable(h) || h.claim.root != root || h.claim.sequence + counts_behind < newest) continue;
    const std::tuple candidate{h.claim.distance, parent_ != link, h.neighbour, link};
    if (!best || candidate < *best) best = candidate;
  }
  if (!best) {
    parent_.reset();
    claim_ = {.root = self_, .sequence = count_, .distance = 0, .parent = self_};
    return;
  }
  parent_ = std::get<3>(*best);
  const heard& chosen = links_.at(*parent_);
  claim_ = {.root = root,
            .sequence = chosen.claim.sequence,
            .distance = chosen.claim.distance + 1,
            .parent = chosen.neighbour};
}

}  // namespace bloomery
