// One message to many receivers, two ways.
//
// multicast_router (Gronvall 2002): a filter for each interface, of the groups that somebody behind
// it wants. A message goes out on each interface whose filter has its group. No wanted delivery is
// lost; an interface without members gets a copy with the filter's rate. Members are counted, so
// groups can be left again.
//
// source_route (LIPSIN, Jokela and others 2009): no state in the nodes at all. A link is a mask of
// k of m bits, and the message carries the OR of the masks of all links of its tree. A node sends
// it on each link whose mask is covered; some false ones too. So each link has several masks, the
// sender makes a filter from each set of them, and sends the one that fewest other links are
// covered by:
//
//     link a     0100000010000001
//     link b     0010000100000100     OR of a and b: 0110000110000101, and link c is not taken
//     link c     0000100000010001
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bloomery/route/loop.hpp"
#include "bloomery/route/summary.hpp"

namespace bloomery {

class multicast_router {
 public:
  explicit multicast_router(const plan& p) : local_(p), interfaces_(p) {}  // a classic filter

  // Groups that this node's own receivers want, each as often as there are receivers.
  void join(std::uint64_t group) { local_.add(group); }
  bool leave(std::uint64_t group) { return local_.remove(group); }

  void add_link(link_id link);
  void remove_link(link_id link);
  void take(link_id link, const announcement& a) { interfaces_.take(link, a); }
  // What the neighbour there has to hear: all groups wanted here and behind the other links, as a
  // change from the last call; nothing when there is none.
  [[nodiscard]] std::optional<announcement> change_for(link_id link);

  // Where a message goes that came from there.
  [[nodiscard]] std::vector<link_id> forward(std::uint64_t group,
                                             std::optional<link_id> from) const;
  // Whether somebody here may want it. Who does is the caller's exact knowledge.
  [[nodiscard]] bool wanted_here(std::uint64_t group) const {
    return local_.filter().contains(group);
  }

 private:
  struct told {
    link_id link = 0;
    bool first = true;
    announced_summary summary;
  };

  local_summary local_;
  summary_table interfaces_;
  std::vector<told> told_;
};

struct source_route_shape {
  std::uint32_t bits = 248;
  std::uint32_t probes = 5;
  std::uint32_t candidates = 8;
};

class source_route {
 public:
  // A tree of links, by their names. `others`: links at its nodes that are not in the tree, as far
  // as the sender knows them; the candidate with the fewest of them is taken, and of equal ones
  // that with the lowest expected rate. Throws errc::bad_argument for a shape beyond 256 bits.
  source_route(std::span<const std::uint64_t> tree, std::span<const std::uint64_t> others,
               const source_route_shape& s = {});
  // From a message.
  source_route(const link_mask& bits, std::uint32_t candidate, const source_route_shape& s = {});

  // Whether a message goes on this link.
  [[nodiscard]] bool takes(std::uint64_t link) const;

  [[nodiscard]] const link_mask& bits() const noexcept { return bits_; }
  [[nodiscard]] std::uint32_t candidate() const noexcept { return candidate_; }
  // The chance that a link which is not in the tree is taken: fill^k.
  [[nodiscard]] double fpr() const noexcept;

 private:
  source_route_shape shape_;
  std::uint32_t candidate_ = 0;
  link_mask bits_{};
};

}  // namespace bloomery
