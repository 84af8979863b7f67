// A home for every key (consistent hashing, Karger and others 1997; routed as in Chord, Stoica and
// others 2001): the other deterministic way to find what nothing near promises.
//
//     numbers of nodes and hashes of keys lie on one circle; a key's home is the first node at or
//     behind it. Who has the key tells its home; who wants it asks there.
//
// A node that joins or leaves moves only the keys between it and the node before it. Two ways to
// get there: who knows all nodes goes to home_of() at once; else next_hop() from node to node, each
// of which knows `fingers` others, the first at least 1, 2, 4, 8... behind it, so that each hop
// halves what is left of the circle: log2 n hops at most, half of that in the mean.
//
//     bloomery::home_ring ring(names);
//     for (auto at = self; at != ring.home_of(hash); at = ring.next_hop(at, hash)) ...
//
// Against the other schemes: it finds whatever was told to its home, from anywhere and without
// false promises. But the way has nothing to do with where the copies are: each hop of it may cross
// the whole network, and a key costs a message for every holder, where filters send a few bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery {

class home_ring {
 public:
  // The numbers of the nodes, in any order; they should be spread as hashes are.
  explicit home_ring(std::span<const std::uint64_t> nodes = {});

  bool add(std::uint64_t node);     // false: it was there
  bool remove(std::uint64_t node);  // false: it was not

  // The home of a key, by its hash. Throws errc::bad_argument without nodes.
  [[nodiscard]] std::uint64_t home_of(std::uint64_t hash) const;
  // The home and the nodes behind it, `copies` in all or as many as there are: where a key is told
  // that must outlive its home.
  [[nodiscard]] std::vector<std::uint64_t> homes_of(std::uint64_t hash, std::size_t copies) const;
  // Where a node that knows its fingers only sends a question for the key: one hop nearer to the
  // home, and the node itself when it is the home. Throws errc::bad_argument without nodes.
  [[nodiscard]] std::uint64_t next_hop(std::uint64_t at, std::uint64_t hash) const;
  // The nodes that a node must know for that, each once, the nearest first.
  [[nodiscard]] std::vector<std::uint64_t> fingers(std::uint64_t node) const;

  [[nodiscard]] std::span<const std::uint64_t> nodes() const noexcept { return nodes_; }

 private:
  std::vector<std::uint64_t> nodes_;  // sorted, each once
};

}  // namespace bloomery
